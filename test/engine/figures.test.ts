// Tests figures in answers and in the health report (buckets, nodes, records, pending operations)
// and the limits for an edge.

import { expect, test } from 'vitest';
import { drain, openSim, rowsOf, simDisk, turn } from '../support/sim-engine.ts';

// Found by the random histories: rows were inserted out of key order, but in ascending buckets.
// After they were sorted, the buckets before them were no longer counted.
test('each bucket is counted once, whatever the order of the rows', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  for (const time of [5, 3, 25, 24, 21, 7, 91, 90, -1, -10, -11]) await table.insert({ event_ts: time, members: [1] });
  const scan = table.scan({ format: 'json' });
  drain(scan);
  expect(scan.plan()).toMatchObject({ strategy: 'FULL_SCAN', buckets_scanned: 5, total_buckets: 5, speedup_factor: 1 });
  expect(database.health().bucket_count).toBe(5);
  await database.compact({});
  const again = table.scan({ format: 'json', startTs: 0, endTs: 9 });
  drain(again);
  expect(again.plan()).toMatchObject({
    strategy: 'TPI_BUCKET_PUSHDOWN',
    buckets_scanned: 1,
    total_buckets: 5,
    speedup_factor: 5,
  });
  await database.close();
});

// Found by the random histories: a compaction left no segment, and then as many new rows were
// inserted as there had been before. The old count was returned.
test('distinct nodes are counted again when rows have been replaced', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  await table.insert({ event_ts: 1, members: [1, 2, 3] });
  expect(database.health().node_count).toBe(3);
  await table.delete(1, [1, 2, 3]);
  await database.compact({});
  await table.insert({ event_ts: 1, members: [1, 2, 3, 4, 5] });
  expect(database.health().node_count).toBe(5);
  await table.delete(1, [1, 2, 3, 4, 5]);
  await database.compact({});
  expect(database.health().node_count).toBe(0);
  await database.close();
});

test('health and wal report the true counts', async () => {
  const database = await openSim(simDisk());
  const other = await database.createTable({ name: 'Other', bucketSeconds: 100, compactThreshold: 0 });
  for (let time = 0; time < 30; time++) await database.table().insert({ event_ts: time, members: [time % 3, 50] });
  await database.compact({});
  await database.table().delete(3, [0, 50]);
  await other.insert({ event_ts: 1, members: [9] });
  expect(database.health()).toMatchObject({
    total_records: 30,
    tables: 2,
    node_count: 5,
    wal_pending: 2,
    bucket_seconds: 10,
    corrupt_tables: {},
    log_failed: null,
  });
  expect(database.wal()).toMatchObject({
    pending: 2,
    last_lsn: 34,
    tables: { Other: { pending: 1 }, hyperedges: { pending: 1 } },
  });
  const result = await database.compact({});
  expect(result).toMatchObject({
    tables: ['Other', 'hyperedges'],
    wal_pending_before: 2,
    wal_pending_after: 0,
    tombstones_reconciled: 1,
    edges_dropped: 0,
  });
  await database.close();
});

test('rows are counted only after their write is acknowledged', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const counts = () => [database.health().total_records, database.figures().records, table.item().row_count];
  for (let time = 0; time < 20; time++) await table.insert({ event_ts: time, members: [time] });
  await database.compact({});
  for (let time = 20; time < 25; time++) await table.insert({ event_ts: time, members: [time] });
  const writes: Promise<unknown>[] = [table.insert({ event_ts: 30, members: [1] })];
  expect(counts()).toEqual([25, 25, 25]);
  writes.push(table.delete(3, [3]), table.delete(22, [22]));
  const bulk = table.bulk();
  for (let time = 40; time < 50; time++) bulk.add({ event_ts: time, members: [7] });
  writes.push(bulk.commit());
  const transaction = database.begin();
  transaction.insert(table, { event_ts: 60, members: [8] });
  transaction.delete(table, 4, [4]);
  writes.push(transaction.commit());
  expect(counts()).toEqual([25, 25, 25]);
  const seen = new Set<number>();
  let isOpen = true;
  void Promise.all(writes).then(() => {
    isOpen = false;
  });
  while (isOpen) {
    seen.add(table.rowCount);
    expect(table.rowCount).toBe(table.count({}));
    await turn();
  }
  expect(counts()).toEqual([34, 34, 34]);
  expect([...seen].every((rows) => rows >= 23 && rows <= 36)).toBe(true);
  await database.close();
});

test('figures for metrics are reported without counting nodes', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  for (let time = 0; time < 30; time++) await table.insert({ event_ts: time, members: [time % 3] });
  expect(database.figures()).toMatchObject({
    ...{ records: 30, tables: 1, corruptTables: 0, indexes: 0, segments: 0, residentBytes: 0, walPending: 30 },
    ...{ snapshotsOpen: 0, compactions: 0, compactionsRunning: 0, compactionsQueued: 0 },
    ...{ durability: 'fsync', logFailed: false },
  });
  const { memtableBytes, walBytes } = database.figures();
  expect([memtableBytes, walBytes].every((bytes) => bytes > 1000)).toBe(true);
  const compacted = Promise.all([database.compact({}), database.compact({})]);
  expect(database.figures()).toMatchObject({ compactionsRunning: 0, compactionsQueued: 2 });
  await compacted;
  await database.createIndex(table.name, 'weight');
  const snapshot = database.snapshot(table);
  drain(table.scan({ format: 'json' }));
  expect(database.figures()).toMatchObject({
    ...{ records: 30, indexes: 1, segments: 4, walPending: 0, snapshotsOpen: 1 },
    ...{ compactions: 2, compactionsRunning: 0, compactionsQueued: 0 },
  });
  expect(database.figures().residentBytes).toBeGreaterThan(0);
  snapshot.release();
  expect(database.figures().snapshotsOpen).toBe(0);
  await database.close();
});

test('members are a set with at least 1 and at most maxMembers safe integers', async () => {
  const database = await openSim(simDisk(), { maxMembers: 64 });
  const table = database.table();
  const many = Array.from({ length: 65 }, (_, index) => index);
  const bad: [unknown, unknown, string][] = [
    [1, [], 'empty_members'],
    [1, many, 'too_many_members'],
    [1, [1.5], 'invalid_input'],
    [1, [2 ** 53], 'invalid_input'],
    [1, ['1'], 'invalid_input'],
    [1, 'x', 'invalid_input'],
    [2 ** 53, [1], 'invalid_input'],
    [Number.NaN, [1], 'invalid_input'],
    ['1', [1], 'invalid_input'],
  ];
  for (const [event_ts, members, code] of bad) {
    const edge = { event_ts, members } as never;
    await expect(table.insert(edge)).rejects.toMatchObject({ code });
    const transaction = database.begin();
    expect(() => transaction.insert(table, edge)).toThrow();
    const bulk = table.bulk();
    expect(() => bulk.add(edge)).toThrow();
    bulk.discard();
  }
  await table.insert({ event_ts: 1, members: [...many.slice(1), ...many.slice(1)] });
  expect(rowsOf(table)[0]!.members).toEqual(many.slice(1));
  await expect(table.insert({ event_ts: 1, members: [1], properties: { speed: 1 } })).rejects.toMatchObject({
    code: 'unknown_column',
  });
  await expect(table.insert({ event_ts: 1, members: [1], properties: { weight: Infinity } })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await expect(
    table.insert({ event_ts: 1, members: [1], properties: { formation: 'x'.repeat(65537) } }),
  ).rejects.toMatchObject({ code: 'invalid_input' });
  await table.insert({ event_ts: 1, members: [1], properties: { formation: 'x'.repeat(65536) } });
  expect(database.lastLsn).toBe(3);
  await database.close();
});

test('texts of the maximum size, some with only escaped characters, are read back from memtable and segment', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const texts = ['\u0001'.repeat(65536), '"'.repeat(65536), '🦔'.repeat(16384), 'é'.repeat(32768)];
  for (const [index, formation] of texts.entries())
    await table.insert({ event_ts: index, members: [index], properties: { formation } });
  expect(rowsOf(table).map((row) => row.formation)).toEqual(texts);
  await database.compact({});
  expect(rowsOf(table).map((row) => row.formation)).toEqual(texts);
  await database.close();
});

test('a memtable that takes many slices is read whole while more rows are inserted', async () => {
  const database = await openSim(simDisk(), { core: 'release', segmentRows: 4096 });
  const table = database.table();
  const bulk = table.bulk();
  for (let row = 0; row < 30_000; row++) bulk.add({ event_ts: (row * 7919) % 10_007, members: [row % 100, 1000] });
  await bulk.commit();
  for (const nodes of [undefined, [1000], [1000, 7]]) {
    const whole = rowsOf(table, { nodes });
    const scan = table.scan({ format: 'ndjson', nodes });
    let rows = 0;
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      rows += Buffer.from(slice).toString().split('\n').length - 1;
      await table.insert({ event_ts: rows % 10_007, members: [2000] });
      if (rows % 5 === 0) await turn();
    }
    expect(rows).toBe(whole.length);
  }
  const before = rowsOf(table);
  await database.compact({});
  expect(rowsOf(table)).toEqual(before);
  await database.close();
});
