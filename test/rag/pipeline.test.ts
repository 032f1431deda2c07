// Tests the pipeline with the mock model: repeated questions give identical bytes, no socket is
// opened in any mode, and interactions are recorded.

import dns from 'node:dns';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import type { Answered, RagRequest, RagResult, Reasoning, StepRunner } from '../../src/rag/index.ts';
import { checkProof, knownOfEdges } from '../../src/rules/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { reasoningOf } from '../support/rooms.ts';

const RULES = [
  {
    id: 'rule:met',
    name: 'who met',
    if: [
      { pred: 'member', args: ['?E', '?A'] },
      { pred: 'member', args: ['?E', '?B'] },
      { compare: ['?A', '<', '?B'] },
    ],
    then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
  },
  {
    id: 'rule:linked',
    if: [
      { pred: 'met', args: ['?A', '?B'] },
      { pred: 'met', args: ['?B', '?C'] },
      { not: { pred: 'met', args: ['?A', '?C'] } },
    ],
    then: { pred: 'linked', args: ['?A', '?C'], confidence: 0.5 },
  },
];

const ALONE: StepRunner = {
  signal: new AbortController().signal,
  run: async (steps) => finish(steps),
};

let database: Database;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-pipeline-'));
  database = await openDatabase({ dir });
  const table = database.table();
  for (let i = 0; i < 60; i++) {
    await table.insert({
      event_ts: 1_700_000_000 + 3600 * i,
      members: [i % 7, (i * 3) % 11, 20 + (i % 5)],
      properties: { weight: (i % 10) / 10, formation: i % 3 === 0 ? 'lunch [HEDGE-1]' : 'walk' },
    });
  }
});
afterAll(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});
afterEach(() => vi.restoreAllMocks());

function ask(reasoning: Reasoning, more: Partial<RagRequest> = {}): Promise<Answered<RagResult>> {
  return reasoning.ask(
    {
      query: 'What did nodes 3 and 4 do since 2023-11-14?',
      table: undefined,
      topK: 20,
      requireProof: false,
      rules: RULES,
      mode: 'hybrid',
      mock: true,
      model: undefined,
      baseUrl: undefined,
      apiKey: undefined,
      tokenBudget: 2000,
      timeStart: undefined,
      timeEnd: undefined,
      ...more,
    },
    ALONE,
  );
}

/** Returns an answer as JSON, with every fact and proof, but without its id and durations. */
async function bytesOf({ result, derived, lsn }: Answered<RagResult>): Promise<string> {
  const { interaction_id, retrieval_ms, reasoning_ms, generation_ms, total_ms, ...rest } = result;
  const facts = [];
  for (let number = 1; number <= (derived?.count ?? 0); number++) {
    facts.push(await ALONE.run(derived!.step(number)), await ALONE.run(derived!.proof(number)));
  }
  return JSON.stringify({ rest, facts, lsn });
}

describe('the mock pipeline', () => {
  test('gives the same bytes when it runs again, also in another service and after compaction', async () => {
    const first = await bytesOf(await ask(reasoningOf(database)));
    expect(first.length).toBeGreaterThan(5000);
    const other = reasoningOf(database);
    await ask(other, { query: 'something else', mode: 'symbolic' });
    expect(await bytesOf(await ask(other))).toBe(first);
    await database.compact();
    const compacted = JSON.parse(await bytesOf(await ask(reasoningOf(database))));
    expect({ ...compacted, lsn: 0 }).toEqual({ ...JSON.parse(first), lsn: 0 });
  });

  test.each(['neuro', 'symbolic', 'hybrid'] as const)(
    'opens no socket and looks up no host name in mode %s',
    async (mode) => {
      const touched: string[] = [];
      const touch = (what: string) => () => {
        touched.push(what);
        throw new Error(what);
      };
      vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(touch('connect') as never);
      vi.spyOn(dns, 'lookup').mockImplementation(touch('lookup') as never);
      vi.spyOn(dns.promises, 'lookup').mockImplementation(touch('lookup') as never);
      vi.spyOn(http, 'request').mockImplementation(touch('request') as never);
      vi.spyOn(globalThis, 'fetch').mockImplementation(touch('fetch') as never);
      const { result } = await ask(reasoningOf(database), { mode });
      expect(touched).toEqual([]);
      expect(result.abstained).toBe(false);
      expect(result.model).toBe(mode === 'symbolic' ? 'symbolic' : 'mock');
      // Makes sure that the spies notice network access.
      expect(() => net.connect(1)).toThrow('connect');
    },
  );

  test('cites only retrieved edges, derived facts and their rules', async () => {
    const { result, derived } = await ask(reasoningOf(database));
    const tags = [...result.answer.matchAll(/\[(HEDGE|STEP|RULE)-(\d+)\]/g)].map(([, kind, number]) => [
      kind,
      Number(number),
    ]);
    expect(tags.length).toBeGreaterThan(2);
    for (const [kind, number] of tags) {
      if (kind === 'HEDGE') expect(result.all_edges.map(({ edge_id }) => edge_id)).toContain(number);
      else expect(number).toBeLessThanOrEqual(kind === 'STEP' ? derived!.count : derived!.rules.length);
    }
    const hedges = new Set(tags.filter(([kind]) => kind === 'HEDGE').map(([, number]) => number));
    expect(new Set(result.cited_edges.map(({ edge_id }) => edge_id))).toEqual(hedges);
    expect(result.firewall).toMatchObject({ outcome: 'supported', coverage: 1, stripped: [] });
  });

  test('proves every fact from the retrieved edges', async () => {
    const { result, derived } = await ask(reasoningOf(database), { topK: 12 });
    expect(derived!.count).toBeGreaterThan(20);
    const known = knownOfEdges(result.all_edges);
    for (let number = 1; number <= derived!.count; number++) {
      expect(checkProof(await ALONE.run(derived!.proof(number)), { rules: RULES, known })).toEqual([]);
    }
  });
});

describe('the confidence of an answer', () => {
  test('is the coverage times the least confidence of the cited steps', async () => {
    const symbolic = (await ask(reasoningOf(database), { mode: 'symbolic' })).result;
    expect(symbolic.firewall.coverage).toBe(1);
    expect(symbolic.confidence).toBe(symbolic.answer.includes('linked(') ? 0.45 : 0.9);
    expect(symbolic.low_confidence).toBe(symbolic.confidence < 0.5);
    const neuro = (await ask(reasoningOf(database), { mode: 'neuro' })).result;
    expect([neuro.confidence, neuro.low_confidence, neuro.rules_fired]).toEqual([1, false, []]);
  });

  test('is 0 when the answer abstains', async () => {
    const { result } = await ask(reasoningOf(database), { mode: 'neuro', requireProof: true });
    expect(result).toMatchObject({ abstained: true, confidence: 0, low_confidence: true, cited_edges: [] });
  });
});

describe('interactions', () => {
  test('are recorded without API keys, for the last 1,000 questions', async () => {
    const reasoning = reasoningOf(database);
    const { result } = await ask(reasoning, { apiKey: 'sk-canary' });
    const text = await reasoning.interaction(result.interaction_id);
    const kept = JSON.parse(text);
    expect(kept.retrieved.edges.length).toBe(result.all_edges.length);
    expect(kept.retrieved.question.nodes).toEqual([3, 4]);
    expect(kept.derived.count).toBe(kept.derived.facts.length);
    expect(kept.generated).toMatchObject({ model: 'mock' });
    expect(kept.answer).toBe(result.answer);
    expect(text).not.toContain('sk-canary');
    for (let i = 0; i < 1000; i++) await ask(reasoning, { query: 'node 3', topK: 1, rules: [] });
    await expect(reasoning.interaction(result.interaction_id)).rejects.toMatchObject({ code: 'interaction_not_found' });
  });
});
