// Loses power or kills the process at writes and syncs of the disk, while edges create nodes, nodes
// are changed and deleted, and node tables are altered and dropped. Every acknowledged change must
// be there, and every other change wholly or not at all: no edge has a number without a node, and
// no number and no key is used twice. HEDGEROW_CRASH_POINTS=all tries every point.

import type { Database, Transaction } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import { type Change, compact, expectWholeChanges, type Work } from '../support/crash-points.ts';
import { checkNodes, namedRows, nodeRows } from '../support/named-rows.ts';
import { range } from '../support/sim-tables.ts';

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

const STEPS: (Change | Work)[][] = [
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

/** Returns everything that can be read, as text. */
function stateOf(db: Database): string {
  const tables = db.tables().map((table) => {
    const rows = table.kinds === undefined ? [] : namedRows(db, table, {}, table.kinds.length > 1);
    return [table.item(), rows, table.count({})];
  });
  const nodes = db.nodes.tables().map((table) => [db.nodes.item(table, true), nodeRows(table)]);
  return JSON.stringify([tables, nodes]);
}

expectWholeChanges(
  {
    steps: STEPS,
    stateOf,
    check: checkNodes,
    goOn: async (db, changes) => (changes >= 2 ? insert(50, 'Ada', 'Zuse')(db) : undefined),
  },
  [
    ['power loss', 'at once', 5],
    ['kill', 'at once', 7],
    ['power loss', 'in slices', 7],
    ['kill', 'in slices', 5],
  ],
);
