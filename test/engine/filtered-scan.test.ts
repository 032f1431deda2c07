// Compares filtered scans on a simulated disk with brute force, with and without the order indexes
// of columns.

import { describe, expect, test } from 'vitest';
import { Scan } from '../../src/engine/index.ts';
import type { ScanBounds } from '../../src/engine/types.ts';
import { MAX, pairOn, randomEdge } from '../support/filtered-table.ts';
import { Random } from '../support/random.ts';
import { drain, openSim, rowsOf, simDisk } from '../support/sim-engine.ts';

describe('filtered scans', () => {
  test('agree with brute force in the log, segments with and without index orders, snapshots and transactions', async () => {
    for (let seed = 1; seed <= 9; seed++) {
      const random = new Random(seed);
      const core = (['release', 'plain', 'debug'] as const)[seed % 3]!;
      const database = await openSim(simDisk(seed), { core, segmentRows: 4 + random.below(40) });
      const pair = await pairOn(database, random);
      await pair.insert(60);
      await pair.remove(8);
      pair.compare(40, database.lastLsn);
      await database.compact({});
      await pair.insert(40);
      await pair.remove(12);
      pair.compare(40, database.lastLsn);
      const { lsn } = database.snapshot(pair.table);
      const snapshot = database.snapshot(pair.table);
      for (const column of ['WEIGHT', 'speed', 'count']) await database.createIndex('tracks', column);
      expect(pair.compare(80, database.lastLsn)).toContain('PSI_RANGE');
      await pair.insert(30);
      await pair.remove(12);
      expect(pair.compare(60, database.lastLsn)).toContain('PSI_RANGE');
      pair.compare(30, lsn, (request) => pair.table.scan(request, snapshot));
      await database.compact({});
      expect(pair.compare(60, database.lastLsn)).toContain('PSI_RANGE');
      await database.close();
    }
  });

  test('see the rows that their transaction has staged, and not the rows that it hides', async () => {
    const random = new Random(5);
    const database = await openSim(simDisk());
    const pair = await pairOn(database, random);
    await pair.insert(50);
    await database.createIndex('Tracks', 'weight');
    await pair.insert(20);
    const transaction = database.begin();
    for (let i = 0; i < 10; i++) {
      const edge = randomEdge(random);
      pair.model.insert(pair.row(transaction.insert(pair.table, edge).id as number, edge), 1);
      const { row } = pair.model.rows[random.below(60)]!;
      transaction.delete(pair.table, row.event_ts, row.members);
      pair.model.delete(row.event_ts, row.members, 1);
      pair.compare(15, MAX, (request) => transaction.scan(pair.table, request));
    }
    transaction.rollback();
    await database.close();
  });

  test('take bounded slices, even while nothing is found and while the row after the limit is sought', async () => {
    const database = await openSim(simDisk(), { core: 'release', segmentRows: 64 });
    const table = database.table();
    const fill = async (from: number): Promise<void> => {
      const bulk = table.bulk();
      for (let time = from; time < from + 20_000; time++)
        bulk.add({ event_ts: time, members: [1], properties: { weight: time % 1000, mean_dist_m: time } });
      await bulk.commit();
    };
    await fill(0);
    await database.compact({});
    await fill(20_000);
    // From here on, one step of the clock is longer than a slice.
    let us = 0;
    Object.assign(table.context, { nowUs: () => (us += 10_000) });
    const count = (request: ScanBounds): [slices: number, rows: number, hasMore: boolean] => {
      const scan = table.scan({ format: 'ndjson', ...request });
      let slices = 0;
      for (let slice = scan.next(); slice !== null; slice = scan.next()) slices++;
      return [slices, scan.rows, scan.hasMore];
    };
    const nothing = [
      { column: 'weight', low: 1, high: 1 },
      { column: 'mean_dist_m', low: 50_000 },
    ];
    // There are 20,000 rows in 313 segments, with one segment per slice, and 20,000 rows in the
    // log, with 8,192 rows per slice.
    expect(count({ where: nothing })[0]).toBeGreaterThan(313);
    const [slices, rows, hasMore] = count({ where: [{ column: 'mean_dist_m', low: 5, high: 39_999 }], limit: 2 });
    expect([rows, hasMore]).toEqual([2, true]);
    expect(slices).toBeLessThan(10);
    const far = count({ where: [{ column: 'mean_dist_m', low: 19_998, high: 19_998 }], limit: 1 });
    expect(far.slice(1)).toEqual([1, false]);
    await database.close();
  });

  test('take bounded slices without conditions too, where all rows of many segments are dead', async () => {
    const database = await openSim(simDisk(), { core: 'release', segmentRows: 64 });
    const table = database.table();
    const bulk = table.bulk();
    for (let time = 0; time < 6400; time++) bulk.add({ event_ts: time, members: [1] });
    await bulk.commit();
    await database.compact({});
    const transaction = database.begin();
    for (let time = 0; time < 6400; time++) transaction.deleteRow(table, { eventTs: time, id: time + 1 });
    await transaction.commit();
    let us = 0;
    Object.assign(table.context, { nowUs: () => (us += 10_000) });
    const scan = table.scan({ format: 'ndjson' });
    let slices = 0;
    for (let slice = scan.next(); slice !== null; slice = scan.next()) slices++;
    expect(scan.rows).toBe(0);
    expect(slices).toBeGreaterThan(2);
    await database.close();
  });

  test('skip segments whose header shows that no row can be in the range', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release', memoryBudgetBytes: 1 });
    const table = await database.createTable({ name: 't', columns: [{ name: 'n', type: 'INTEGER', default: 3 }] });
    for (let time = 0; time < 80; time++)
      await table.insert({ event_ts: time, members: [1], ...(time > 70 ? { properties: { weight: 1 } } : {}) });
    await database.compact({});
    let reads = 0;
    fs.schedule = (operation) => {
      if (operation.kind === 'open') reads++;
      return undefined;
    };
    expect(rowsOf(table, { where: [{ column: 'weight' }] })).toHaveLength(9);
    expect(reads).toBeLessThan(4);
    expect(rowsOf(table, { where: [{ column: 'n', low: 3, high: 3 }] })).toHaveLength(80);
    expect(rowsOf(table, { where: [{ column: 'n', low: 4 }] })).toEqual([]);
    await database.close();
  });

  test('are refused with the reason if they are invalid', async () => {
    const database = await openSim(simDisk());
    const { table } = await pairOn(database, new Random(1));
    const refusal = (request: ScanBounds): unknown => {
      try {
        table.scan({ format: 'json', ...request });
      } catch (error) {
        return error;
      }
      return undefined;
    };
    for (const column of ['event_ts', 'members', 'nope', ''])
      expect(refusal({ where: [{ column }] })).toMatchObject({ code: 'unknown_column' });
    for (const column of ['note', 'OPEN', 'formation']) {
      expect(refusal({ where: [{ column: 'weight' }, { column }] })).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/weight, mean_dist_m, Speed, Count/),
        errors: [{ loc: ['where', 1, 'column'] }],
      });
    }
    for (const wrong of [{ low: Number.NaN }, { high: '1' as never }])
      expect(refusal({ where: [{ column: 'weight', ...wrong }] })).toMatchObject({ code: 'invalid_input' });
    expect(refusal({ nodes: [] })).toMatchObject({ code: 'invalid_input', errors: [{ loc: ['nodes'] }] });
    const { references } = table.version;
    expect(refusal({ nodes: [] })).toBeDefined();
    expect(table.version.references).toBe(references);
    expect(table.scan({ format: 'json', where: [] })).toBeInstanceOf(Scan);
    await database.close();
  });

  test('report their access path and the number of buckets read', async () => {
    const database = await openSim(simDisk(), { segmentRows: 50 });
    const table = database.table();
    const bulk = table.bulk();
    for (let time = 0; time < 400; time++)
      bulk.add({ event_ts: time, members: [time % 3], properties: { weight: time % 100 } });
    await bulk.commit();
    const planOf = (request: ScanBounds) => {
      const scan = table.scan({ format: 'json', ...request });
      drain(scan);
      const { strategy, buckets_scanned, total_buckets } = scan.plan();
      return [strategy, buckets_scanned, total_buckets];
    };
    const few = [{ column: 'weight', low: 42, high: 43 }];
    const where = { where: few };
    expect(planOf(where)).toEqual(['FULL_SCAN', 40, 40]);
    await database.compact({});
    expect(planOf(where)).toEqual(['FULL_SCAN', 40, 40]);
    expect(planOf({ ...where, startTs: 100, endTs: 299 })).toEqual(['TPI_BUCKET_PUSHDOWN', 20, 40]);
    await database.createIndex(table.name, 'weight');
    expect(planOf(where)).toEqual(['PSI_RANGE', 4, 40]);
    expect(planOf({ ...where, startTs: 100, endTs: 299 })).toEqual(['PSI_RANGE', 2, 40]);
    // If the time window has fewer rows than the order index would find, the window drives the
    // scan.
    expect(planOf({ where: [{ column: 'weight', low: 10 }], startTs: 140, endTs: 149 })).toEqual([
      'TPI_BUCKET_PUSHDOWN',
      1,
      40,
    ]);
    expect(planOf({ where: [{ column: 'weight' }] })).toEqual(['FULL_SCAN', 40, 40]);
    expect(planOf({ ...where, nodes: [0] })[0]).toBe('FMI_LOOKUP');
    expect(planOf({ ...where, nodes: [0, 1] })[0]).toBe('FMI_INTERSECT');
    expect(planOf({ where: [{ column: 'weight', low: 2, high: 1 }] })).toEqual(['FULL_SCAN', 0, 40]);
    await database.close();
  });
});
