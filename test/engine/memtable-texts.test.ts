// Tests the text blocks over rows of memtables: which rows they cover, what they cost, when they
// are dropped, and that searches are the same without them.

import { describe, expect, test } from 'vitest';
import { type CoreMemtable, loadCore } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { MemtableTexts } from '../../src/engine/texts/memtable-texts.ts';
import type { TextPieces } from '../../src/engine/texts/text-pieces.ts';
import { textWorkOf } from '../../src/engine/texts/text-tag.ts';
import { seenMarks } from '../../src/engine/texts/visible-rows.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { SimFollower } from '../support/follower.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const MEMTABLE = { rows: 100_000, smallRows: 8 };

async function opened(more = {}, disk = simDisk()) {
  const database = await openSim(disk, { memtableLimits: MEMTABLE, textPieceRows: 64, ...more });
  const embedded = new EmbeddedStatements({ database });
  const run = async (text: string, parameters = {}) => (await embedded.run(text, parameters)).rows;
  return { database, run };
}

async function withNotes(more = {}) {
  const { database, run } = await opened(more);
  await run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT, other TEXT)');
  await run('CREATE TEXT INDEX ON notes (body)');
  return { database, run };
}

async function insert(
  database: Database,
  count: number,
  bodyOf = (row: number) => `word${row % 10} all`,
  name = 'notes',
) {
  const bulk = database.table(name).bulk();
  for (let row = 0; row < count; row++)
    bulk.add({ event_ts: count - row, members: [1], properties: { body: bodyOf(row), other: `x${row % 3}` } });
  await bulk.commit();
}

const countOf = async (run: (text: string, parameters?: object) => Promise<Record<string, unknown>[]>, query: string) =>
  (await run('MATCH (n:notes) WHERE search(n, $query) RETURN COUNT(*) AS n', { query }))[0]!.n;

function memtableOf(database: Database, name = 'notes'): CoreMemtable {
  return database.table(name).version.memtables.at(-1)!.memtable;
}

function piecesOf(database: Database, name = 'notes'): TextPieces {
  const { context, columns, definition } = database.table(name);
  return context.texts.of(memtableOf(database, name), textWorkOf(columns, definition.text!));
}

/** The stretches of rows that have a block. */
function stretchesOf(pieces: TextPieces): [from: number, to: number][] {
  const stretches: [number, number][] = [];
  for (let piece = pieces.at(0); piece !== undefined; piece = pieces.at(piece.to))
    stretches.push([piece.from, piece.to]);
  return stretches;
}

describe('text blocks over rows of a memtable', () => {
  test('are made by a search, cover the rows but the last few, and take smaller ones in', async () => {
    const { database, run } = await withNotes();
    await insert(database, 150);
    expect(database.table('notes').context.texts.count).toBe(0);
    expect(await countOf(run, 'word3')).toBe(15);
    expect(stretchesOf(piecesOf(database))).toEqual([
      [0, 64],
      [64, 128],
      [128, 150],
    ]);
    await insert(database, 3);
    expect(await countOf(run, 'word2')).toBe(16);
    expect(piecesOf(database).covered).toBe(150);
    await insert(database, 5);
    expect(await countOf(run, 'word2')).toBe(17);
    expect(stretchesOf(piecesOf(database)).slice(2)).toEqual([
      [128, 150],
      [150, 158],
    ]);
    await insert(database, 20);
    expect(await countOf(run, 'word2')).toBe(19);
    // The block of 8 rows is taken in by that of 20, which then is as large as the one before it.
    expect(stretchesOf(piecesOf(database))).toEqual([
      [0, 64],
      [64, 128],
      [128, 178],
    ]);
    await database.close();
  });

  test('are full before that if texts are long, or have very many words', async () => {
    const { database, run } = await withNotes({ textPieceRows: 4096, logFileBytes: 2 ** 22 });
    await insert(database, 300, (row) => (row < 40 ? 'long text '.repeat(6000) : `w${row}`));
    expect(await countOf(run, 'long')).toBe(40);
    const stretches = stretchesOf(piecesOf(database));
    expect(stretches.length).toBeGreaterThanOrEqual(4);
    expect(stretches[0]![1]).toBe(9);
    await database.compact({});
    await insert(database, 40, (row) => Array.from({ length: 1000 }, (_, word) => `r${row}w${word}`).join(' '));
    expect(await countOf(run, 'r7w999 r39w0')).toBe(2);
    expect(stretchesOf(piecesOf(database))[0]).toEqual([0, 17]);
    await database.close();
  });

  test('are charged to the memory budget, and given back with the memtable', async () => {
    const { database, run } = await withNotes();
    const { residency, texts } = database.table('notes').context;
    const before = residency.chargedBytes;
    await insert(database, 500);
    expect(await countOf(run, 'all')).toBe(500);
    expect(texts.bytes).toBeGreaterThan(0);
    expect(residency.chargedBytes - before).toBe(texts.bytes);
    const snapshot = database.table('notes').snapshot();
    await database.compact({});
    expect(texts.count).toBe(1);
    snapshot.release();
    expect([texts.count, texts.bytes]).toEqual([0, 0]);
    expect(await countOf(run, 'all')).toBe(500);
    expect(texts.bytes).toBe(0);
    await database.close();
  });

  test('are asked for the rows that a snapshot sees, without a look at each row', async () => {
    const { database } = await withNotes();
    const lsns = [database.table('notes').snapshot().lsn];
    for (const count of [1, 70, 64, 3, 200]) {
      await insert(database, count);
      lsns.push(database.table('notes').snapshot().lsn);
    }
    const memtable = memtableOf(database);
    for (const lsn of [...lsns, lsns[2]! + 5, Number.POSITIVE_INFINITY]) {
      const isSeen = (row: number) => {
        const { eventTs, id } = memtable.keyOf(row);
        return memtable.findAt(eventTs, id, lsn) === row;
      };
      const seen = Array.from({ length: memtable.rows }, (_, row) => row).filter(isSeen);
      const steps = seenMarks({ memtable, lsn, hidden: undefined });
      // One step, and no list of marks.
      expect(steps.next()).toEqual({ done: true, value: { rows: seen.length, marks: undefined } });
    }
    await database.close();
  });

  test('are dropped for those of other memtables when all take too much, but not while one is searched', async () => {
    const { database, run } = await opened();
    let charged = 0;
    const texts = new MemtableTexts({
      pieceRows: 64,
      limitBytes: 2 ** 19,
      charge: (bytes) => {
        charged += bytes;
      },
      instantiate: () => loadCore('debug').instantiate(),
    });
    const all: TextPieces[] = [];
    for (let place = 0; place < 8; place++) {
      const name = `notes${place}`;
      await run(`CREATE HYPEREDGE TABLE ${name} () PROPERTIES (body TEXT, other TEXT)`);
      await run(`CREATE TEXT INDEX ON ${name} (body)`);
      await insert(database, 600, (row) => `word${row} all`, name);
      const { columns, definition } = database.table(name);
      const pieces = texts.of(memtableOf(database, name), textWorkOf(columns, definition.text!));
      while (pieces.step());
      all.push(pieces);
      expect(charged).toBe(texts.bytes);
    }
    expect(texts.count).toBeGreaterThan(1);
    expect(texts.count).toBeLessThan(8);
    expect(all[7]!.covered).toBeGreaterThanOrEqual(512);
    // What a search holds stays empty, so that it does not drop others in turn.
    expect([all[0]!.covered, all[0]!.step(), all[0]!.at(0)]).toEqual([0, false, undefined]);
    await database.close();
  });

  test('are not made beyond their share of the budget; a search then reads the other rows', async () => {
    const { database, run } = await withNotes({ memoryBudgetBytes: 2 ** 20, logFileBytes: 2 ** 22 });
    await insert(database, 4000, (row) => {
      const others = Array.from({ length: 20 }, (_, place) => `f${row}x${place}`);
      return `word${row % 10} ${others.join(' ')} w${row}`;
    });
    expect(await countOf(run, 'word4')).toBe(400);
    const pieces = piecesOf(database);
    expect(pieces.covered).toBeLessThan(4000);
    const best = await run('MATCH (n:notes) WHERE search(n, $q) RETURN n.body AS b ORDER BY score(n) DESC LIMIT 2', {
      q: 'w3999 w17',
    });
    expect(best.map(({ b }) => (b as string).split(' ').at(-1)).sort()).toEqual(['w17', 'w3999']);
    await database.close();
  });

  test('are made anew for another index, and never for the rows of a transaction', async () => {
    const { database, run } = await withNotes();
    await insert(database, 200);
    expect(await countOf(run, 'word4')).toBe(20);
    const before = piecesOf(database);
    await run('DROP TEXT INDEX ON notes');
    await run('CREATE TEXT INDEX ON notes (other)');
    expect(await countOf(run, 'word4')).toBe(0);
    expect(await countOf(run, 'x1')).toBe(67);
    expect(before.covered).toBe(0);
    await run('ALTER TABLE notes RENAME COLUMN other TO others');
    expect(await countOf(run, 'x1')).toBe(67);
    await database.close();
  });

  test('find rows without a column by its default', async () => {
    const { database, run } = await withNotes();
    await insert(database, 100);
    await run("ALTER TABLE notes ADD COLUMN state TEXT DEFAULT 'still open'");
    await run('DROP TEXT INDEX ON notes');
    await run('CREATE TEXT INDEX ON notes (body, state)');
    await run("INSERT INTO notes (event_ts, members, state) VALUES (1, [1], 'closed'), (2, [1], NULL)");
    expect([
      await countOf(run, 'open'),
      await countOf(run, '"word4 all" -closed'),
      await countOf(run, 'closed'),
    ]).toEqual([100, 10, 1]);
    await database.close();
  });

  test('are made by a database that was opened again, and by a follower', async () => {
    const { FOLLOWED } = await import('../support/follower.ts');
    const fs = simDisk();
    const more = { ...FOLLOWED, memtableLimits: MEMTABLE, textPieceRows: 64 };
    const { database, run } = await opened(more, fs);
    await run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT, other TEXT)');
    await run('CREATE TEXT INDEX ON notes (body)');
    const follower = await SimFollower.start(database, fs, 7);
    await insert(database, 90);
    await follower.follow(database);
    const there = new EmbeddedStatements({ database: follower.database });
    const runThere = async (text: string, parameters = {}) => (await there.run(text, parameters)).rows;
    expect(await countOf(runThere, 'word4')).toBe(9);
    await insert(database, 90);
    await run('DELETE FROM notes WHERE event_ts < 11');
    await follower.follow(database);
    expect([await countOf(runThere, 'word4'), await countOf(run, 'word4')]).toEqual([16, 16]);
    await database.close();
    const again = await opened(more, fs);
    expect(await countOf(again.run, 'word4')).toBe(16);
    await again.database.close();
  });
});
