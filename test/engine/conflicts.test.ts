// Tests transactions that conflict with other commits. A transaction sees snapshots of a single
// moment, the first commit that changes a row wins, and a failed statement leaves nothing behind.

import { describe, expect, test } from 'vitest';
import type { Database, Table, Transaction } from '../../src/engine/index.ts';
import { drain, openSim, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import { codeOf, fill, range } from '../support/sim-tables.ts';

const KEY = { eventTs: 3, id: 4 };
const NOW_SECONDS = 1_000_000_000;

function idsIn(transaction: Transaction, table: Table): number[] {
  return JSON.parse(`[${drain(transaction.scan(table, { format: 'json' }))}]`).map((row: { id: number }) => row.id);
}

function ids(table: Table): unknown[] {
  return rowsOf(table).map((row) => row.id);
}

async function other(database: Database, stage: (transaction: Transaction) => void): Promise<void> {
  const transaction = database.begin();
  stage(transaction);
  await transaction.commit();
}

describe('a pinned transaction', () => {
  test('sees all tables as they were when it began', async () => {
    const database = await openSim(simDisk());
    const one = database.table();
    const two = await database.createTable({ name: 'two' });
    await fill(one, range(0, 3));
    await fill(two, range(0, 3));
    const transaction = database.begin({ pinned: true });
    expect(transaction.lsn).toBe(database.lastLsn);
    await one.insert({ event_ts: 9, members: [1] });
    await two.delete(1, [1, 101]);
    await database.compact({});
    const later = await database.createTable({ name: 'later' });
    await fill(later, range(0, 3));
    await database.compact({});
    expect([one, two, later].map((table) => idsIn(transaction, table))).toEqual([[1, 2, 3], [1, 2, 3], []]);
    expect(transaction.snapshotOf(one)).toBe(transaction.snapshotOf(one));
    expect(transaction.snapshotOf(later).lsn).toBe(transaction.lsn);
    expect(transaction.overlayOf(one)).toBeUndefined();
    expect(database.figures().snapshotsOpen).toBe(3);
    transaction.rollback();
    transaction.rollback();
    expect(database.figures().snapshotsOpen).toBe(0);
    expect(() => transaction.snapshotOf(one)).toThrow(/has ended/);
    await database.close();
  });

  test('sees an earlier moment than one that is not pinned, which takes a snapshot at its first read of the table', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    const transaction = database.begin();
    await fill(table, range(0, 2));
    expect(idsIn(transaction, table)).toEqual([1, 2]);
    await fill(table, range(0, 2));
    expect(idsIn(transaction, table)).toEqual([1, 2]);
    transaction.rollback();
    await database.close();
  });
});

/** What another commit does to the row, and whether that conflicts with a change to the row. */
const MEANWHILE: [string, boolean, (database: Database, table: Table) => Promise<unknown>][] = [
  ['removes the row', true, (database, table) => other(database, (tx) => tx.deleteRow(table, KEY))],
  [
    'updates the row in place',
    true,
    (database, table) => other(database, (tx) => tx.updateRow(table, KEY, { event_ts: 3, members: [1] })),
  ],
  [
    'moves the row to another time',
    true,
    (database, table) => other(database, (tx) => tx.updateRow(table, KEY, { event_ts: 50, members: [1] })),
  ],
  [
    'moves the row away and back',
    true,
    async (database, table) => {
      await other(database, (tx) => tx.updateRow(table, KEY, { event_ts: 50, members: [1] }));
      await other(database, (tx) => tx.updateRow(table, { eventTs: 50, id: 4 }, { event_ts: 3, members: [3, 103] }));
    },
  ],
  ['deletes the row by time and members', true, (_, table) => table.delete(3, [3, 103])],
  [
    'deletes the row by time and members in a batch',
    true,
    (database, table) =>
      other(database, (tx) => {
        tx.delete(table, 3, [3, 103]);
        tx.insert(table, { event_ts: 3, members: [3, 103] });
      }),
  ],
  ['drops the row as too old', true, (database) => database.compact({ ttlSeconds: NOW_SECONDS - 10 })],
  [
    'changes other rows',
    false,
    (database, table) => other(database, (tx) => tx.deleteRow(table, { eventTs: 4, id: 5 })),
  ],
  ['inserts an equal row', false, (_, table) => table.insert({ event_ts: 3, members: [3, 103] })],
];

describe.each(MEANWHILE)('another commit that %s', (_, isInTheWay, meanwhile) => {
  test.each([
    ['in the log', false, false],
    ['in a segment', true, false],
    ['moved by a compaction since', false, true],
    ['moved from segment to segment since', true, true],
  ])(`${isInTheWay ? 'wins' : 'causes no conflict'} when the row is %s`, async (_place, before, after) => {
    for (const how of ['update', 'move', 'remove', 'update twice', 'scan and update'] as const) {
      const database = await openSim(simDisk(), { segmentRows: 4 });
      const table = database.table();
      await fill(table, range(0, 20));
      if (before) await database.compact({});
      const transaction = database.begin({ pinned: how !== 'move' });
      if (how === 'move') transaction.snapshotOf(table);
      await meanwhile(database, table);
      if (after) {
        await table.insert({ event_ts: 2, members: [2] });
        await database.compact({});
      }
      transaction.insert(table, { event_ts: 77, members: [7] });
      if (how === 'scan and update') expect(idsIn(transaction, table)).toHaveLength(21);
      if (how === 'remove') transaction.deleteRow(table, KEY);
      else transaction.updateRow(table, KEY, { event_ts: how === 'move' ? 60 : 3, members: [9] });
      if (how === 'update twice') transaction.updateRow(table, KEY, { event_ts: 3, members: [10] });
      const state = rowsOf(table);
      const { lastLsn } = database;
      expect(await codeOf(transaction.commit())).toBe(isInTheWay ? 'conflict' : 'none');
      if (isInTheWay) {
        expect(rowsOf(table)).toEqual(state);
        expect(database.lastLsn).toBe(lastLsn);
        expect(await codeOf(transaction.commit())).toBe('invalid_input');
      } else expect(ids(table).filter((id) => id === 4)).toHaveLength(how === 'remove' ? 0 : 1);
      expect(database.figures().snapshotsOpen).toBe(0);
      expect(table.updates.size).toBe(0);
      await database.close();
    }
  });
});

describe('a commit that is not yet durable', () => {
  test('wins over a transaction that cannot see it yet', async () => {
    for (const compacted of [false, true]) {
      const database = await openSim(simDisk());
      const table = database.table();
      await fill(table, range(0, 8));
      const first = database.begin();
      first.updateRow(table, KEY, { event_ts: 3, members: [1] });
      const committed = first.commit();
      // A transaction that needs no history must not, when it ends, remove the history that the
      // next transaction needs.
      database.begin({ pinned: true }).rollback();
      // This transaction begins before the commit is durable, so it sees the old row. The new row
      // has the same key.
      const second = database.begin({ pinned: true });
      expect(second.lsn).toBe(9);
      second.updateRow(table, KEY, { event_ts: 3, members: [2] });
      const third = database.begin({ pinned: true });
      await committed;
      if (compacted) await database.compact({});
      third.deleteRow(table, KEY);
      expect(await codeOf(second.commit())).toBe('conflict');
      expect(await codeOf(third.commit())).toBe('conflict');
      expect(rowsOf(table, { nodes: [1] }).map(({ id }) => id)).toContain(4);
      expect(table.updates.size).toBe(0);
      await database.close();
    }
  });

  test('wins over a second one at the same time, and each lost update is reported', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await table.insert({ event_ts: 3, members: [0], properties: { weight: 0 } });
    let won = 0;
    for (let round = 0; round < 20; round++) {
      const transactions = range(0, 5).map(() => {
        const transaction = database.begin();
        const [row] = JSON.parse(`[${drain(transaction.scan(table, { format: 'json' }))}]`);
        transaction.updateRow(
          table,
          { eventTs: 3, id: 1 },
          { event_ts: 3, members: [0], properties: { weight: row.weight + 1 } },
        );
        return transaction;
      });
      const codes = transactions.map((transaction) => codeOf(transaction.commit()));
      if (round % 3 === 0) await turn();
      if (round % 4 === 0) await database.compact({});
      won += (await Promise.all(codes)).filter((code) => code === 'none').length;
    }
    expect(won).toBe(20);
    expect(rowsOf(table)).toMatchObject([{ weight: 20 }]);
    await database.close();
  });
});

describe('the history of updates', () => {
  test('is dropped when no open transaction needs it', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await fill(table, range(0, 8));
    const touch = (id: number): Promise<void> =>
      other(database, (tx) => tx.updateRow(table, { eventTs: id - 1, id }, { event_ts: id - 1, members: [1] }));
    const oldest = database.begin({ pinned: true });
    await touch(1);
    await touch(2);
    const newest = database.begin({ pinned: true });
    await touch(1);
    await touch(3);
    expect(table.updates.size).toBe(3);
    newest.rollback();
    expect(table.updates.size).toBe(3);
    oldest.rollback();
    expect(table.updates.size).toBe(0);
    await touch(4);
    const last = database.begin({ pinned: true });
    await touch(5);
    await touch(5);
    expect(table.updates.size).toBe(1);
    last.updateRow(table, { eventTs: 3, id: 4 }, { event_ts: 3, members: [1] });
    await last.commit();
    await touch(6);
    expect(table.updates.size).toBe(0);
    await database.close();
  });
});

describe('a table that changes during a transaction', () => {
  const CHANGES: [string, (database: Database) => Promise<unknown>][] = [
    ['gets a column', (db) => db.alterTable('t', { kind: 'addColumn', column: { name: 'b', type: 'REAL' } })],
    ['loses a column', (db) => db.alterTable('t', { kind: 'dropColumn', column: 'a' })],
    ['has a column renamed', (db) => db.alterTable('t', { kind: 'renameColumn', column: 'a', to: 'c' })],
    ['is renamed', (db) => db.alterTable('t', { kind: 'renameTable', to: 'u' })],
    ['is dropped', (db) => db.dropTable('t')],
    [
      'is dropped and created again',
      async (db) => {
        await db.dropTable('t');
        await db.createTable({ name: 't', columns: [{ name: 'a', type: 'TEXT' }] });
      },
    ],
  ];

  test.each(CHANGES)(
    'can be read by a transaction that wrote to it, but the commit conflicts, if it %s',
    async (_, change) => {
      const database = await openSim(simDisk());
      const table = await database.createTable({ name: 't', columns: [{ name: 'a', type: 'INTEGER', default: 5 }] });
      await fill(table, range(0, 12));
      await database.compact({});
      const writers = [
        (tx: Transaction) => tx.insert(table, { event_ts: 1, members: [1], properties: { a: 3 } }),
        (tx: Transaction) => tx.updateRow(table, KEY, { event_ts: 3, members: [1] }),
        (tx: Transaction) => tx.deleteRow(table, KEY),
        (tx: Transaction) => tx.delete(table, 3, [3, 103]),
      ];
      const transactions = writers.map((write) => {
        const transaction = database.begin({ pinned: true });
        write(transaction);
        return transaction;
      });
      const reader = database.begin({ pinned: true });
      reader.insert(database.table(), { event_ts: 1, members: [1] });
      const { columns } = reader.snapshotOf(table);
      await change(database);
      await database.compact({});
      for (const transaction of transactions) {
        expect(idsIn(transaction, table).length).toBeGreaterThan(10);
        expect(await codeOf(transaction.commit())).toBe('conflict');
      }
      const scan = table.scan({ format: 'json', where: [{ column: 'A', low: 5, high: 5 }] }, reader.snapshotOf(table));
      expect(JSON.parse(`[${drain(scan)}]`)).toHaveLength(12);
      expect(columns.find('a')).toBeDefined();
      expect(await codeOf(reader.commit())).toBe('none');
      expect(database.figures().snapshotsOpen).toBe(0);
      await database.close();
    },
  );

  test('causes no conflict if only its threshold or its indexes change', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await fill(table, range(0, 12));
    const transaction = database.begin({ pinned: true });
    transaction.updateRow(table, KEY, { event_ts: 3, members: [1] });
    await database.setCompactThreshold(500, table.name);
    await database.createIndex(table.name, 'weight');
    await database.dropIndex(table.name, 'weight');
    expect(await codeOf(transaction.commit())).toBe('none');
    await database.close();
  });

  test('stores rows staged before the change under its new columns', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const columns = [
      { name: 'a', type: 'INTEGER' as const },
      { name: 'b', type: 'TEXT' as const },
    ];
    const table = await database.createTable({ name: 't', columns });
    const transaction = database.begin();
    transaction.insert(table, { event_ts: 1, members: [1], properties: { a: 3, b: 'x' } });
    await database.alterTable('t', { kind: 'dropColumn', column: 'a' });
    await database.alterTable('t', { kind: 'addColumn', column: { name: 'a', type: 'TEXT', default: 'new' } });
    await transaction.commit();
    const wanted = [
      { id: 1, event_ts: 1, members: [1], weight: null, mean_dist_m: null, formation: null, b: 'x', a: 'new' },
    ];
    expect(rowsOf(table)).toEqual(wanted);
    await database.compact({});
    expect(rowsOf(table)).toEqual(wanted);
    expect(rowsOf((await openSim(fs.crash())).table('t'))).toEqual(wanted);
  });
});

describe('rewinding to a mark', () => {
  test('allows rows to be removed by time and members again after a row was changed', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await fill(table, range(0, 3));
    const transaction = database.begin();
    const start = transaction.mark();
    transaction.changeRow(table, { eventTs: 0, id: 1 }, { event_ts: 0, members: [5] });
    transaction.rewind(start);
    transaction.delete(table, 0, [1]);
    await transaction.commit();
    await database.close();
  });

  test('undoes everything staged since, whatever was read in between', async () => {
    for (const compacted of [false, true]) {
      const database = await openSim(simDisk());
      const table = database.table();
      await fill(table, range(0, 6));
      if (compacted) await database.compact({});
      const transaction = database.begin({ pinned: true });
      const start = transaction.mark();
      const own = transaction.insert(table, { event_ts: 10, members: [1] });
      transaction.updateRow(table, KEY, { event_ts: 11, members: [1] });
      transaction.deleteRow(table, { eventTs: 1, id: 2 });
      const kept = idsIn(transaction, table);
      const mark = transaction.mark();
      transaction.deleteRow(table, { eventTs: 10, id: own.id });
      transaction.delete(table, 11, [1]);
      transaction.updateRow(table, { eventTs: 0, id: 1 }, { event_ts: 0, members: [5] });
      const burnt = transaction.insert(table, { event_ts: 1, members: [1] });
      expect(idsIn(transaction, table)).toEqual([1, burnt.id, 3, 5, 6]);
      expect(transaction.operations).toBe(7);
      transaction.rewind(mark);
      expect(transaction.operations).toBe(3);
      expect(idsIn(transaction, table)).toEqual(kept);
      transaction.updateRow(table, { eventTs: 10, id: own.id }, { event_ts: 12, members: [1] });
      expect(transaction.insert(table, { event_ts: 13, members: [1] }).id).toBe(burnt.id + 1);
      transaction.updateRow(table, { eventTs: 11, id: 4 }, { event_ts: 2, members: [4] });
      const last = idsIn(transaction, table);
      expect(last).toEqual([1, 3, 4, 5, 6, own.id, burnt.id + 1]);
      await transaction.commit();
      expect(ids(table)).toEqual(last);
      const again = database.begin();
      again.deleteRow(table, { eventTs: 0, id: 1 });
      again.rewind(start);
      expect(idsIn(again, table)).toEqual(last);
      await again.commit();
      expect(ids(table)).toEqual(last);
      await database.close();
    }
  });
});
