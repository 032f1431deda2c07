// Tests tables with intervals in the engine: definitions, validation, reads at a time through
// segments and memtables, segments that are not loaded, damage, and the TTL.

import { describe, expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import type { Scan, Table } from '../../src/engine/index.ts';
import type { EdgeInput, EdgeRow } from '../../src/engine/types.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { NaiveTable, select } from '../model/naive-table.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';
import { drain, openSim, simDisk } from '../support/sim-engine.ts';

function edge(event_ts: number, end_ts: number | null | undefined, members: readonly number[] = [1]): EdgeInput {
  return { event_ts, members, properties: { end_ts } };
}

function rowsOf(scan: Scan): EdgeRow[] {
  const lines = drain(scan).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as EdgeRow);
}

function idsAt(table: Table, at: number, more: object = {}): number[] {
  return rowsOf(table.scan({ format: 'ndjson', at, ...more })).map(({ id }) => id);
}

describe('a table with intervals', () => {
  test('has the column end_ts after the other built-in ones, which cannot be altered', async () => {
    const database = await openSim(simDisk());
    const table = await database.createTable({
      name: 'jobs',
      intervals: true,
      columns: [{ name: 'title', type: 'TEXT' }],
    });
    expect(table.item()).toMatchObject({ intervals: true, columns: [{ name: 'title', type: 'TEXT' }] });
    expect(database.table().item()).toMatchObject({ intervals: false });
    const { row } = await table.insert(edge(5, 9));
    expect(JSON.stringify(rowsOf(table.scan({ format: 'ndjson' })))).toBe(
      `[{"id":${row.id},"event_ts":5,"members":[1],"weight":null,"mean_dist_m":null,"formation":null,"end_ts":9,"title":null}]`,
    );
    const alter = (action: Parameters<typeof database.alterTable>[1]) => database.alterTable('jobs', action);
    await expect(alter({ kind: 'dropColumn', column: 'END_TS' })).rejects.toThrow('built in');
    await expect(alter({ kind: 'renameColumn', column: 'end_ts', to: 'until' })).rejects.toThrow('built in');
    await expect(alter({ kind: 'renameColumn', column: 'title', to: 'End_ts' })).rejects.toThrow('exists');
    await expect(alter({ kind: 'addColumn', column: { name: 'end_ts', type: 'REAL' } })).rejects.toThrow('exists');
    const twice = { name: 'b', intervals: true, columns: [{ name: 'end_ts', type: 'INTEGER' as const }] };
    await expect(database.createTable(twice)).rejects.toMatchObject({ code: 'column_exists' });
    await database.createTable({ ...twice, intervals: false });
    await expect(database.createTable({ name: 'c', intervals: true, roles: ['end_ts'] })).rejects.toMatchObject({
      code: 'column_exists',
    });
    await database.close();
  });

  test('refuses an end before the beginning, and takes times in ISO 8601', async () => {
    const database = await openSim(simDisk());
    const table = await database.createTable({ name: 'jobs', intervals: true });
    for (const wrong of [4, 4.5, 'soon', true, 2 ** 53]) {
      const refused = table.insert(edge(5, wrong as number));
      await expect(refused, String(wrong)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(table.insert(edge(5, 4))).rejects.toThrow('end_ts is 4, before event_ts, which is 5');
    const { row: first } = await table.insert(edge(5, '1970-01-01T00:00:09Z' as unknown as number));
    const transaction = database.begin();
    expect(() => transaction.updateRow(table, { eventTs: 5, id: first.id }, edge(10, 9))).toThrow('before event_ts');
    expect(transaction.updateRow(table, { eventTs: 5, id: first.id }, edge(9, 9)).end_ts).toBe(9);
    await transaction.commit();
    const bulk = table.bulk();
    expect(() => bulk.add(edge(5, 4))).toThrow('before event_ts');
    const lines = ['{"event_ts":1,"members":[1],"end_ts":1}', '{"end_ts":0,"event_ts":1,"members":[1]}'];
    expect(bulk.addLines(Buffer.from(`${lines.join('\n')}\n`)).rows).toBe(1);
    expect(bulk.addLines(Buffer.from('{"end_ts":1.5,"event_ts":1,"members":[1]}\n')).rows).toBe(0);
    expect(bulk.addLines(Buffer.from('{"end_ts":"1970-01-02","event_ts":1,"members":[1]}\n')).rows).toBe(0);
    bulk.discard();
    expect(() => database.table().scan({ format: 'ndjson', at: 5 })).toThrow('INTERVALS');
    expect(() => table.scan({ format: 'ndjson', at: 5.5 })).toThrow('integer');
    await database.close();
  });

  test('gives the edges that hold at a time as a naive filter does, from the log and from segments', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = new Random(seed);
      const database = await openSim(simDisk(seed), {
        core: (['release', 'plain', 'debug'] as const)[seed % 3]!,
        segmentRows: 16 + random.below(100),
        memoryBudgetBytes: 1,
      });
      const table = await database.createTable({ name: 'jobs', intervals: true, bucketSeconds: 10 });
      if (seed % 2 === 0) await database.createIndex('jobs', 'end_ts');
      const model = new NaiveTable([], [], true);
      for (let round = 0; round < 4; round++) {
        for (let i = 0; i < 60; i++) {
          const event_ts = random.below(2000);
          const length = [0, 3, random.below(50), random.below(3000), null][random.below(5)]!;
          const made = edge(event_ts, length === null ? null : event_ts + length, [random.below(5), 9]);
          const { row, lsn } = await table.insert(made);
          model.insert(model.rowOf(row.id, made), lsn);
        }
        if (round % 2 === 0) await database.compact({});
        const rows = model.at(database.lastLsn);
        for (let i = 0; i < 60; i++) compareAt(table, rows, random);
      }
      await database.close();
    }
  });

  test('finds an edge that began long ago and still holds without loading the segments between', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release', segmentRows: 64, memoryBudgetBytes: 1 });
    const table = await database.createTable({ name: 'jobs', intervals: true });
    const bulk = table.bulk();
    bulk.add(edge(0, null, [7]));
    for (let time = 1; time < 6400; time++) bulk.add(edge(time, time + 1));
    await bulk.commit();
    await database.compact({});
    expect(table.version.segments.length).toBe(100);
    const loaded: string[] = [];
    const { residentBy } = table;
    Object.assign(table, {
      residentBy: (segment: { path: string }, untilUs: number) => {
        loaded.push(segment.path);
        return residentBy.call(table, segment as never, untilUs);
      },
    });
    expect(idsAt(table, 6300)).toEqual([1, 6301]);
    expect(new Set(loaded).size).toBe(2);
    expect(idsAt(table, 10_000)).toEqual([1]);
    const plan = table.scan({ format: 'ndjson', at: 10_000 });
    rowsOf(plan);
    expect(plan.plan()).toMatchObject({ strategy: 'INTERVAL_STAB', buckets_scanned: 1 });
    await database.close();
  });

  test('has segments of format version 2 whose damage verify finds; other tables have version 1', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release', segmentRows: 64 });
    const table = await database.createTable({ name: 'jobs', intervals: true });
    const plain = await database.createTable({ name: 'plain' });
    for (let time = 0; time < 40; time++) {
      await table.insert(edge(time, time + 5));
      await plain.insert({ event_ts: time, members: [1] });
    }
    await database.compact({});
    const versions: number[] = [];
    for (const { version } of [table, plain])
      fs.edit(version.segments[0]!.path, (bytes) => void versions.push(bytes[8]!));
    expect(versions).toEqual([2, 1]);
    const [{ path, facts }] = table.version.segments as [Table['version']['segments'][number]];
    expect(facts.interval).toEqual({ column: 3, greatestEnd: 44 });
    await database.close();
    const verify = () => verifyDirectory({ fs, core: loadCore('release'), crc32c }, '/db', () => Promise.resolve());
    expect((await verify()).problems).toEqual([]);
    fs.edit(path, (bytes) => {
      bytes[bytes.length - 8]! ^= 1;
    });
    expect((await verify()).problems).not.toEqual([]);
  });

  test('keeps edges beyond the TTL that have not ended', async () => {
    const now = 1_000_000;
    const database = await openSim(simDisk(), { core: 'release', now: () => now * 1000 });
    const table = await database.createTable({ name: 'jobs', intervals: true, bucketSeconds: 10 });
    const limit = now - 500;
    const ends = [
      edge(10, null),
      edge(10, 20),
      edge(12, now),
      edge(30, limit),
      edge(31, limit + 1),
      edge(limit - 1, limit - 1),
      edge(limit, limit),
      edge(50, 60),
    ];
    for (const each of ends) await table.insert(each);
    const result = await database.compact({ table: 'jobs', ttlSeconds: 500 });
    expect([result.edges_dropped, result.buckets_dropped]).toEqual([4, 2]);
    expect(rowsOf(table.scan({ format: 'ndjson' })).map(({ id }) => id)).toEqual([1, 3, 5, 7]);
    const again = await database.compact({ ttlSeconds: 500 });
    expect([again.edges_dropped, again.buckets_dropped]).toEqual([0, 0]);
    await database.close();
  });

  test('is the same table after a restart and in a transaction', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release' });
    const table = await database.createTable({ name: 'jobs', intervals: true });
    for (const end of [5, null, 50]) await table.insert(edge(1, end));
    await database.compact({});
    const transaction = database.begin();
    transaction.insert(table, edge(2, 3));
    transaction.updateRow(table, { eventTs: 1, id: 1 }, edge(1, 60));
    transaction.deleteRow(table, { eventTs: 1, id: 2 });
    const seen = (at: number): number[] =>
      rowsOf(transaction.scan(table, { format: 'ndjson', at })).map(({ id }) => id);
    expect([seen(2), seen(10), seen(55)]).toEqual([[1, 3, 4], [1, 3], [1]]);
    expect([idsAt(table, 2), idsAt(table, 10), idsAt(table, 55)]).toEqual([[1, 2, 3], [2, 3], [2]]);
    await transaction.commit();
    await database.close();
    const again = await openSim(fs, { core: 'debug' });
    const reopened = again.table('jobs');
    expect(reopened.item().intervals).toBe(true);
    expect([idsAt(reopened, 2), idsAt(reopened, 10), idsAt(reopened, 55)]).toEqual([[1, 3, 4], [1, 3], [1]]);
    await again.close();
  });
});

function compareAt(table: Table, rows: readonly EdgeRow[], random: Random): void {
  const near = rows[random.below(rows.length)]!;
  const at = [near.event_ts, (near.end_ts as number | null) ?? 4000, random.below(5500) - 100][random.below(3)]!;
  const request = {
    at,
    ...(random.chance(0.3) ? { startTs: random.below(2000) } : {}),
    ...(random.chance(0.3) ? { endTs: random.below(2000) } : {}),
    ...(random.chance(0.3) ? { nodes: [random.below(5)] } : {}),
    ...(random.chance(0.3) ? { limit: 1 + random.below(20) } : {}),
    ...(random.chance(0.2) ? { where: [{ column: 'id', low: random.below(200) }] } : {}),
  };
  const scan = table.scan({ format: 'ndjson', ...request });
  const wanted = select(rows, request);
  expect(rowsOf(scan), JSON.stringify(request)).toEqual(wanted.rows);
  expect(scan.hasMore).toBe(wanted.hasMore);
}
