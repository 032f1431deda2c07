// Loses power or kills the process at writes and syncs of the disk, while edges create nodes, nodes
// are changed and deleted, and node tables are altered and dropped. Every acknowledged change must
// be there, and every other change wholly or not at all: no edge has a number without a node, and
// no number and no key is used twice. HEDGEROW_CRASH_POINTS=all tries every point.

import { expect, test } from 'vitest';
import type { Database, EngineOptions, Transaction } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import { checkNodes, namedRows, nodeRows } from '../support/named-rows.ts';
import { openSim } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { range } from '../support/sim-tables.ts';

/** Changes something that can be read. */
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

const insert =
  (event_ts: number, ...members: MemberInput[]): Change =>
  (db) =>
    db.table('calls').insert({ event_ts, members });

/** Inserts lines, of which the core reads most. */
const lines =
  (from: number, to: number): Change =>
  (db) => {
    const bulk = db.table('calls').bulk();
    const text = range(from, to).map((time) => `{"event_ts":${time},"members":["p${time}","p${time + 1}"]}\n`);
    bulk.addLines(Buffer.from(text.join('')));
    bulk.add({ event_ts: to, members: ['Ada', { kind: 'Person', key: `q"${to}` }] });
    return bulk.commit();
  };

const changed =
  (stage: (transaction: Transaction, db: Database) => void): Change =>
  (db) => {
    const transaction = db.begin();
    stage(transaction, db);
    return transaction.commit();
  };

/** Gives a node other attributes, or creates it. */
const write = (key: string, born: number): Change =>
  changed((transaction, db) => {
    const person = db.nodes.table('Person');
    const number = db.nodes.find(person, key);
    if (number === 0) transaction.insertNode(person, { name: key, born });
    else {
      const properties = { name: key, born };
      transaction.updateRow(person, at(number), { event_ts: number, members: [number], properties });
    }
  });

const remove = (key: string): Change =>
  changed((transaction, db) => {
    const number = db.nodes.find(db.nodes.table('Person'), key);
    transaction.deleteRow(db.nodes.table('Person'), at(number));
  });

const at = (number: number) => ({ eventTs: number, id: number });

const compact: Work = { work: (db) => db.compact({}) };

const HISTORY: (Change | Work)[][] = [
  [
    (db) =>
      db.nodes.createTable({
        name: 'Person',
        key: { name: 'name', type: 'TEXT' },
        columns: [{ name: 'born', type: 'INTEGER' }],
      }),
  ],
  [(db) => db.createTable({ name: 'calls', memberTables: ['Person'] })],
  [insert(1, 'Ada', 'Grace')],
  [lines(2, 9)],
  [compact],
  [write('Ada', 1815)],
  [write('Alan', 1912), compact],
  [
    changed((transaction, db) => {
      const calls = db.table('calls');
      transaction.insert(calls, { event_ts: 20, members: ['Alan', 'Barbara'] });
      transaction.insert(calls, { event_ts: 21, members: ['Barbara', 'Edsger'] });
      transaction.delete(calls, 3, ['p3', 'p4']);
    }),
  ],
  [(db) => db.table('calls').delete(20, ['Barbara', 'Alan'])],
  [remove('Alan')],
  [compact],
  [lines(10, 14)],
  [
    (db) =>
      db.nodes.alterTable('Person', { kind: 'addColumn', column: { name: 'city', type: 'TEXT', default: 'Rome' } }),
  ],
  [insert(30, 'Alan')],
  [(db) => db.nodes.createTable({ name: 'Dog', key: { name: 'tag', type: 'INTEGER' } })],
  [(db) => db.createTable({ name: 'walks', memberTables: ['Person', 'Dog'] })],
  [
    (db) =>
      db.table('walks').insert({
        event_ts: 1,
        members: [
          { kind: 'Dog', key: 7 },
          { kind: 'Person', key: 'Grace' },
        ],
      }),
  ],
  [compact, write('Alan', 1912)],
  [(db) => db.nodes.alterTable('Dog', { kind: 'renameTable', to: 'Hound' })],
  [(db) => db.dropTable('walks')],
  [(db) => db.nodes.dropTable('Hound')],
  [insert(40, 'Konrad')],
  [compact],
];
const CHANGES = HISTORY.flat().filter((step) => typeof step === 'function');

/** Returns everything that can be read, as text. */
function stateOf(db: Database): string {
  const tables = db.tables().map((table) => {
    const rows = table.kinds === undefined ? [] : namedRows(db, table, {}, table.kinds.length > 1);
    return [table.item(), rows, table.count({})];
  });
  const nodes = db.nodes.tables().map((table) => [db.nodes.item(table, true), nodeRows(table)]);
  return JSON.stringify([tables, nodes]);
}

async function statesOf(): Promise<string[]> {
  const db = await openSim(new SimFs(1), AT_ONCE);
  const states = [stateOf(db)];
  for (const step of HISTORY.flat()) {
    await (typeof step === 'function' ? step(db) : step.work(db));
    if (typeof step === 'function') states.push(stateOf(db));
  }
  checkNodes(db);
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

/** Checks the state found, and that it survives a compaction, a further insert and a restart. */
async function check(found: SimFs, states: readonly string[], acknowledged: number): Promise<number> {
  const db = await openSim(found, AT_ONCE);
  const state = stateOf(db);
  const place = states.indexOf(state);
  expect(place, state).toBeGreaterThanOrEqual(acknowledged);
  checkNodes(db);
  await db.compact({});
  expect(stateOf(db)).toBe(state);
  if (place >= 2) await insert(50, 'Ada', 'Zuse')(db);
  checkNodes(db);
  const after = stateOf(db);
  const again = await openSim(found.crash(), AT_ONCE);
  expect(stateOf(again)).toBe(after);
  checkNodes(again);
  await again.close();
  return place;
}

const EVERY = process.env.HEDGEROW_CRASH_POINTS === 'all';

test.each([
  ['power loss', 'at once', 5, () => AT_ONCE],
  ['kill', 'at once', 7, () => AT_ONCE],
  ['power loss', 'in slices', 7, inSlices],
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
