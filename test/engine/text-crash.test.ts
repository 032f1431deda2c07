// Loses power or kills the process at writes and syncs of the disk, while a text index is made, its
// rows change and are compacted, and it is dropped. Every acknowledged change must be there, every
// other wholly or not at all, and the words of text blocks must be those of the rows.
// HEDGEROW_CRASH_POINTS=all tries every point.

import { type Database, searchStatistics, type Table } from '../../src/engine/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { analyzerOf, documentOf, parseSearch, Statistics } from '../../src/text/index.ts';
import { type Change, compact, expectWholeChanges, type Work } from '../support/crash-points.ts';
import { rowsOf } from '../support/sim-engine.ts';
import { range } from '../support/sim-tables.ts';

const QUERIES = ['budget', '"travel budget"', 'tra*', 'w1 w2 w3 -draft', '+budget w4'];

const insert =
  (from: number, to: number): Change =>
  (db) => {
    const bulk = db.table('notes').bulk();
    for (const time of range(from, to))
      bulk.add({
        event_ts: time,
        members: [time % 3, 7],
        properties: { title: `travel budget w${time % 5}`, ...(time % 2 ? { body: `draft w${time}` } : {}) },
      });
    return bulk.commit();
  };

const createIndex =
  (language: 'none' | 'english', ...columns: string[]): Change =>
  (db) =>
    db.textIndexes.create('notes', { columns, language });

const dropIndex: Change = (db) => db.textIndexes.drop('notes');

/** The table has the column `title` at all times. */
const last: Change = (db) =>
  db.table('notes').insert({ event_ts: 99, members: [1], properties: { title: 'the last budget' } });

const TEXT = { type: 'TEXT' as const };

const STEPS: (Change | Work)[][] = [
  [
    (db) =>
      db.createTable({
        name: 'notes',
        columns: [
          { name: 'title', ...TEXT },
          { name: 'body', ...TEXT },
        ],
      }),
  ],
  [insert(1, 9)],
  [createIndex('english', 'title', 'body')],
  [insert(9, 12)],
  [(db) => db.table('notes').delete(3, [0, 7])],
  [compact],
  [insert(12, 20), compact],
  [(db) => db.alterTable('notes', { kind: 'renameColumn', column: 'body', to: 'content' })],
  [dropIndex],
  [createIndex('none', 'content')],
  [(db) => db.table('notes').delete(5, [2, 7])],
  [compact],
  [(db) => db.alterTable('notes', { kind: 'dropColumn', column: 'content' })],
  [(db) => last(db)],
];

function stateOf(db: Database): string {
  return JSON.stringify(db.tables().map((table) => [table.item(), table.definition.text, rowsOf(table)]));
}

/** Compares the statistics of searches, which read the text blocks, with those of the rows. */
function check(db: Database): void {
  for (const table of db.tables()) if (table.definition.text !== undefined) checkTable(table, table.definition.text);
}

function checkTable(table: Table, { columns, language }: NonNullable<Table['definition']['text']>): void {
  const names = columns.map((id) => table.columns.withId(id)!.name);
  const analyzer = analyzerOf(language);
  const view = { version: table.version, lsn: table.context.committer.visibleLsn, overlay: undefined };
  for (const query of QUERIES) {
    const parts = parseSearch(query, analyzer);
    const naive = new Statistics(parts);
    for (const row of rowsOf(table))
      naive.add(
        documentOf(
          analyzer,
          names.map((name) => row[name] as string | null),
        ),
      );
    const found = finish(searchStatistics(table, view, { columns, language, parts }));
    const wanted = { rows: naive.documents, averageLength: naive.averageLength, weights: naive.idfs() };
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new Error(`${query}: ${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}`);
  }
}

expectWholeChanges(
  { steps: STEPS, stateOf, check, goOn: (db, changes) => Promise.resolve(changes > 0 ? last(db) : 0) },
  [
    ['power loss', 'at once', 5],
    ['kill', 'at once', 7],
    ['power loss', 'in slices', 7],
    ['kill', 'in slices', 5],
  ],
);
