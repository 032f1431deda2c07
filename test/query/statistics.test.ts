// Tests figures that are taken from the directories of segments without reading rows. Counts and
// window bounds must match the rows in every state of a table, for old snapshots and under a
// transaction's overlay.

import { describe, expect, it } from 'vitest';
import { CoreMemtable } from '../../src/core/index.ts';
import type { Database, Snapshot, Table } from '../../src/engine/index.ts';
import type { ScanOverlay } from '../../src/engine/scan/scan-view.ts';
import { Random } from '../support/random.ts';
import { drain, openSim, simDisk } from '../support/sim-engine.ts';
import { makeTables, randomEdges } from './random-tables.ts';

interface View {
  readonly snapshot: Snapshot;
  readonly overlay?: ScanOverlay;
}

function timesOf(
  table: Table,
  startTs: number | undefined,
  endTs: number | undefined,
  view: View | undefined,
): number[] {
  const text = drain(table.scan({ format: 'json', startTs, endTs }, view?.snapshot, view?.overlay));
  return (JSON.parse(`[${text}]`) as { event_ts: number }[]).map((row) => row.event_ts);
}

/** Maximum number of rows inserted per round. */
const ROWS_AT_ONCE = 30;

function expectTrue(table: Table, random: Random, view?: View, isAllLive = false): void {
  for (let round = 0; round < 12; round++) {
    const startTs = random.below(3) === 0 ? undefined : random.below(80) - 30;
    const endTs = random.below(3) === 0 ? undefined : random.below(80) - 30;
    const window = { startTs, endTs };
    const times = timesOf(table, startTs, endTs, view);
    expect(table.count(window, view?.snapshot, view?.overlay)).toBe(times.length);
    const bounds = times.length === 0 ? undefined : { least: times[0], greatest: times[times.length - 1] };
    expect(table.timeBounds(window, view?.snapshot, view?.overlay)).toEqual(bounds);
    const estimate = table.estimate(window, view?.snapshot, view?.overlay);
    expect(estimate.totalBuckets).toBe(
      table.scan({ format: 'json' }, view?.snapshot, view?.overlay).plan().total_buckets,
    );
    expect(estimate.bucketsScanned).toBeLessThanOrEqual(estimate.totalBuckets);
    // With dead rows or an overlay the estimate is approximate, because it assumes that dead rows
    // are spread evenly.
    const exact = view === undefined && isAllLive;
    if (exact) expect(estimate.rows).toBe(times.length);
    expect(estimate.rows).toBeGreaterThanOrEqual(0);
    expect(estimate.rows).toBeLessThanOrEqual(table.version.segmentRows + ROWS_AT_ONCE * 8);
  }
}

/** Returns an overlay that hides some rows and adds others, as a transaction does. */
function overlayOf(database: Database, table: Table, snapshot: Snapshot, random: Random): ScanOverlay {
  const { context } = table;
  const memtable = CoreMemtable.alone(context.module.instantiate(), table.bucketSeconds, 0);
  for (const [place, { event_ts, members }] of randomEdges(random, 5, []).entries()) {
    context.batch.add(
      event_ts,
      [...new Set(members as number[])].sort((a, b) => a - b),
      null,
    );
    const record = context.batch.encode(1_000_000 + place, 64).slice();
    memtable.append(memtable.reserve(record.length, 1), record, 1, place + 1);
  }
  const hidden = new Map<object, Set<number>>();
  for (const entry of snapshot.version.memtables) {
    const rows = Array.from({ length: entry.memtable.rows }, (_, row) => row).filter(() => random.below(3) === 0);
    hidden.set(entry.memtable, new Set(rows));
  }
  const dead = new Map(
    snapshot.version.segments.map((segment) => {
      const list = segment.dead.clone();
      for (let row = 0; row < segment.facts.rows; row++) if (random.below(3) === 0) list.hide(row);
      return [segment, list] as const;
    }),
  );
  expect(database.tables()).toContain(table);
  return { memtable, hidden: (one) => hidden.get(one), deadOf: (segment) => dead.get(segment)! };
}

describe('counts and bounds of windows', () => {
  it.each(Array.from({ length: 12 }, (_, place) => place + 1))('match the rows with seed %i', async (seed) => {
    const random = new Random(seed);
    const database = await openSim(simDisk(seed), { core: seed % 3 === 0 ? 'debug' : 'release' });
    const [double] = await makeTables(database, random, []);
    const { table } = double!;
    const old: View[] = [];
    expectTrue(table, random);
    for (let round = 0; round < 4; round++) {
      await double!.insert(randomEdges(random, 5 + random.below(ROWS_AT_ONCE - 5), []));
      expectTrue(table, random, undefined, round === 0);
      old.push({ snapshot: database.snapshot(table) });
      await double!.deleteSome(random, 0.3);
      expectTrue(table, random);
      if (random.below(2) === 0) await database.compact();
      expectTrue(table, random);
      const snapshot = database.snapshot(table);
      old.push({ snapshot, overlay: overlayOf(database, table, snapshot, random) });
      for (const view of old) expectTrue(table, random, view);
    }
    for (const { snapshot } of old) snapshot.release();
  });

  it('load no segment into memory if they cover whole segments', async () => {
    const database = await openSim(simDisk(), { core: 'release', memoryBudgetBytes: 1 });
    const table = await database.createTable({ name: 'T' });
    const bulk = table.bulk();
    for (let i = 0; i < 100; i++) bulk.add({ event_ts: i, members: [i] });
    await bulk.commit();
    await database.compact();
    const loads: string[] = [];
    const { residency } = table.context;
    const get = residency.get.bind(residency);
    residency.get = (segment) => {
      loads.push(segment.path);
      return get(segment);
    };
    expect([table.count({}), table.timeBounds({})]).toEqual([100, { least: 0, greatest: 99 }]);
    expect(table.estimate({})).toMatchObject({ rows: 100, bucketsScanned: 10, totalBuckets: 10 });
    expect(loads).toEqual([]);
    expect(table.count({ startTs: 5, endTs: 94 })).toBe(90);
    expect(new Set(loads).size).toBeLessThanOrEqual(2);
  });
});

describe('estimates of node lookups', () => {
  it('index a bounded number of rows at a time if some rows are not yet indexed', async () => {
    const database = await openSim(simDisk(), { core: 'release', logFileBytes: 2 ** 22 });
    const table = await database.createTable({ name: 'T' });
    const bulk = table.bulk();
    for (let i = 0; i < 20_000; i++) bulk.add({ event_ts: i, members: [i % 10] });
    await bulk.commit();
    const estimates = Array.from({ length: 4 }, () => table.estimate({ nodes: [3] }).rows);
    expect(estimates[0]).toBe(200);
    expect(estimates[3]).toBe(2000);
  });
});
