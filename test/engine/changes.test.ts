// Applies everything that a reader of changes is told to an empty model, and compares the model
// with the rows of the tables: after random writes, compactions, restarts and crashes, from every
// LSN.

import { describe, expect, test, vi } from 'vitest';
import { Ddl } from '../../src/engine/catalog/ddl.ts';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { DatabaseWriter } from '../support/database-writer.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const KEPT = { history: { seconds: 1e9, bytes: 1e9 } };

interface Change {
  lsn: number;
  ts: number;
  table: string;
  op: string;
  id?: number;
  before?: Row;
  row?: Row;
  columns?: { name: string; default: unknown }[];
  column?: string;
  before_ts?: number;
  renamed_from?: string;
  commit_end?: true;
}
type Row = Record<string, unknown> & { id: number };

async function changesFrom(database: Database, fromLsn?: number, table?: string, limit = 7): Promise<Change[]> {
  const reader = database.changes.read(fromLsn, table);
  const changes: Change[] = [];
  for (;;) {
    const some = await reader.next(limit);
    if (some.length === 0) break;
    expect(some.length).toBeLessThanOrEqual(limit);
    for (const { lsn, text } of some) {
      const change = JSON.parse(text) as Change;
      expect(change.lsn).toBe(lsn);
      changes.push(change);
    }
  }
  expect(reader.lsn).toBe(database.lastLsn);
  reader.close();
  return changes;
}

/** Tables by name, each a map from ids to rows. */
class Model {
  readonly tables = new Map<string, Map<number, Row>>();

  apply(change: Change): void {
    const { table, op, id, before, row } = change;
    const rows = this.tables.get(table);
    if (op === 'table_created') this.tables.set(table, new Map());
    else if (op === 'table_dropped') this.tables.delete(table);
    else if (op === 'table_altered') this.#alter(change);
    else if (op === 'buckets_dropped') {
      for (const [id, { event_ts }] of rows!) if ((event_ts as number) < change.before_ts!) rows!.delete(id);
    } else if (op === 'insert') {
      expect(rows!.has(id!)).toBe(false);
      rows!.set(id!, row!);
    } else if (op === 'update' || op === 'delete') {
      expect(before).toEqual(rows!.get(id!));
      expect(before).toBeDefined();
      if (op === 'update') rows!.set(id!, row!);
      else rows!.delete(id!);
    } else expect(op).toMatch(/^index_(created|dropped)$/);
    if (row !== undefined) expect(row.id).toBe(id);
  }

  #alter({ table, columns, renamed_from: old }: Change): void {
    const rows = this.tables.get(old ?? table)!;
    if (old !== undefined) this.tables.delete(old);
    this.tables.set(table, rows);
    for (const [id, { event_ts, members, ...values }] of rows) {
      const next: Row = { id, event_ts, members };
      for (const { name, default: missing } of columns!) next[name] = name in values ? values[name] : missing;
      rows.set(id, next);
    }
  }
}

function expectSame(model: Model, database: Database): void {
  expect([...model.tables.keys()].sort()).toEqual(
    database
      .tables()
      .map(({ name }) => name)
      .sort(),
  );
  for (const table of database.tables()) {
    const rows = rowsOf(table) as Row[];
    expect(new Map(rows.map((row) => [row.id, row]))).toEqual(model.tables.get(table.name));
  }
}

function expectOrder(changes: readonly Change[]): void {
  for (const [place, change] of changes.entries()) {
    if (place > 0) expect(change.lsn).toBeGreaterThan(changes[place - 1]!.lsn);
    expect(change.ts).toBe(1_000_000_000);
  }
  expect(changes.at(-1)?.commit_end ?? true).toBe(true);
}

describe('changes', () => {
  test.each([1, 2, 3, 4, 5, 6])('make an empty model equal to the tables (history %i)', async (seed) => {
    const random = new Random(seed);
    let fs: SimFs = simDisk(seed);
    const options = { ...KEPT, slicedOperations: seed % 2 === 0 ? 3 : 4096 };
    let database = await openSim(fs, options);
    const writer = new DatabaseWriter(random);
    for (let round = 0; round < 6; round++) {
      for (let step = 0; step < 25; step++) await writer.step(database);
      const changes = await changesFrom(database, undefined, undefined, 1 + random.below(30));
      expectOrder(changes);
      const model = new Model();
      for (const change of changes) model.apply(change);
      expectSame(model, database);
      // From any LSN, the rest is the same.
      const from = random.below(database.lastLsn + 1);
      expect(await changesFrom(database, from)).toEqual(changes.filter(({ lsn }) => lsn > from));
      if (round % 2 === 0) await database.close();
      else fs = fs.crash();
      database = await openSim(fs, options);
      expectOrder(await changesFrom(database));
    }
    await database.close();
  });

  test('of one table are those of this table, with the end of each commit on the last one shown', async () => {
    const database = await openSim(simDisk(), KEPT);
    const other = await database.createTable({ name: 'other' });
    const transaction = database.begin();
    transaction.insert(other, { event_ts: 1, members: [1] });
    transaction.insert(other, { event_ts: 2, members: [2] });
    transaction.insert(database.table(), { event_ts: 3, members: [3] });
    await transaction.commit();
    const changes = await changesFrom(database, undefined, 'other');
    expect(changes.map(({ op, commit_end: end }) => [op, end])).toEqual([
      ['table_created', true],
      ['insert', undefined],
      ['insert', true],
    ]);
    await database.close();
  });

  test('of many single inserts are commits of their own, with the columns that the table had then', async () => {
    const database = await openSim(simDisk(), KEPT);
    const table = database.table();
    const other = await database.createTable({ name: 'other' });
    const from = database.lastLsn;
    const random = new Random(5);
    const expected: unknown[] = [];
    for (let count = 0; count < 600; count++) {
      if (count === 300) {
        await database.alterTable(table.name, {
          kind: 'addColumn',
          column: { name: 'late', type: 'INTEGER', default: 7 },
        });
        expected.push(undefined);
      }
      const { name } = random.below(50) === 0 ? other : table;
      const values = name === table.name && count >= 300 ? { late: 7 } : {};
      await database.table(name).insert({ event_ts: count, members: [9, count + 10] });
      expected.push({ table: name, event_ts: count, members: [9, count + 10], ...values });
    }
    const changes = await changesFrom(database, from, undefined, 1000);
    const given = changes.map(({ row, table: name }) => {
      const { event_ts, members, late } = (row ?? {}) as Partial<Row>;
      return row && { table: name, event_ts, members, ...(late !== undefined && { late }) };
    });
    expect(given).toEqual(expected);
    expect(changes.every(({ commit_end: end }) => end)).toBe(true);
    expectOrder(changes);
    expect(await changesFrom(database, from, 'other')).toEqual(changes.filter(({ table }) => table === 'other'));
    const middle = changes[150]!.lsn;
    expect(await changesFrom(database, middle)).toEqual(changes.slice(151));
    await database.close();
  });

  test('give every row that one deletion removes an LSN of its own', async () => {
    const database = await openSim(simDisk(), KEPT);
    const table = database.table();
    for (let count = 0; count < 3; count++) await table.insert({ event_ts: 5, members: [7] });
    const { lsn, matched } = await table.delete(5, [7]);
    const deletes = (await changesFrom(database, lsn - 3)).map(({ lsn, op, id }) => [lsn, op, id]);
    expect(matched).toBe(3);
    expect(deletes).toEqual([
      [lsn - 2, 'delete', 1],
      [lsn - 1, 'delete', 2],
      [lsn, 'delete', 3],
    ]);
    expect((await table.insert({ event_ts: 5, members: [7] })).lsn).toBe(lsn + 1);
    await database.close();
  });

  test('are refused before the history and beyond the newest LSN, with the LSN to go on from', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    await database.table().insert({ event_ts: 5, members: [7] });
    expect(() => database.changes.read(0)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    await database.close();
    database = await openSim(fs, KEPT);
    const { oldestLsn } = database.changes;
    expect(oldestLsn).toBe(database.lastLsn);
    expect(() => database.changes.read(oldestLsn - 1)).toThrow(
      expect.objectContaining({ code: 'lsn_gone', fields: { oldest_lsn: oldestLsn } }),
    );
    expect(() => database.changes.read(oldestLsn + 1)).toThrow(
      expect.objectContaining({ code: 'lsn_ahead', fields: { last_lsn: oldestLsn } }),
    );
    await database.table().insert({ event_ts: 6, members: [7] });
    expect(await changesFrom(database, oldestLsn)).toHaveLength(1);
    await database.close();
  });

  test.each(['close', 'kill', 'crash'] as const)(
    'record once what a TTL has dropped, and a start after a %s keeps rows that came later',
    async (how) => {
      let fs = simDisk();
      let database = await openSim(fs, KEPT);
      for (const eventTs of [1, 999_999_990, 2]) {
        await database.table().insert({ event_ts: eventTs, members: [1] });
        await database.compact({ ttlSeconds: 20 });
      }
      await database.table().insert({ event_ts: 3, members: [2] });
      const { lastLsn } = database;
      const rows = rowsOf(database.table());
      expect(rows).toHaveLength(2);
      for (let starts = 0; starts < 2; starts++) {
        if (how === 'close') await database.close();
        else fs = how === 'kill' ? fs.kill() : fs.crash();
        database = await openSim(fs, KEPT);
        expect(rowsOf(database.table())).toEqual(rows);
        expect(database.lastLsn).toBe(lastLsn);
      }
      const drops = (await changesFrom(database)).filter(({ op }) => op === 'buckets_dropped');
      expect(drops.map(({ before_ts: beforeTs }) => beforeTs)).toEqual([999_999_980, 999_999_980]);
      await database.close();
    },
  );

  test('record what a TTL has dropped before the next one drops more, if recording it has failed', async () => {
    const database = await openSim(simDisk(), KEPT);
    const times = async () => rowsOf(database.table()).map(({ event_ts: eventTs }) => eventTs);
    const dropsOf = async () =>
      (await changesFrom(database)).filter(({ op }) => op === 'buckets_dropped').map(({ before_ts: ts }) => ts);
    for (const eventTs of [950_000_000, 999_999_990])
      await database.table().insert({ event_ts: eventTs, members: [1] });
    const full = new HedgerowError('disk_full', 'There is no room for the log.');
    const expire = vi.spyOn(Ddl.prototype, 'expire').mockRejectedValue(full);
    await database.compact({ ttlSeconds: 20 });
    expect(await times()).toEqual([999_999_990]);
    await database.table().insert({ event_ts: 2, members: [2] });
    // It fails again, so nothing else is dropped.
    await database.compact({ ttlSeconds: 100_000_000 });
    expect(await times()).toEqual([2, 999_999_990]);
    expect(await dropsOf()).toEqual([]);
    expire.mockRestore();
    // The record deletes what came since. This TTL keeps some of it, so nothing is recorded yet.
    await database.table().insert({ event_ts: 960_000_000, members: [3] });
    await database.compact({ ttlSeconds: 100_000_000 });
    expect(await times()).toEqual([2, 960_000_000, 999_999_990]);
    await database.compact({ ttlSeconds: 15 });
    expect(await times()).toEqual([999_999_990]);
    expect(await dropsOf()).toContain(999_999_980);
    await database.close();
  });

  test('inside a large commit are reached in many turns of the event loop', async () => {
    let turns = 0;
    const defer = (step: () => void) => {
      turns++;
      setImmediate(step);
    };
    const database = await openSim(simDisk(), { ...KEPT, defer, logFileBytes: 2 ** 22, segmentRows: 65_536 });
    const bulk = database.table().bulk();
    for (let count = 0; count < 20_000; count++) bulk.add({ event_ts: count, members: [7] });
    await bulk.commit();
    const reader = database.changes.read(database.lastLsn - 2);
    turns = 0;
    expect(await reader.next(1)).toHaveLength(1);
    expect(turns).toBeGreaterThan(18);
    expect(database.changes.heldBytes).toBeGreaterThan(500_000);
    // As if other readers held as much as all of them may.
    database.changes.heldBytes += 2 ** 28;
    const another = database.changes.read(database.lastLsn - 2);
    await expect(another.next(1)).rejects.toMatchObject({ code: 'overloaded' });
    another.close();
    reader.close();
    expect(database.changes.heldBytes).toBe(2 ** 28);
    await database.close();
  });

  test('are forgotten when the history is too long, and a reader that is too slow is told so', async () => {
    const database = await openSim(simDisk(), { history: { seconds: 1e9, bytes: 20_000 }, memoryBudgetBytes: 2 ** 22 });
    const table = database.table();
    const reader = database.changes.read(undefined);
    for (let count = 0; count < 400; count++) await table.insert({ event_ts: count, members: [7, 8, 9] });
    await database.compact();
    expect(database.changes.oldestLsn).toBeGreaterThan(100);
    await expect(reader.next(10)).rejects.toMatchObject({ code: 'lsn_gone' });
    reader.close();
    const changes = await changesFrom(database);
    expect(changes.at(-1)!.lsn).toBe(database.lastLsn);
    expect(changes).toHaveLength(database.lastLsn - database.changes.oldestLsn);
    await database.close();
  });
});
