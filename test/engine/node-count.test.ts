// Tests the count of distinct nodes. Compares the merge with sets, and checks that a small table is
// counted at once and a large one in slices, for which a request waits only a bounded time.

import { expect, test } from 'vitest';
import type { Database, EngineOptions } from '../../src/engine/index.ts';
import { type AscendingList, DistinctMerge } from '../../src/engine/table/distinct-merge.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk, turn } from '../support/sim-engine.ts';

class Chunks implements AscendingList {
  #ids: Float64Array;
  #at = 0;

  constructor(ids: Float64Array) {
    this.#ids = ids;
  }

  next(): Float64Array | undefined {
    if (this.#at === this.#ids.length) return undefined;
    const from = this.#at;
    this.#at = Math.min(this.#ids.length, from + 1 + (from % 3));
    return this.#ids.slice(from, this.#at);
  }
}

test('a merge counts the distinct values of any lists, in steps of any size', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const sets = Array.from({ length: random.below(9) }, () => {
      const spread = 1 + random.below(60);
      return new Set(Array.from({ length: random.below(40) }, () => random.below(spread) - 20));
    });
    const lists = sets.map((set) => new Chunks(Float64Array.from(set).sort()));
    const merge = new DistinctMerge(lists);
    let steps = 0;
    while (merge.step(1 + random.below(200))) steps++;
    expect(merge.count, `seed ${seed}`).toBe(new Set(sets.flatMap((set) => [...set])).size);
    expect(steps).toBeLessThan(1000);
  }
});

test('a list that is not ascending is noticed', () => {
  const merge = new DistinctMerge([new Chunks(Float64Array.of(3, 1))]);
  expect(() => merge.step(1000)).toThrow('lists of nodes are ascending');
});

/** Adds an edge per row, each with two new nodes and one node that all edges share. */
async function fillNodes(database: Database, from: number, to: number): Promise<void> {
  const bulk = database.table().bulk();
  for (let row = from; row < to; row++) bulk.add({ event_ts: row, members: [1, 10 + 2 * row, 11 + 2 * row] });
  await bulk.commit();
}

/** Returns options with a clock that makes four steps use up a slice. */
function large(): Partial<EngineOptions> {
  let us = 0;
  const nowUs = () => {
    us += 1000;
    return us;
  };
  return {
    core: 'release',
    segmentRows: 4096,
    logFileBytes: 2 ** 20,
    nowUs,
    schedule: (callback) => void setImmediate(callback),
  };
}

test('for a large table the last count is reported at once, and the new count when it is complete', async () => {
  const database = await openSim(simDisk(), large());
  await fillNodes(database, 0, 30_000);
  await database.table().insert({ event_ts: 1, members: [2 ** 40, -(2 ** 40), Number.MAX_SAFE_INTEGER] });
  await database.compact({});
  const least = database.health();
  expect(least.node_count_exact).toBe(false);
  expect(least.node_count).toBeGreaterThan(0);
  expect(least.node_count).toBeLessThan(60_004);
  while (!database.health().node_count_exact) await turn();
  expect(database.health().node_count).toBe(60_004);
  await fillNodes(database, 30_000, 30_010);
  expect(database.health()).toMatchObject({ node_count: 60_004, node_count_exact: false });
  while (!database.health().node_count_exact) await turn();
  expect(database.health().node_count).toBe(60_024);
  await database.close();
});

test('a request waits for the count for a limited time, and the memory of the count is charged and released', async () => {
  const database = await openSim(simDisk(), large());
  await fillNodes(database, 0, 30_000);
  let waited = await database.statistics.gatherHealth(0);
  expect(waited.node_count_exact).toBe(false);
  let most = 0;
  for (; !waited.node_count_exact; waited = await database.statistics.gatherHealth(0))
    most = Math.max(most, waited.charged_bytes);
  expect(waited).toMatchObject({ node_count: 60_001, charged_bytes: 0 });
  expect(most).toBeGreaterThanOrEqual(60_001 * 8);
  await database.close();
});

test('rows inserted during a count do not change its result', async () => {
  const database = await openSim(simDisk(), large());
  await fillNodes(database, 0, 30_000);
  database.health();
  await database.table().insert({ event_ts: 5, members: [2, 3] });
  for (let turns = 0; turns < 200; turns++) await turn();
  const health = database.health();
  expect(health.node_count_exact ? health.node_count : 60_003).toBe(60_003);
  await database.close();
});

test('a count that cannot read a file leaves the last count in place, and is tried again', async () => {
  const fs = simDisk();
  const database = await openSim(fs, large());
  await fillNodes(database, 0, 30_000);
  await database.compact({});
  fs.schedule = ({ kind }) => (kind === 'read' ? { code: 'EIO' } : undefined);
  const failed = await database.statistics.gatherHealth(0);
  expect(failed).toMatchObject({ node_count_exact: false });
  fs.schedule = () => undefined;
  while (!database.health().node_count_exact) await turn();
  expect(database.health().node_count).toBe(60_001);
  await database.close();
});
