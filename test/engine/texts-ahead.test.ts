// Tests the text blocks that are built after commits: which rows they cover without any search,
// that each row is built once, and that they give way to all that matters more.

import { describe, expect, test } from 'vitest';
import type { CoreMemtable } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { textWorkOf } from '../../src/engine/texts/text-tag.ts';
import { HedgerowError } from '../../src/errors.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { Scheduler, type WorkKind } from '../../src/schedule/scheduler.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const PIECE = 64;

/** A scheduler in which the building of text blocks goes on only in `turns`. */
class HeldTexts extends Scheduler {
  readonly #waiting: (() => void)[] = [];

  override pause(kind: WorkKind): Promise<void> {
    return kind === 'texts' ? new Promise((resume) => this.#waiting.push(resume)) : super.pause(kind);
  }

  /** Lets the building go on for a number of turns, or until it ends. Returns the number. */
  async turns(most = 10_000): Promise<number> {
    for (let turn = 0; turn < most; turn++) {
      const resume = this.#waiting.shift();
      if (resume === undefined) return turn;
      resume();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return most;
  }
}

async function opened({ disk = simDisk(), ...more }: Record<string, unknown> & { disk?: ReturnType<typeof simDisk> }) {
  const loop = new HeldTexts();
  const options = { memtableLimits: { rows: 100_000, smallRows: 8 }, textPieceRows: PIECE, logFileBytes: 2 ** 22 };
  const database = await openSim(disk, { ...options, scheduler: loop, ...more });
  const embedded = new EmbeddedStatements({ database });
  const run = async (text: string, parameters = {}) => (await embedded.run(text, parameters)).rows;
  return { database, run, loop };
}

async function withNotes(more: Record<string, unknown> = {}) {
  const all = await opened(more);
  await makeNotes(all.run, 'notes');
  return all;
}

async function makeNotes(run: (text: string) => Promise<unknown>, name: string): Promise<void> {
  await run(`CREATE HYPEREDGE TABLE ${name} () PROPERTIES (body TEXT)`);
  await run(`CREATE TEXT INDEX ON ${name} (body)`);
}

async function insert(
  database: Database,
  count: number,
  name = 'notes',
  wordsOf = (_row: number) => 'all',
): Promise<void> {
  const bulk = database.table(name).bulk();
  for (let row = 0; row < count; row++)
    bulk.add({ event_ts: row, members: [1], properties: { body: `word${row % 10} ${wordsOf(row)}` } });
  await bulk.commit();
}

/** The last rows that blocks cover, in each memtable with any, before a search. */
function coveredOf(database: Database, name = 'notes'): number[] {
  const { context, version } = database.table(name);
  return version.memtables.map(({ memtable }) => context.texts.coveredOf(memtable).rows);
}

function stretchesOf(database: Database, memtable: CoreMemtable): number[] {
  const { context, columns, definition } = database.table('notes');
  const pieces = context.texts.of(memtable, textWorkOf(columns, definition.text!));
  const sizes: number[] = [];
  for (let piece = pieces.at(0); piece !== undefined; piece = pieces.at(piece.to)) sizes.push(piece.to - piece.from);
  return sizes;
}

const FOUND = "MATCH (n:notes) WHERE search(n, 'word3') RETURN COUNT(*) AS n";

describe('text blocks are built after commits', () => {
  test('for full blocks only, each row once, whatever the size of the commits', async () => {
    const { database, run, loop } = await withNotes();
    await insert(database, 10 * PIECE + 5);
    expect(coveredOf(database)).toEqual([0]);
    expect(await loop.turns()).toBeGreaterThan(10);
    const { memtable } = database.table('notes').version.memtables.at(-1)!;
    expect(stretchesOf(database, memtable)).toEqual(new Array(10).fill(PIECE));
    for (let commit = 0; commit < 30; commit++) {
      await insert(database, 9);
      await loop.turns();
    }
    expect(memtable.rows).toBe(10 * PIECE + 5 + 270);
    expect(stretchesOf(database, memtable)).toEqual(new Array(14).fill(PIECE));
    expect(await run(FOUND)).toEqual([{ n: 65 + 30 }]);
    await database.close();
  });

  test('for long texts by their bytes', async () => {
    const { database, loop } = await withNotes({ textPieceRows: 4096, memoryBudgetBytes: 2 ** 27 });
    await insert(database, 20, 'notes', () => 'a long text '.repeat(4000));
    await loop.turns();
    expect(coveredOf(database)[0]).toBeGreaterThanOrEqual(11);
    await database.close();
  });

  test('also for the last rows of a memtable that is not written to any more', async () => {
    const { database, run, loop } = await withNotes({ memtableLimits: { rows: 100, smallRows: 8 } });
    for (let commit = 0; commit < 24; commit++) await insert(database, 30);
    await loop.turns();
    const rows = database.table('notes').version.memtables.map(({ memtable }) => memtable.rows);
    expect(rows.length).toBeGreaterThan(4);
    const covered = coveredOf(database);
    // All but the last rows of the last two, which are too few to begin for.
    expect(covered.slice(0, -2)).toEqual(rows.slice(0, -2));
    expect(await run(FOUND)).toEqual([{ n: 72 }]);
    await database.close();
  });

  test('after the database was opened again', async () => {
    const disk = simDisk();
    const { database } = await withNotes({ disk });
    await insert(database, 5 * PIECE);
    await database.close();
    const again = await opened({ disk });
    expect(coveredOf(again.database)).toEqual([0]);
    await again.loop.turns();
    expect(coveredOf(again.database)).toEqual([5 * PIECE]);
    expect(await again.run(FOUND)).toEqual([{ n: 32 }]);
    await again.database.close();
  });

  test('while searches, deletions and compactions go on', async () => {
    const { database, run, loop } = await withNotes();
    let live = 0;
    for (let round = 0; round < 20; round++) {
      await insert(database, 100);
      live += 10;
      await loop.turns(round % 7);
      if (round % 3 === 0) {
        await run('DELETE FROM notes WHERE event_ts = 3');
        live = (round + 1) * 9;
      }
      if (round === 11) await database.compact({});
      expect(await run(FOUND)).toEqual([{ n: live }]);
      await loop.turns(2);
    }
    await loop.turns();
    await database.close();
  });
});

describe('text blocks are not built after commits', () => {
  test('of a table without an index, that was dropped, or when the database closes', async () => {
    const { database, run, loop } = await withNotes();
    await run('CREATE HYPEREDGE TABLE plain () PROPERTIES (body TEXT)');
    await makeNotes(run, 'others');
    await insert(database, 5 * PIECE, 'plain');
    expect(await loop.turns()).toBe(0);
    await insert(database, 5 * PIECE, 'others');
    await loop.turns(2);
    await run('DROP HYPEREDGE TABLE others');
    expect(await loop.turns()).toBeLessThan(3);
    expect(database.table('notes').context.texts.count).toBe(0);
    await insert(database, 5 * PIECE);
    await loop.turns(2);
    await database.close();
    expect(await loop.turns()).toBeLessThan(3);
  });

  test('by dropping the blocks of others', async () => {
    const { database, run, loop } = await withNotes({ memoryBudgetBytes: 2 ** 20 });
    await makeNotes(run, 'others');
    const many = (row: number) => Array.from({ length: 20 }, (_, place) => `f${row}x${place}`).join(' ');
    await insert(database, 4000, 'notes', many);
    await loop.turns();
    const before = coveredOf(database);
    expect(before[0]).toBeLessThan(4000);
    await insert(database, 1000, 'others', many);
    await loop.turns();
    expect([coveredOf(database), coveredOf(database, 'others')]).toEqual([before, [0]]);
    await database.close();
  });

  test('again and again when there is no memory', async () => {
    const { database, run, loop } = await withNotes();
    const { texts } = database.table('notes').context;
    await insert(database, 2 * PIECE);
    await loop.turns();
    expect(coveredOf(database)).toEqual([2 * PIECE]);
    const { memtable } = database.table('notes').version.memtables.at(-1)!;
    let asked = 0;
    memtable.recordsOf = () => {
      asked++;
      throw new HedgerowError('overloaded', 'No memory.');
    };
    for (let commit = 0; commit < 2 * PIECE; commit++) {
      await insert(database, 1);
      await loop.turns();
    }
    expect([asked, texts.count]).toEqual([2, 1]);
    delete (memtable as { recordsOf?: unknown }).recordsOf;
    expect(await run(FOUND)).toEqual([{ n: 13 }]);
    await database.close();
  });

  test('after an error that is no lack of memory, of which the operator is told', async () => {
    const told: unknown[] = [];
    const { database, run, loop } = await withNotes({
      notice: (message: string, fields: unknown) => told.push([message, fields]),
    });
    await insert(database, PIECE - 1);
    const { memtable } = database.table('notes').version.memtables.at(-1)!;
    memtable.recordsOf = () => {
      throw new Error('a broken row');
    };
    await insert(database, 1);
    await loop.turns();
    expect(told).toEqual([
      ['text blocks could not be built before a search', { table: 'notes', detail: 'a broken row' }],
    ]);
    delete (memtable as { recordsOf?: unknown }).recordsOf;
    await insert(database, PIECE);
    await loop.turns();
    expect(coveredOf(database)).toEqual([2 * PIECE]);
    expect(await run(FOUND)).toEqual([{ n: 13 }]);
    await database.close();
  });
});
