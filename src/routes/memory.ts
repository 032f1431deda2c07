// Routes of the memory of agents: store what was said, replace it, and read its history.

import type { InsertOutcome } from '../engine/index.ts';
import { refusal } from '../errors.ts';
import { jsonReply, jsonTextReply, WriteAnswer } from '../http/index.ts';
import { secondsOf } from '../http/schema.ts';
import { isoTime } from '../iso-time.ts';
import type { Memory, Superseded } from '../memory/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { historyReply } from './history-reply.ts';
import { requireStatements } from './query.ts';
import {
  DEFAULT_TOP_K,
  DEFAULT_VERSIONS,
  historyAnswer,
  historyBody,
  recallAnswer,
  recallBody,
  rememberAnswer,
  rememberBody,
  supersedeAnswer,
  supersedeBody,
} from './schemas/memory.ts';
import { withRunner } from './step-runner.ts';

export function requireMemory({ services }: Call): Memory {
  if (services.memory !== undefined) return services.memory;
  throw refusal('starting', 'The memory is not ready yet. Try again shortly.');
}

function timeOf(given: number | string | undefined): number | undefined {
  return given === undefined ? undefined : secondsOf(given);
}

const rememberIt = validated({
  id: 'remember',
  method: 'POST',
  path: '/v1/memory/remember',
  role: 'readwrite',
  summary: 'Store something that was said or seen, with those who said it and what it is about.',
  audit: 'memory.remembered',
  idempotent: true,
  body: rememberBody,
  answers: { 201: rememberAnswer },
  errors: [500],
  handler: async ({ body }, call) => {
    const { table, what, who = [], about = [], when, until, source } = body;
    const memory = { table, what, who, about, when: timeOf(when), until: timeOf(until), source };
    const answer = new WriteAnswer<InsertOutcome>(call.once, 201, ({ row }) => JSON.stringify({ id: row.id }));
    const stored = await requireMemory(call).remember(memory, answer.attach);
    const made = stored.isNewTable ? { statement: `created table ${stored.table}` } : {};
    return jsonTextReply(201, answer.body(stored), stored.lsn, { audit: { table: stored.table, ...made } });
  },
});

const supersedeIt = validated({
  id: 'supersede',
  method: 'POST',
  path: '/v1/memory/supersede',
  role: 'readwrite',
  summary: 'End a memory and store what holds instead, in one commit.',
  audit: 'memory.superseded',
  idempotent: true,
  body: supersedeBody,
  answers: { 200: supersedeAnswer },
  errors: [404, 409, 500, 504],
  handler: ({ body }, call) => {
    const { at, until, ...given } = body;
    const successor = { ...given, at: timeOf(at), until: timeOf(until) };
    // After a conflict with another commit nothing has changed, and the memory is read again.
    return requireStatements(call).turns.run(() =>
      withRunner(call, async ({ run, look }) => {
        look();
        const answer = new WriteAnswer<Superseded>(call.once, 200, supersededText);
        const done = await requireMemory(call).supersede(successor, run, answer.attach);
        return jsonTextReply(200, answer.body(done), done.lsn, { audit: { table: done.table } });
      }),
    );
  },
});

function supersededText({ id, ended }: Superseded): string {
  return JSON.stringify({ id, ended });
}

const recallIt = validated({
  id: 'recall',
  method: 'POST',
  path: '/v1/memory/recall',
  role: 'readonly',
  summary: 'What is remembered and holds, now or at another time, that fits a question best.',
  data: true,
  body: recallBody,
  answers: { 200: recallAnswer },
  errors: [404, 500, 504],
  handler: ({ body }, call) =>
    withRunner(call, async ({ run }) => {
      const { times, question = '', top_k: topK = DEFAULT_TOP_K, at, ...asked } = body;
      const request = { ...asked, question, topK, at: timeOf(at) };
      const { memories, lsn } = await run(requireMemory(call).recall(request));
      return jsonReply(200, { memories: times === 'iso' ? memories.map(withIsoTimes) : memories }, lsn);
    }),
});

const history = validated({
  id: 'memoryHistory',
  method: 'POST',
  path: '/v1/memory/history',
  role: 'readonly',
  summary: 'All versions of what was said about some things, or of one memory.',
  data: true,
  body: historyBody,
  answers: { 200: historyAnswer },
  errors: [404, 500, 504],
  handler: ({ body }, call) =>
    withRunner(call, async ({ run, look }) => {
      const { times, limit = DEFAULT_VERSIONS, ...asked } = body;
      const found = await run(requireMemory(call).history({ ...asked, limit }));
      return historyReply(call, found, { shown: times === 'iso' ? withIsoTimes : (version) => version, look });
    }),
});

function withIsoTimes<M extends { event_ts: number; end_ts: number | null }>(memory: M) {
  const { event_ts: begin, end_ts: end } = memory;
  return { ...memory, event_ts: isoTime(begin), end_ts: end === null ? null : isoTime(end) };
}

export const memoryRoutes: readonly Route[] = [rememberIt, supersedeIt, recallIt, history];
