// Loses power or kills the process at writes and syncs of the disk, while rows are changed by id,
// transactions commit and conflict, and tables are altered. Every acknowledged change must be
// there, and every other change wholly or not at all. HEDGEROW_CRASH_POINTS=all tries every point;
// without it some are left out.

import { expect, test } from 'vitest';
import type { Database, EngineOptions, Transaction } from '../../src/engine/index.ts';
import { openSim, rowsOf } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { range } from '../support/sim-tables.ts';

/** Changes something that can be read. Changes are numbered in the order of the history. */
type Change = (db: Database) => Promise<unknown>;
/** Work that changes nothing that can be read. */
interface Work {
  work: Change;
}

const AT_ONCE: Partial<EngineOptions> = { core: 'release', segmentRows: 4, logFileBytes: 5000 };

/** Returns options with which every commit runs in slices and yields after each step. */
function inSlices(): Partial<EngineOptions> {
  let us = 0;
  return { ...AT_ONCE, slicedOperations: 1, nowUs: () => (us += 10_000) };
}

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

const compact: Work = { work: (db) => db.compact({}) };

/** The entries of one inner list run concurrently. */
const HISTORY: (Change | Work)[][] = [
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
const CHANGES = HISTORY.flat().filter((step) => typeof step === 'function');

/** Returns everything that can be read, as text. */
function stateOf(db: Database): string {
  return JSON.stringify(db.tables().map((table) => [table.item(), rowsOf(table), table.count({})]));
}

async function statesOf(): Promise<string[]> {
  const db = await openSim(new SimFs(1), AT_ONCE);
  const states = [stateOf(db)];
  for (const step of HISTORY.flat()) {
    await (typeof step === 'function' ? step(db) : step.work(db));
    if (typeof step === 'function') states.push(stateOf(db));
  }
  await db.close();
  expect(new Set(states).size).toBe(CHANGES.length + 1);
  return states;
}

/**
 * Runs the history on a disk that stops at its operation number `crashAt`, not counting opens and
 * reads. Returns the number of the last acknowledged change, counting from 1.
 */
async function runUntil(fs: SimFs, crashAt: number, options: Partial<EngineOptions>): Promise<number> {
  let acknowledged = 0;
  let changes = 0;
  fs.schedule = ({ kind }) => (kind !== 'open' && kind !== 'read' && ++changes === crashAt ? 'crash' : undefined);
  const run = async (): Promise<void> => {
    const db = await openSim(fs, options);
    for (const group of HISTORY) {
      await Promise.all(
        group.map(async (step) => {
          if (typeof step !== 'function') return void (await step.work(db));
          await step(db);
          acknowledged = Math.max(acknowledged, CHANGES.indexOf(step, acknowledged) + 1);
        }),
      );
    }
    await db.close();
  };
  await Promise.race([run().catch((error) => (fs.stopped ? undefined : Promise.reject(error))), fs.whenStopped]);
  return acknowledged;
}

/**
 * Checks that the state is one of the states in the history, but none before the acknowledged one,
 * and that the state survives a compaction and another restart.
 */
async function check(found: SimFs, states: readonly string[], acknowledged: number): Promise<number> {
  let db = await openSim(found, AT_ONCE);
  const state = stateOf(db);
  const place = states.indexOf(state);
  expect(place, state).toBeGreaterThanOrEqual(acknowledged);
  for (const table of db.tables()) {
    const ids = rowsOf(table).map(({ id }) => id as number);
    expect(new Set(ids).size).toBe(ids.length);
    expect(table.nextId).toBeGreaterThan(Math.max(0, ...ids));
  }
  await db.compact({});
  expect(stateOf(db)).toBe(state);
  db = await openSim(found.crash(), AT_ONCE);
  expect(stateOf(db)).toBe(state);
  await db.close();
  return place;
}

const EVERY = process.env.HEDGEROW_CRASH_POINTS === 'all';

test.each([
  ['power loss', 'at once', 2, () => AT_ONCE],
  ['kill', 'at once', 5, () => AT_ONCE],
  ['power loss', 'in slices', 3, inSlices],
  ['kill', 'in slices', 5, inSlices],
] as const)(
  '%s at writes and syncs leaves only whole changes (commits run %s, 1 of every %i points is tried)',
  async (what, _, stride, options) => {
    const states = await statesOf();
    const places = new Set<number>();
    let crashAt = 1;
    for (; ; crashAt += EVERY ? 1 : stride) {
      const fs = new SimFs(crashAt);
      const acknowledged = await runUntil(fs, crashAt, options());
      if (!fs.stopped) break;
      places.add(await check(what === 'kill' ? fs.kill() : fs.crash(), states, acknowledged));
    }
    expect(crashAt).toBeGreaterThan(100);
    expect(places.size).toBeGreaterThan(CHANGES.length * 0.8);
  },
  300_000,
);
