// Routes for reasoning: they derive facts and proofs by rules, answer questions with retrieval,
// rules and a language model, check claims, and return records of recent questions.

import { includesRole } from '../access/principal.ts';
import { refusal } from '../errors.ts';
import { jsonReply, jsonTextReply } from '../http/index.ts';
import { secondsOf } from '../http/schema.ts';
import type { RagRequest, RagResult, Reasoning, ReasonRequest } from '../rag/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { isoWindow, reasoningReply } from './reasoning-reply.ts';
import {
  checkAnswer,
  checkBody,
  interaction,
  interactionParameters,
  parseAnswer,
  parseQuery,
  ragAnswer,
  ragBody,
  reasonAnswer,
  reasonBody,
} from './schemas/reason.ts';
import { withRunner } from './step-runner.ts';

const DEFAULT_TOP_K = 40;
const DEFAULT_TOKEN_BUDGET = 3000;

export function requireReasoning({ services }: Call): Reasoning {
  if (services.reasoning !== undefined) return services.reasoning;
  throw refusal('starting', 'Reasoning is not ready yet. Try again shortly.');
}

const reason = validated({
  id: 'reason',
  method: 'POST',
  path: '/v1/reason',
  role: 'readonly',
  summary: 'Derive facts with proofs from the edges that a text means; no language model is asked.',
  data: true,
  unprocessable: true,
  body: reasonBody,
  answers: { 200: reasonAnswer },
  errors: [500, 504],
  handler: ({ body }, call) =>
    withRunner(call, async (runner) => {
      const request: ReasonRequest = {
        query: body.query,
        table: body.table,
        topK: body.top_k ?? DEFAULT_TOP_K,
        requireProof: body.require_proof ?? false,
        rules: body.rules,
      };
      return inRoom(requireReasoning(call), async (reasoning, leave) =>
        reasoningReply(call, await reasoning.reason(request, runner), runner, body.times === 'iso', leave),
      );
    }),
});

const ask = validated({
  id: 'ragQuery',
  method: 'POST',
  path: '/v1/rag/query',
  role: 'readonly',
  summary: 'Answer a question from retrieved edges and derived facts; sentences without support are stripped.',
  data: true,
  unprocessable: true,
  body: ragBody,
  answers: { 200: ragAnswer },
  errors: [404, 500, 502, 504],
  handler: ({ body }, call) => {
    if (body.base_url !== undefined && !requireReasoning(call).isConfiguredModel(body.base_url)) requireReadwrite(call);
    return withRunner(call, async (runner) => {
      const request: RagRequest = {
        query: body.query,
        table: body.table,
        mode: body.mode ?? 'hybrid',
        mock: body.mock ?? false,
        topK: body.top_k ?? DEFAULT_TOP_K,
        requireProof: body.require_proof ?? false,
        rules: body.rules,
        model: body.model,
        baseUrl: body.base_url,
        apiKey: body.openai_api_key,
        tokenBudget: body.token_budget ?? DEFAULT_TOKEN_BUDGET,
        timeStart: body.time_start === undefined ? undefined : secondsOf(body.time_start),
        timeEnd: body.time_end === undefined ? undefined : secondsOf(body.time_end),
      };
      return inRoom(requireReasoning(call), async (reasoning, leave) => {
        const answered = await reasoning.ask(request, runner, call.caller.keyId);
        logAnswer(call, answered.result);
        return reasoningReply(call, answered, runner, body.times === 'iso', leave);
      });
    });
  },
});

function logAnswer(call: Call, { interaction_id, table, mode, model, firewall, total_ms }: RagResult): void {
  call.services.log.info('rag_answered', {
    interaction_id,
    table,
    mode,
    model,
    outcome: firewall.outcome,
    duration_us: Math.round(total_ms * 1000),
    request_id: call.requestId,
  });
}

/**
 * Reserves one of the limited places for questions, and calls `answer`. `answer` must ensure that
 * `leave` is called once the response has been sent; if `answer` fails, this function calls
 * `leave`. Rejects with `overloaded` if no place is free.
 */
async function inRoom<T>(
  reasoning: Reasoning,
  answer: (reasoning: Reasoning, leave: () => void) => Promise<T>,
): Promise<T> {
  const leave = reasoning.room.enter();
  try {
    return await answer(reasoning, leave);
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Throws `forbidden` for a readonly key, which must not choose the address to which the service
 * connects.
 */
function requireReadwrite(call: Call): void {
  if (!includesRole(call.caller.role, 'readwrite')) throw call.deny('readwrite');
}

const parse = validated({
  id: 'parseQuestion',
  method: 'GET',
  path: '/v1/rag/parse',
  role: 'readonly',
  summary: 'How retrieval understands a question: its time window, nodes, filters and words.',
  data: true,
  unprocessable: true,
  query: parseQuery,
  answers: { 200: parseAnswer },
  errors: [404],
  handler: ({ query }, call) =>
    withRunner(call, async (runner) => {
      const parsed = await requireReasoning(call).parse(query.query, query.table, runner);
      return jsonReply(200, query.times === 'iso' ? { ...parsed, window: isoWindow(parsed.window) } : parsed);
    }),
});

const checkText = validated({
  id: 'checkClaims',
  method: 'POST',
  path: '/v1/rag/check',
  role: 'readonly',
  summary: 'Whether edges support what a text, or a list of claims, states about them. No language model is used.',
  data: true,
  unprocessable: true,
  body: checkBody,
  answers: { 200: checkAnswer },
  errors: [404, 500, 504],
  handler: ({ body }, call) => {
    const { table, edge_ids: edgeIds, text, claims } = body;
    if ((text === undefined) === (claims === undefined)) throw textOrClaims();
    const said = text === undefined ? { claims: claims! } : { text };
    return withRunner(call, async (runner) =>
      jsonReply(200, await requireReasoning(call).check({ table, edgeIds, ...said }, runner)),
    );
  },
});

function textOrClaims(): Error {
  const msg = 'must be given if `claims` is not, but not together with it';
  return refusal('invalid_input', 'Give either `text` or `claims`.', { errors: [{ loc: ['body', 'text'], msg }] });
}

const past = validated({
  id: 'getInteraction',
  method: 'GET',
  path: '/v1/rag/interactions/{id}',
  role: 'readonly',
  summary:
    'What was retrieved, derived, generated and stripped for one of the last 1,000 questions. An admin key may read all of them, other keys only their own.',
  data: true,
  isOfService: true,
  unprocessable: true,
  parameters: interactionParameters,
  answers: { 200: interaction },
  errors: [404],
  handler: async ({ parameters: { id } }, call) => {
    const { role, keyId } = call.caller;
    const owner = role === 'admin' ? undefined : keyId;
    const text = await call.services.workers?.interaction(id, owner);
    return jsonTextReply(200, text ?? (await requireReasoning(call).interaction(id, owner)));
  },
});

export const reasonRoutes: readonly Route[] = [reason, ask, checkText, parse, past];
