// Tests that searches of long texts, long phrases and frequent words hold the loop only for a short
// time, and that their answers do not depend on it. The clock is simulated.

import { describe, expect, test } from 'vitest';
import { type Database, searchStatistics } from '../../src/engine/index.ts';
import { partsIn } from '../../src/engine/texts/block-search.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { MemoryPool } from '../../src/query/executor/memory.ts';
import { Statements } from '../../src/query/statements.ts';
import { Scheduler, type WorkKind } from '../../src/schedule/scheduler.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { analyzerOf, parseSearch } from '../../src/text/index.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { runDoor } from './door.ts';

/** A clock on which each look takes `tickUs`. */
function clock(): { tickUs: number; readonly nowUs: () => number } {
  let us = 0;
  const made = { tickUs: 0, nowUs: () => (us += made.tickUs) };
  return made;
}

/** Leaves all text blocks over rows in memory to the searches. */
class WithoutTextsAhead extends Scheduler {
  override pause(kind: WorkKind): Promise<void> {
    return kind === 'texts' ? new Promise(() => {}) : super.pause(kind);
  }
}

async function opened(nowUs: () => number): Promise<Database> {
  const scheduler = new WithoutTextsAhead();
  const options = { core: 'release', segmentRows: 2 ** 16, logFileBytes: 2 ** 24, nowUs, scheduler } as const;
  const database = await openSim(simDisk(), options);
  await database.createTable({ name: 'notes', columns: [{ name: 'body', type: 'TEXT' }] });
  await database.textIndexes.create('notes', { columns: ['body'], language: 'none' });
  return database;
}

async function fill(database: Database, count: number, bodyOf: (row: number) => string): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const bulk = database.table('notes').bulk();
    for (let row = from; row < Math.min(count, from + 1000); row++)
      bulk.add({ event_ts: row, members: [1], properties: { body: bodyOf(row) } });
    await bulk.commit();
  }
}

function statisticsOf(database: Database, query: string) {
  const table = database.table('notes');
  const { version, lsn } = table.snapshot();
  const column = table.columns.find('body')!.id;
  const search = { columns: [column], language: 'none', parts: parseSearch(query, analyzerOf('none')) } as const;
  const steps = searchStatistics(table, { version, lsn, overlay: undefined }, search);
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { pauses, statistics: step.value };
  }
}

describe('words that take long', () => {
  test.each([
    'a* b* zz',
    `"${Array.from({ length: 200 }, (_, place) => 'ab'[place % 2]).join(' ')}" c4`,
    '"a b a b" +c3',
  ])('are found by the slower way with the same result: %s', async (query) => {
    const time = clock();
    const database = await opened(time.nowUs);
    await fill(database, 6000, (row) => `${'a b '.repeat(row % 120)}c${row % 7} a${row}`);
    await database.compact({});
    const embedded = new EmbeddedStatements({ database });
    const answers = async () => {
      const { statistics, pauses } = statisticsOf(database, query);
      const match = 'MATCH (n:notes) WHERE search(n, $query) RETURN n.id AS id, score(n) AS score';
      const all = await embedded.run(match, { query });
      const best = await embedded.run(`${match} ORDER BY score(n) DESC, n.id LIMIT 10`, { query });
      return { pauses, found: { statistics, all: all.rows, best: best.rows } };
    };
    const quick = await answers();
    time.tickUs = 20_000;
    const slow = await answers();
    expect(slow.found).toEqual(quick.found);
    expect(quick.found.all.length).toBeGreaterThan(100);
    expect(quick.pauses).toBeLessThan(20);
    if (query.includes('*')) expect(slow.pauses).toBeGreaterThan(6000);
    await database.close();
  });
});

test('the words of long texts are counted with a pause after a few of them', async () => {
  const time = clock();
  const database = await opened(time.nowUs);
  const text = 'one two '.repeat(8000);
  await fill(database, 100, () => text);
  time.tickUs = 1000;
  const { pauses, statistics } = statisticsOf(database, 'two');
  expect(statistics.rows).toBe(100);
  expect(pauses).toBeGreaterThanOrEqual(30);
  await database.close();
});

test('text blocks over rows in memory are built with pauses, and need few of them afterwards', async () => {
  const time = clock();
  const database = await opened(time.nowUs);
  await fill(database, 20_000, (row) => `one two w${row} v${row % 5000}`);
  time.tickUs = 10;
  const first = statisticsOf(database, 'two v7');
  expect(first.statistics).toMatchObject({ rows: 20_000, averageLength: 4 });
  // The words of a block are collected, folded 64 at a time, sorted, merged and built.
  expect(first.pauses).toBeGreaterThan(500);
  const second = statisticsOf(database, 'two v7');
  expect(second.statistics).toEqual(first.statistics);
  expect(second.pauses).toBeLessThan(50);
  await database.compact({});
  expect(statisticsOf(database, 'two v7').statistics).toEqual(first.statistics);
  await database.close();
});

test('a statement may have many searches of long texts, if there is memory for the rows that match', async () => {
  const database = await opened(() => 0);
  await fill(database, 40, (row) => (row % 2 === 0 ? 'one two '.repeat(8000) : 'two'));
  const counted = (searches: number, statementBytes: number) => {
    const where = Array.from({ length: searches }, (_, place) => `search(n, 'one w${place}')`).join(' OR ');
    const memory = new MemoryPool({ statementBytes, totalBytes: 2 ** 24 });
    const statements = new Statements({
      database,
      now: () => 0,
      nowUs: () => 0,
      newId: () => 'id',
      transactionIdleSeconds: 30,
      copyRoot: undefined,
      fs: nodeFs,
      memory,
    });
    return runDoor(statements, `MATCH (n:notes) WHERE ${where} RETURN COUNT(*) AS n`, {});
  };
  expect((await counted(12, 2 ** 17)).rows).toEqual([{ n: 20 }]);
  expect((await counted(40, 2 ** 20)).rows).toEqual([{ n: 20 }]);
  await expect(counted(40, 2 ** 17)).rejects.toThrow('One row of this statement is too much work');
  await database.close();
});

describe('the best of rows with 190 KB of text', () => {
  const COLUMNS = ['a', 'b', 'c'];
  const long = 'budget zurich '.repeat(4600).slice(0, 64_000).trim();

  async function withLongRow(short: number) {
    const database = await openSim(simDisk(), { core: 'release', nowUs: () => 0 });
    await database.createTable({ name: 'notes', columns: COLUMNS.map((name) => ({ name, type: 'TEXT' as const })) });
    await database.textIndexes.create('notes', { columns: COLUMNS, language: 'none' });
    const bulk = database.table('notes').bulk();
    for (let row = 0; row < short; row++)
      bulk.add({
        event_ts: row,
        members: [1],
        properties: { a: row % 3 === 0 ? 'budget zurich' : `budget w${row % 50}` },
      });
    bulk.add({ event_ts: short, members: [1], properties: { a: long, b: long, c: long } });
    await bulk.commit();
    return { database, embedded: new EmbeddedStatements({ database }) };
  }

  /** Returns ids with scores of the best rows. */
  async function best(embedded: EmbeddedStatements, words: string, returned: string, limit: number) {
    const match = `MATCH (n:notes) WHERE search(n, $words) RETURN n.id AS id, score(n) AS s${returned}`;
    const { rows } = await embedded.run(`${match} ORDER BY score(n) DESC, n.id LIMIT ${limit}`, { words });
    return rows.map(({ id, s }) => ({ id, s }));
  }

  const many = `${Array.from({ length: 60 }, (_, place) => `w${place}`).join(' ')} zurich`;

  test('is found without a text block: in memory, beside new rows, and in a transaction', async () => {
    const { database, embedded } = await withLongRow(20);
    const all = await best(embedded, 'budget zurich', '', 50);
    expect(all).toHaveLength(21);
    expect(await best(embedded, 'budget zurich', ', n.a, n.b, n.c', 3)).toEqual(all.slice(0, 3));
    const before = await best(embedded, many, ', n', 3);
    await database.compact({});
    expect(await best(embedded, many, ', n', 3)).toEqual(before);
    const statements = [
      `INSERT INTO notes (event_ts, members, a) VALUES (50, [2], 'w1 w2 w3 w4 w5')`,
      `MATCH (n:notes) WHERE search(n, '${many}') RETURN n.id AS id, n.b ORDER BY score(n) DESC LIMIT 2`,
    ];
    const session = new EmbeddedStatements({ database });
    const answers: unknown[] = [];
    for (const statement of ['BEGIN', ...statements, 'COMMIT', statements[1]!])
      answers.push((await session.run(statement)).rows);
    expect(answers[2]).toEqual(answers[4]);
    expect(answers[2]).toMatchObject([{ id: 22 }, {}]);
    await database.close();
  });

  test('is found by text blocks for any words, with the same scores as from the texts', async () => {
    const { database, embedded } = await withLongRow(3000);
    const found: unknown[] = [];
    for (const state of ['in memory', 'compacted']) {
      if (state === 'compacted') await database.compact({});
      // More than 1,000 rows are scored by their texts.
      const all = await best(embedded, 'budget zurich', '', 3001);
      expect(all).toHaveLength(3001);
      expect(await best(embedded, 'budget zurich', ', n', 1000)).toEqual(all.slice(0, 1000));
      found.push(all, await best(embedded, many, ', n.b', 1000));
      await expect(best(embedded, many, '', 3001)).rejects.toThrow('too much work');
    }
    expect(found.slice(2)).toEqual(found.slice(0, 2));
    await database.close();
  });
});

test.each([300, 6000, 12_000])(
  'the best of %i rows with the same score are those with the least ids',
  async (equal) => {
    const database = await opened(() => 0);
    await fill(database, equal + 30, (row) =>
      row % ((equal + 30) / 30) < 1 ? `plan w${row} tail` : 'plan plain tail',
    );
    const embedded = new EmbeddedStatements({ database });
    const match = "MATCH (n:notes) WHERE search(n, 'plan plain') RETURN n.id AS id, score(n) AS s";
    const { rows: all } = await embedded.run(match);
    const sorted = all.toSorted((a, b) => (b.s as number) - (a.s as number) || (a.id as number) - (b.id as number));
    for (const state of ['in memory', 'compacted']) {
      if (state === 'compacted') await database.compact({});
      for (const limit of [1, 10, 299, 1000, 5000]) {
        const { rows } = await embedded.run(`${match} ORDER BY score(n) DESC, n.id LIMIT ${limit}`);
        expect(rows, `${state}, ${limit}`).toEqual(sorted.slice(0, limit));
      }
    }
    expect(sorted[equal - 1]!.s).toBe(sorted[0]!.s);
    expect(sorted[equal]!.s).toBeLessThan(sorted[0]!.s as number);
    await database.close();
  },
);

test('a phrase of words that texts repeat is looked for in many steps', async () => {
  const database = await opened(() => 0);
  const occurrences = 20_000;
  const rows = 30;
  await fill(database, rows, () => 'a '.repeat(occurrences));
  await database.compact({});
  const table = database.table('notes');
  const [segment] = table.version.segments;
  while (table.residentBy(segment!, Infinity) === undefined);
  const block = table.resident(segment!).text!;
  const query = block.query(partsIn(block, parseSearch('"a a a a a a a a"', analyzerOf('none'))));
  const steps = [...query.prepare()].length;
  // A step takes half a millisecond at most, in which 100,000 positions can be read.
  expect(steps).toBeGreaterThan((rows * occurrences * 8) / 500_000);
  query.free();
  await database.close();
});
