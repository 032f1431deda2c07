// Compares rules over email-Enron, evaluated over HTTP, with a direct computation. Also checks that
// the leaves of the proofs are stored edges.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProof, type Proof } from '../../src/rules/index.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { type FileEdges, hasDataFile, readDataFile } from './data-file.ts';

const NAME = 'email-Enron';
const MONTH = 30 * 86_400;
const MANY = 20;

const member = (edge: string, node: string) => ({ pred: 'member', args: [edge, node] });
const close = (a: string, b: string) => ({ pred: 'close', args: [a, b] });

/** Rules over edges of two people and a month. The weight is the number of mails they shared. */
const CLOSE_RULES = [
  {
    id: 'rule:close',
    if: [
      member('?E', '?A'),
      member('?E', '?B'),
      { compare: ['?A', '!=', '?B'] },
      { pred: 'weight', args: ['?E', '?W'] },
      { compare: ['?W', '>=', MANY] },
    ],
    then: { ...close('?A', '?B'), confidence: 0.9 },
  },
  {
    id: 'rule:bridge',
    if: [close('?X', '?A'), close('?X', '?B'), { compare: ['?A', '<', '?B'] }, { not: close('?A', '?B') }],
    then: { pred: 'bridge', args: ['?X', '?A', '?B'], confidence: 0.8 },
  },
];

/** A rule over the mails themselves: two people share three mails in one month. */
const THRICE_RULES = [
  {
    id: 'rule:thrice',
    if: [
      ...['?E1', '?E2', '?E3'].flatMap((edge) => [member(edge, '?A'), member(edge, '?B')]),
      ...['?E1', '?E2', '?E3'].map((edge) => ({ pred: 'bucket', args: [edge, '?M'] })),
      { compare: ['?E1', '<', '?E2'] },
      { compare: ['?E2', '<', '?E3'] },
      { compare: ['?A', '<', '?B'] },
    ],
    then: { pred: 'thrice', args: ['?A', '?B'] },
  },
];

interface Answer {
  derived_facts: { fact: string; predicate: string; args: number[]; confidence: number; hedge_tags: string[] }[];
  proofs: Proof[];
  truncated: boolean;
}

describe.runIf(hasDataFile(NAME))('rules over email-Enron', () => {
  let server: TestServer;
  let edges: FileEdges;
  const post = async (path: string, body: unknown, type = 'application/json') => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer).slice(0, 500)}`);
    return answer;
  };
  const reason = (body: object): Promise<Answer> => post('/v1/reason', body);

  beforeAll(async () => {
    edges = readDataFile(NAME);
    server = await startServer({ queryTimeoutMs: 60_000 });
    for (const name of ['mails', 'months'])
      await post('/v1/tables', { name, member_tables: ['person'], bucket_seconds: MONTH });
    const lines = edges.times.map((event_ts, i) => JSON.stringify({ event_ts, members: edges.members[i] }));
    await post('/v1/hyperedges?table=mails', lines.join('\n'), 'application/x-ndjson');
    const months = [...sharedMails(edges)].map(([key, weight]) => {
      const [a, b, month] = key.split(' ').map(Number);
      return JSON.stringify({ event_ts: month! * MONTH, members: [a, b], weight });
    });
    await post('/v1/hyperedges?table=months', months.join('\n'), 'application/x-ndjson');
    await post('/v1/hyperedges/compact', {});
  });
  afterAll(() => server?.close());

  test('find who is close, and who bridges people that are not close', async () => {
    for (const rule of CLOSE_RULES) await post('/v1/rules', rule);
    const answer = await reason({ query: '', table: 'months', top_k: 10_000 });
    expect(answer.truncated).toBe(false);
    const found = (pred: string) => answer.derived_facts.filter((fact) => fact.predicate === pred);
    const pairs = closePairs(edges);
    expect(found('close').map(({ fact }) => fact)).toEqual(pairs.map(([a, b]) => `close(${a}, ${b})`));
    expect(pairs.length).toBe(180);
    const bridges = bridgesOf(pairs);
    expect(found('bridge').map(({ args }) => args)).toEqual(bridges);
    expect(bridges.length).toBeGreaterThan(50);
    expect(new Set(found('close').map(({ confidence }) => confidence))).toEqual(new Set([0.9]));
    expect(found('bridge').every(({ confidence }) => Math.abs(confidence - 0.72) < 1e-12)).toBe(true);
    await expectProofs(answer, CLOSE_RULES, 'months');
  });

  test('find who shared three mails within a month, from the mails themselves', async () => {
    const limit = 2000;
    const answer = await reason({ query: '', table: 'mails', top_k: limit, rules: THRICE_RULES });
    expect(answer.truncated).toBe(true);
    const from = edges.times.length - limit;
    const newest = { times: edges.times.slice(from), members: edges.members.slice(from) };
    const counts = new Map<string, number>();
    for (const [key, count] of sharedMails(newest)) {
      const pair = key.split(' ').slice(0, 2).join(', ');
      counts.set(pair, Math.max(count, counts.get(pair) ?? 0));
    }
    const expected = [...counts].filter(([, count]) => count >= 3).map(([pair]) => `thrice(${pair})`);
    expect(answer.derived_facts.map(({ fact }) => fact).sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(100);
    await expectProofs(answer, THRICE_RULES, 'mails');
  });

  /** Checks every proof, and that its leaves match the stored edges. */
  async function expectProofs({ derived_facts, proofs }: Answer, rules: object[], table: string): Promise<void> {
    expect(proofs.map(({ goal }) => goal)).toEqual(derived_facts.map(({ fact }) => fact));
    const stored = await fetch(`${server.url}/v1/hyperedges?start_ts=0&end_ts=${2 ** 52}&table=${table}`);
    const { hyperedges } = (await stored.json()) as {
      hyperedges: { id: number; event_ts: number; members: number[]; weight: number | null }[];
    };
    const byId = new Map(hyperedges.map((edge) => [edge.id, edge]));
    for (const proof of proofs) {
      expect(checkProof(proof, { rules })).toEqual([]);
      for (const node of proof.nodes) {
        if (node.kind !== 'evidence') continue;
        const edge = byId.get(node.edge_id!)!;
        expect(node).toMatchObject({ table, event_ts: edge.event_ts, hedge_tag: `HEDGE-${edge.id}` });
        const [, value] = node.args;
        if (node.predicate === 'member') expect(edge.members).toContain(value);
        else if (node.predicate === 'weight') expect(edge.weight).toBe(value);
        else expect([node.predicate, value]).toEqual(['bucket', Math.floor(edge.event_ts / MONTH)]);
      }
    }
  }
});

/** Returns the number of mails that two people share in a month, by `a b month` with a < b. */
function sharedMails({ times, members }: FileEdges): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [i, people] of members.entries()) {
    const month = Math.floor(times[i]! / MONTH);
    for (const a of people) {
      for (const b of people) {
        if (a < b) counts.set(`${a} ${b} ${month}`, (counts.get(`${a} ${b} ${month}`) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** Returns the close pairs, each in both directions, in ascending order. */
function closePairs(edges: FileEdges): [number, number][] {
  const pairs = new Set<string>();
  for (const [key, count] of sharedMails(edges)) {
    const [a, b] = key.split(' ');
    if (count >= MANY) pairs.add(`${a} ${b}`).add(`${b} ${a}`);
  }
  return [...pairs].map((pair) => pair.split(' ').map(Number) as [number, number]).sort(inOrder);
}

function bridgesOf(pairs: readonly [number, number][]): [number, number, number][] {
  const isClose = new Set(pairs.map((pair) => pair.join(' ')));
  const bridges: [number, number, number][] = [];
  for (const [x, a] of pairs) {
    for (const [y, b] of pairs) if (x === y && a < b && !isClose.has(`${a} ${b}`)) bridges.push([x, a, b]);
  }
  return bridges.sort(inOrder);
}

function inOrder(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? 0 : left[at]! - right[at]!;
}
