// Loses power or kills the process at writes and syncs of the disk, while memories are stored,
// replaced and deleted. Every acknowledged change must be there, every other wholly or not at all:
// no memory has ended without its successor, and none has begun beside the one that it replaces.
// HEDGEROW_CRASH_POINTS=all tries every point.

import { expect } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import type { MemoryRow } from '../../src/memory/memory-rows.ts';
import { ensureMemoryTable } from '../../src/memory/memory-table.ts';
import { finish } from '../../src/schedule/steps.ts';
import { type Change, compact, expectWholeChanges, type Work } from '../support/crash-points.ts';
import { rowsOf } from '../support/sim-engine.ts';

const NOW_SECONDS = 1000;
const drive: Parameters<Memory['supersede']>[1] = async (steps) => finish(steps);
const memoryOf = (database: Database) => new Memory({ database, now: () => NOW_SECONDS * 1000 });

const remember =
  (what: string, who: string[], about: string[]): Change =>
  (db) =>
    memoryOf(db).remember({ what, who, about, when: 100 });

const supersede =
  (id: number, what: string, at: number, about?: string[]): Change =>
  (db) =>
    memoryOf(db).supersede({ id, what, at, about }, drive);

const forget =
  (id: number): Change =>
  (db) => {
    const { event_ts: eventTs } = memoriesIn(db).find((row) => row.id === id)!;
    const transaction = db.begin();
    transaction.deleteRow(db.table('memories'), { eventTs, id });
    return transaction.commit();
  };

const STEPS: (Change | Work)[][] = [
  [(db) => ensureMemoryTable(db)],
  [remember('one', ['Ada'], ['Orion', 'budget']), remember('two', ['Grace'], ['Orion'])],
  [supersede(1, 'one again', 200)],
  [compact],
  [supersede(2, 'two again', 210, ['Orion', 'new thing'])],
  // A successor first reads what it replaces, so it may be committed after what was asked later.
  [supersede(3, 'one once more', 300)],
  [remember('three', [], ['budget'])],
  [compact],
  [supersede(5, 'one at last', 400), compact],
  [forget(1)],
  [supersede(4, 'two at last', 500)],
  [compact],
  [remember('four', ['Linus'], [])],
];

function memoriesIn(db: Database): MemoryRow[] {
  return rowsOf(db.table('memories')) as unknown as MemoryRow[];
}

function stateOf(db: Database): string {
  const nodes = db.nodes.tables().map((table) => [db.nodes.item(table), rowsOf(table)]);
  const edges = db.tables().map((table) => [table.item(), table.definition, rowsOf(table)]);
  return JSON.stringify([nodes, edges]);
}

/** Checks the links between memories, and that the table was created with its indexes or not. */
function check(db: Database): void {
  const table = db.tables().find(({ name }) => name === 'memories');
  expect(db.nodes.tables().map(({ name }) => name)).toEqual(table === undefined ? [] : ['things']);
  if (table === undefined) return;
  expect([db.indexes('memories').length, db.textIndexes.list('memories').length]).toEqual([1, 1]);
  const rows = memoriesIn(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const replaced = rows.flatMap(({ supersedes }) => supersedes ?? []);
  expect(new Set(replaced).size).toBe(replaced.length);
  for (const { supersedes, event_ts: begin } of rows)
    if (supersedes !== null && byId.has(supersedes)) expect(byId.get(supersedes)!.end_ts).toBe(begin);
  // Nothing ends here but by its successor.
  for (const { id, end_ts: end } of rows) expect(end !== null).toBe(replaced.includes(id));
}

expectWholeChanges(
  {
    steps: STEPS,
    stateOf,
    check,
    // After the last crash, whoever asks for the table gets it.
    goOn: (db) => memoryOf(db).remember({ what: 'afterwards', about: ['Orion'], who: [], when: 600 }),
  },
  [
    ['power loss', 'at once', 3],
    ['kill', 'at once', 3],
    ['power loss', 'in slices', 5],
    ['kill', 'in slices', 5],
  ],
);
