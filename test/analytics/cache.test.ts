// Checks what a thread caches for the next measure: it is reused as long as the rows are the same,
// and it is never larger than its byte limit.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { Analytics } from '../../src/analytics/index.ts';
import { loadCore } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { openSim } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { insertAll, naiveStrengths, randomEdges } from './edges.ts';
import { InlineThread } from './inline-thread.ts';

let fs: SimFs;
let database: Database;
let threads: InlineThread[];
const edges = randomEdges(6, 150, 25);

beforeEach(async () => {
  fs = new SimFs(1);
  database = await openSim(fs, { core: 'release' });
  await insertAll(database.table(), edges);
  threads = [];
});
afterEach(() => database.close());

function open(cacheBytes = 2 ** 30): Analytics {
  const startThread = (bytes: number) => {
    threads.push(new InlineThread(fs, bytes));
    return threads.at(-1)!;
  };
  return new Analytics({ database, threads: 1, cacheBytes, smallMembers: -1, startThread });
}

test('edges are read once for any number of measures, also after a compaction', async () => {
  const analytics = open();
  const first = await analytics.run(undefined, 'pagerank');
  await analytics.run(undefined, 'closeness');
  await analytics.run(undefined, 'zhou_clustering');
  expect(threads[0]!.reads).toBe(1);
  await database.compact({});
  expect(await analytics.run(undefined, 'pagerank')).toEqual(first);
  expect(threads[0]!.reads).toBe(1);
});

test('edges are read again after an insert, a delete or an expiry, and for another window or table', async () => {
  const analytics = open();
  const other = await database.createTable({ name: 'other' });
  const reads = async (table?: string, params = {}) => {
    await analytics.run(table, 'node_degree', params);
    return threads[0]!.reads;
  };
  expect(await reads()).toBe(1);
  await database.table().insert({ event_ts: 3, members: [1, 99] });
  expect(await reads()).toBe(2);
  expect((await analytics.run(undefined, 'node_degree', { node_id: 99 })).result).toEqual({ 99: 1 });
  await database.table().delete(3, [1, 99]);
  expect(await reads()).toBe(3);
  expect(await reads()).toBe(3);
  expect(await reads(undefined, { start_ts: 10 })).toBe(4);
  expect(await reads(undefined, { start_ts: 10 })).toBe(4);
  expect(await reads(undefined, { start_ts: 11 })).toBe(5);
  expect(await reads('other')).toBe(6);
  await other.insert({ event_ts: 1, members: [1] });
  expect(await reads()).toBe(6);
  expect(await reads('other')).toBe(7);
  // All rows are older than a second.
  await database.compact({ ttlSeconds: 1 });
  expect(await reads()).toBe(8);
  expect((await analytics.run(undefined, 'node_degree')).result).toEqual({});
});

test('concurrent calls share one read of the edges and everything computed from it', async () => {
  const analytics = open();
  const names = [
    'betweenness',
    'closeness',
    'clique_number',
    's_diameter',
    'spectral_gap',
    'redundancy',
    'zhou_clustering',
  ];
  const together = await Promise.all(names.map((name) => analytics.run(undefined, name)));
  expect(threads).toHaveLength(1);
  expect(threads[0]!.reads).toBe(1);
  const alone = new Analytics({ database, moveAfterMs: Infinity });
  for (const answer of together) expect(answer).toEqual(await alone.run(undefined, answer.measure));
});

test('when the call that reads the edges is cancelled, another call takes over the read', async () => {
  const analytics = open();
  const controller = new AbortController();
  const first = analytics.run(undefined, 'node_degree', { weighted: true }, { signal: controller.signal });
  const second = analytics.run(undefined, 'node_degree', { weighted: true });
  controller.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  expect((await second).result).toEqual(naiveStrengths(edges));
  expect(database.table().openSnapshots).toBe(0);
});

test('entries that do not fit are evicted, least recently used first, and are recomputed on demand', async () => {
  const instance = loadCore().instantiate().memory.size;
  // There is room for the small instances of two windows, but not of three.
  const analytics = open(instance * 3 + instance / 2);
  const reads = async (start_ts: number) => {
    const { result } = await analytics.run(undefined, 'node_degree', { start_ts, weighted: true });
    expect(result).toEqual(naiveStrengths(edges.filter(({ event_ts }) => event_ts >= start_ts)));
    return threads[0]!.reads;
  };
  const seen: number[] = [];
  for (const start of [1, 2, 3, 4, 5, 6]) seen.push(await reads(start));
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await reads(6)).toBe(6);
  expect(await reads(1)).toBe(7);
  expect(await reads(1)).toBe(7);
  const none = open(0);
  await none.run(undefined, 'density');
  await none.run(undefined, 'density');
  expect(threads[1]!.reads).toBe(2);
});

test('a failing measure leaves cached results in place', async () => {
  const analytics = open();
  await analytics.run(undefined, 'node_degree');
  await expect(analytics.run(undefined, 's_distance', { source: 12345 })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await expect(analytics.run(undefined, 'density', { kind: 'uniform' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect((await analytics.run(undefined, 'node_degree', { weighted: true })).result).toEqual(naiveStrengths(edges));
  expect(threads[0]!.reads).toBe(1);
});
