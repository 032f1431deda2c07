// Loses power or kills the process at writes and syncs of the disk, while rows are changed by id,
// transactions commit and conflict, and tables are altered. Every acknowledged change must be
// there, and every other change wholly or not at all. HEDGEROW_CRASH_POINTS=all tries every point;
// without it some are left out.

import { expect } from 'vitest';
import type { Database, Transaction } from '../../src/engine/index.ts';
import { type Change, compact, expectWholeChanges, type Work } from '../support/crash-points.ts';
import { rowsOf } from '../support/sim-engine.ts';
import { range } from '../support/sim-tables.ts';

function inserted(from: number, to: number, table?: string): Change {
  return (db) => {
    const bulk = db.table(table).bulk();
    for (const time of range(from, to)) bulk.add({ event_ts: time, members: [time, 100], properties: { weight: 0 } });
    return bulk.commit();
  };
}

function changed(stage: (transaction: Transaction, db: Database) => void): Change {
  return (db) => {
    const transaction = db.begin({ pinned: true });
    stage(transaction, db);
    return transaction.commit();
  };
}

/**
 * Raises the weight of the rows with a time in [from, to), but removes some of them and moves some.
 * Also inserts a row and updates it.
 */
function statement(from: number, to: number): Change {
  return changed((transaction, db) => {
    const table = db.table();
    for (const row of rowsOf(table, { startTs: from, endTs: to - 1 }, transaction.snapshotOf(table))) {
      const [id, eventTs] = [row.id as number, row.event_ts as number];
      const key = { eventTs, id };
      if (id % 7 === 3) transaction.deleteRow(table, key);
      else {
        const edge = { members: row.members as number[], properties: { weight: (row.weight as number) + 1 } };
        transaction.updateRow(table, key, { event_ts: id % 5 === 0 ? eventTs + 2 : eventTs, ...edge });
      }
    }
    const { id } = transaction.insert(table, { event_ts: from, members: [from], properties: { weight: 50 } });
    transaction.updateRow(table, { eventTs: from, id }, { event_ts: to, members: [to], properties: { weight: 51 } });
  });
}

/** Changes one row in two transactions at once; the first commit wins. */
const rivals: Change = async (db) => {
  const [first, second] = [1, 2].map((member) => {
    const transaction = db.begin();
    const table = db.table();
    const [row] = rowsOf(table, {}, transaction.snapshotOf(table));
    const key = { eventTs: row!.event_ts as number, id: row!.id as number };
    transaction.updateRow(table, key, { event_ts: key.eventTs, members: [member], properties: { weight: 99 } });
    return transaction;
  });
  const won = first!.commit();
  const lost = await second!.commit().then(
    () => 'nothing',
    (error: { code: string }) => error.code,
  );
  await won;
  expect(lost).toBe('conflict');
};

const STEPS: (Change | Work)[][] = [
  [inserted(0, 14)],
  [statement(0, 8)],
  [compact],
  [rivals],
  [statement(2, 12)],
  [(db) => db.createTable({ name: 'other', columns: [{ name: 'a', type: 'INTEGER', default: 1 }] })],
  [inserted(0, 6, 'other')],
  [compact, statement(0, 5)],
  [(db) => db.alterTable('other', { kind: 'addColumn', column: { name: 'b', type: 'TEXT', default: 'x' } })],
  [
    changed((tx, db) =>
      tx.updateRow(db.table('other'), { eventTs: 2, id: 3 }, { event_ts: 2, members: [7], properties: { b: 'y' } }),
    ),
  ],
  [(db) => db.alterTable('other', { kind: 'renameColumn', column: 'b', to: 'c' })],
  [compact, inserted(6, 9, 'other')],
  [(db) => db.alterTable('other', { kind: 'dropColumn', column: 'a' })],
  [statement(6, 14), changed((tx, db) => tx.deleteRow(db.table('other'), { eventTs: 1, id: 2 }))],
  [(db) => db.alterTable('other', { kind: 'renameTable', to: 'another' })],
  [
    changed((tx, db) =>
      tx.updateRow(db.table('another'), { eventTs: 4, id: 5 }, { event_ts: 4, members: [8], properties: { c: 'z' } }),
    ),
  ],
  [compact],
  [rivals],
];

/** Returns everything that can be read, as text. */
function stateOf(db: Database): string {
  return JSON.stringify(db.tables().map((table) => [table.item(), rowsOf(table), table.count({})]));
}

/** Checks that no id is used twice, or will be. */
function checkIds(db: Database): void {
  for (const table of db.tables()) {
    const ids = rowsOf(table).map(({ id }) => id as number);
    expect(new Set(ids).size).toBe(ids.length);
    expect(table.nextId).toBeGreaterThan(Math.max(0, ...ids));
  }
}

expectWholeChanges({ steps: STEPS, stateOf, check: checkIds }, [
  ['power loss', 'at once', 2],
  ['kill', 'at once', 5],
  ['power loss', 'in slices', 3],
  ['kill', 'in slices', 5],
]);
