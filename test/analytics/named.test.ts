// Runs every variant of every measure on named tables, and compares the answers with those of a
// table of numbers that holds the same edges. HEDGEROW_HYPERGRAPHS sets the number of hypergraphs;
// the long form uses 1,000.

import { describe, expect, it } from 'vitest';
import { Analytics } from '../../src/analytics/index.ts';
import type { Database, Table } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import type { KindAndKey, NodeKey } from '../../src/model/node-refs.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { InlineThread } from './inline-thread.ts';
import { CASES, randomEdges, withNames } from './random-cases.ts';

const COUNT = Number(process.env.HEDGEROW_HYPERGRAPHS ?? 4);
const TIMEOUT_MS = 900_000;
const TEXTS = [
  'Ada',
  'ada',
  '"',
  '\\',
  'Room:7',
  ':',
  '7',
  '-1',
  '__proto__',
  'null',
  '\u{1f33f} oak',
  'שלום',
  'é',
  'x',
];

/** A database with a named table and a table of numbers that hold the same edges. */
interface Pair {
  readonly database: Database;
  readonly analytics: Analytics;
  readonly plain: Table;
  readonly named: Table;
  /** Keys by the numbers of the nodes. */
  readonly nodes: Map<number, KindAndKey>;
  readonly kinds: number;
}

async function openPair(seed: number): Promise<Pair> {
  const fs = simDisk(seed);
  const database = await openSim(fs, { core: 'release' });
  await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
  await database.nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  const memberTables = [['Person'], ['Room'], ['Person', 'Room']][seed % 3]!;
  const named = await database.createTable({ name: 'named', memberTables });
  const plain = await database.createTable({ name: 'plain' });
  const keyOf = (v: number): KindAndKey => {
    const kind = memberTables[Math.abs(v) % memberTables.length]!;
    return { kind, key: kind === 'Room' ? v * 1001 : (TEXTS[v + 3] ?? `node ${v}`) };
  };
  const nodes = new Map<number, KindAndKey>();
  for (const { event_ts, members, weight } of randomEdges(seed)) {
    const given: MemberInput[] = members.map((v) => (memberTables.length > 1 ? keyOf(v) : keyOf(v).key));
    await named.insert({ event_ts, members: given, properties: { weight: weight ?? null } });
    const numbers = members.map((v) => {
      const node = keyOf(v);
      const number = database.nodes.find(database.nodes.table(node.kind), node.key);
      nodes.set(number, node);
      return number;
    });
    await plain.insert({ event_ts, members: numbers, properties: { weight: weight ?? null } });
  }
  const startThread = (cacheBytes: number) => new InlineThread(fs, cacheBytes);
  const analytics = new Analytics({
    database,
    startThread,
    moveAfterMs: Infinity,
    smallMembers: seed % 2 ? 20_000 : -1,
  });
  return { database, analytics, plain, named, nodes, kinds: memberTables.length };
}

/** Returns a node as it stands in the keys of a result. */
function textOf({ kind, key }: KindAndKey, kinds: number): string {
  return kinds > 1 ? `${kind}:${key}` : String(key);
}

describe('measures of named tables', { timeout: TIMEOUT_MS }, () => {
  it('are those of a table of numbers, with keys in place of nodes', async () => {
    for (let seed = 1; seed <= COUNT; seed++) {
      const { database, analytics, nodes, kinds } = await openPair(seed);
      const textOfNumber = (number: number) => textOf(nodes.get(number)!, kinds);
      const keyOfNumber = (number: number) => (kinds > 1 ? textOfNumber(number) : nodes.get(number)!.key);
      for (const [name, params] of CASES) {
        const place = `seed ${seed}, ${name} ${JSON.stringify(params)}`;
        const isMap = !/^(isolated_nodes|s_)/.test(name);
        const expected = (await analytics.run('plain', name, params)).result;
        const { result } = await analytics.run('named', name, params);
        expect(result, place).toEqual(withNames(name, params, expected, isMap ? textOfNumber : keyOfNumber));
        const numbers = await analytics.run('named', name, params, { members: 'numbers' });
        expect(numbers.result, place).toEqual(expected);
      }
      await analytics.close();
      await database.close();
    }
  });

  it('take nodes and partitions by key', async () => {
    for (let seed = 1; seed <= Math.ceil(COUNT / 2); seed++) {
      const { database, analytics, nodes, kinds } = await openPair(seed);
      const random = new Random(seed);
      const numbers = [...nodes.keys()].sort((a, b) => a - b);
      for (const number of numbers) {
        const node = nodes.get(number)!;
        const forms: unknown[] = [node, kinds > 1 ? textOf(node, kinds) : node.key];
        for (const node_id of forms) {
          for (const measure of ['node_degree', 'pagerank', 'temporal_coreness', 'temporal_burstiness']) {
            const expected = (await analytics.run('plain', measure, { node_id: number })).result as object;
            const { result, params } = await analytics.run('named', measure, { node_id });
            expect(params.node_id).toEqual(node_id);
            expect(result).toEqual({ [textOf(node, kinds)]: (expected as Record<string, unknown>)[number] });
          }
          const target = numbers[random.below(numbers.length)]!;
          const between = { source: node_id, target: nodes.get(target)! };
          expect((await analytics.run('named', 's_distance', between)).result).toBe(
            (await analytics.run('plain', 's_distance', { source: number, target })).result,
          );
        }
      }
      const partition = numbers.map((number) => [number, random.below(3)] as const);
      const expected = await analytics.run('plain', 'modularity', { partition: Object.fromEntries(partition) });
      const named = partition.map(([number, community]) => [textOf(nodes.get(number)!, kinds), community] as const);
      const found = await analytics.run('named', 'modularity', { partition: Object.fromEntries(named) });
      const { value, communities } = expected.result as { value: number; communities: number[][] };
      const shown = (number: number): NodeKey =>
        kinds > 1 ? textOf(nodes.get(number)!, kinds) : nodes.get(number)!.key;
      expect(found.result).toEqual({ value, communities: communities.map((group) => group.map(shown)) });
      await analytics.close();
      await database.close();
    }
  });
});

describe('parameters of measures of named tables', () => {
  it('that name no node give an empty result, or an error that shows the key', async () => {
    const { database, analytics } = await openPair(2 + 3);
    const problem = async (params: object, measure = 'node_degree') => {
      const failed = analytics.run('named', measure, params).then(({ result }) => result);
      return failed.catch((error: Error) => error.message);
    };
    await database.table('named').insert({ event_ts: 5, members: [{ kind: 'Person', key: 'Eve' }] });
    expect(await problem({ node_id: 'Person:nobody' })).toEqual({});
    expect(await problem({ node_id: { kind: 'person', key: 'nobody' } })).toEqual({});
    expect(await problem({ node_id: 'Room:-12345' })).toEqual({});
    expect(await problem({ node_id: 'Eve' })).toBe(
      'Parameter node_id: must be Kind:key, with one of the kinds Person, Room.',
    );
    expect(await problem({ node_id: 'Room:x' })).toContain('must be an integer');
    expect(await problem({ node_id: 7 })).toContain('must be an object with kind and key');
    expect(await problem({ source: 'Person:nobody' }, 's_distance')).toBe(
      'Parameter source: Node "Person:nobody" is not in this window.',
    );
    expect(await problem({ source: 'Person:Eve', end_ts: -1000 }, 's_distance')).toBe(
      'Parameter source: Node {"kind":"Person","key":"Eve"} is not in this window.',
    );
    expect(await problem({ partition: {} }, 'modularity')).toContain('is in no community');
    expect(await problem({ partition: { 'Person:\u0000': 1 } }, 'modularity')).toContain('control character');
    expect(await problem({ source: 1, on: 'edges', limit: 1 }, 's_distance')).toBeInstanceOf(Array);
    await analytics.close();
    await database.close();
  });

  it('follow the name of the node table, and large groups arrive whole', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release', memoryBudgetBytes: 2 ** 28, segmentRows: 65_536 });
    await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
    await database.nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
    await database.createTable({ name: 'named', memberTables: ['Person', 'Room'] });
    const bulk = database.table('named').bulk();
    const last = 30_000;
    for (let at = 0; at < last; at++)
      bulk.add({ event_ts: at, members: [at, at + 1].map((v) => ({ kind: 'Person', key: `${'n'.repeat(40)}${v}` })) });
    await bulk.commit();
    await database.nodes.alterTable('Person', { kind: 'renameTable', to: 'Human' });
    const analytics = new Analytics({
      database,
      startThread: (bytes) => new InlineThread(fs, bytes),
      smallMembers: -1,
    });
    const { result } = await analytics.run('named', 's_connected_components');
    const wanted = Array.from({ length: last + 1 }, (_, v) => `Human:${'n'.repeat(40)}${v}`);
    expect((result as string[][]).map((group) => group.length)).toEqual([last + 1]);
    expect((result as string[][])[0]).toEqual(wanted);
    await analytics.close();
    await database.close();
  });
});
