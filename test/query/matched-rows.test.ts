// Tests searches within OR and NOT, or of items, over more texts than a statement reads before it
// asks the text index for their rows.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { MemoryPool } from '../../src/query/executor/memory.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Analyzer } from '../../src/text/index.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { runDoor } from './door.ts';

const ROWS = 4000;
const WORDS = ['plan', 'budget', 'zurich', 'trip', 'cost', 'late', 'green', 'train', 'note', 'river'];
/** Makes texts longer: 160 letters, so that ROWS texts are five times what a statement reads. */
const FILLER =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna';

interface Row {
  readonly id: number;
  readonly n: number;
  readonly words: ReadonlySet<string>;
}

let database: Database;
let embedded: EmbeddedStatements;
let rows: Row[];
let lastId: number;

beforeEach(async () => {
  database = await openSim(simDisk(), { core: 'release', segmentRows: 2 ** 16 });
  embedded = new EmbeddedStatements({ database });
  const columns = [
    { name: 'body', type: 'TEXT' },
    { name: 'n', type: 'INTEGER' },
  ] as const;
  await database.createTable({ name: 'notes', columns: [...columns] });
  await database.textIndexes.create('notes', { columns: ['body'], language: 'none' });
  rows = [];
  lastId = 0;
  await insert(ROWS);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await database.close();
});

async function insert(count: number): Promise<void> {
  const random = new Random(lastId);
  const bulk = database.table('notes').bulk();
  for (let row = 0; row < count; row++) {
    const id = ++lastId;
    const words = WORDS.filter((_, place) => random.below(place + 2) === 0);
    const n = random.below(100);
    bulk.add({ event_ts: id, members: [1 + (id % 7)], properties: { body: `${FILLER} ${words.join(' ')}`, n } });
    rows.push({ id, n, words: new Set(words) });
  }
  await bulk.commit();
}

/** Deletes each fourth row, at the beginning and in the middle. */
async function deleteSome(): Promise<void> {
  await embedded.run('DELETE FROM notes WHERE id % 4 = 1');
  rows = rows.filter(({ id }) => id % 4 !== 1);
}

/** Letters of texts that were divided into words. */
function lettersRead(): () => number {
  const spy = vi.spyOn(Analyzer.prototype, 'terms');
  return () => spy.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
}

const has =
  (...words: string[]) =>
  (row: Row) =>
    words.some((word) => row.words.has(word));
const budget = has('budget', 'trip');
const late = has('late');

/** Conditions and what they say of a row. */
const CONDITIONS: [string, (row: Row) => boolean][] = [
  [`NOT search(e, 'budget trip')`, (row) => !budget(row)],
  [`search(e, 'budget trip') OR e.n = 7`, (row) => budget(row) || row.n === 7],
  [`search(e, 'budget trip') AND NOT search(e, 'late')`, (row) => budget(row) && !late(row)],
  [`search(e, 'late') OR search(e, '+budget +trip')`, (row) => late(row) || (has('budget')(row) && has('trip')(row))],
  [`NOT (search(e, 'late') AND e.n < 50) AND e.event_ts > 500`, (row) => !(late(row) && row.n < 50) && row.id > 500],
  [`NOT search(e, 'lorem -budget')`, (row) => row.words.has('budget')],
  [`NOT search(e, 'absent')`, () => true],
];

async function ids(where: string): Promise<unknown[]> {
  return (await embedded.run(`MATCH (e:notes) WHERE ${where} RETURN e.id AS id`)).rows.map(({ id }) => id);
}

async function expectAll(): Promise<void> {
  for (const [where, matches] of CONDITIONS)
    expect(await ids(where), where).toEqual(rows.filter(matches).map(({ id }) => id));
}

describe('rows that match a search within OR and NOT', () => {
  it('are found in memory, compacted, and half and half, with deleted rows', async () => {
    await expectAll();
    await deleteSome();
    await expectAll();
    await database.compact();
    await expectAll();
    await insert(1000);
    await embedded.run('DELETE FROM notes WHERE id % 4 = 2');
    rows = rows.filter(({ id }) => id % 4 !== 2);
    await expectAll();
  });

  it('are found with few texts read, whatever the number of rows', async () => {
    await database.compact();
    const letters = lettersRead();
    for (const [where, matches] of CONDITIONS) {
      const before = letters();
      expect(await ids(where)).toHaveLength(rows.filter(matches).length);
      // A search is asked for once a step has passed the limit of 131,072 letters.
      expect(letters() - before, where).toBeLessThan(rows.length * FILLER.length * 0.75);
    }
  });

  it('are not looked for by a statement that needs few rows', async () => {
    const scan = vi.spyOn(database.table('notes'), 'scan');
    expect((await embedded.run(`MATCH (e:notes) WHERE NOT search(e, 'budget') RETURN e.id LIMIT 5`)).rows).toHaveLength(
      5,
    );
    expect(await ids(`NOT search(e, 'budget') AND e.event_ts < 300`)).not.toHaveLength(0);
    expect(scan.mock.calls.filter(([request]) => request?.search !== undefined)).toEqual([]);
    await ids(`NOT search(e, 'budget')`);
    expect(scan.mock.calls.filter(([request]) => request?.search !== undefined)).toHaveLength(1);
  });

  it('are known to items, scores, orders and groups', async () => {
    const where = `search(e, 'budget trip') OR e.n = 7`;
    const wanted = rows.filter((row) => budget(row) || row.n === 7);
    const { rows: items } = await embedded.run(
      `MATCH (e:notes) WHERE ${where} RETURN e.id AS id, score(e) AS s ORDER BY e.id`,
    );
    expect(items.map(({ id, s }) => [id, s !== 0])).toEqual(wanted.map((row) => [row.id, budget(row)]));
    const { rows: scores } = await embedded.run(
      `MATCH (e:notes) WHERE search(e, 'budget trip') RETURN e.id AS id, score(e) AS s ORDER BY e.id`,
    );
    const byId = new Map(scores.map(({ id, s }) => [id, s]));
    for (const { id, s } of items) expect(s).toBe(byId.get(id) ?? 0);
    const { rows: last } = await embedded.run(
      `MATCH (e:notes) WHERE NOT search(e, 'plan budget zurich trip') RETURN e.id AS id ORDER BY e.event_ts DESC LIMIT 900`,
    );
    const none = rows.filter((row) => !has('plan', 'budget', 'zurich', 'trip')(row)).map(({ id }) => id);
    expect(last.map(({ id }) => id)).toEqual(none.reverse().slice(0, 900));
    const { rows: groups } = await embedded.run(
      `MATCH (e:notes) RETURN search(e, 'late') AS late, count(*) AS n ORDER BY late`,
    );
    const lates = rows.filter(late).length;
    expect(groups).toEqual([
      { late: false, n: rows.length - lates },
      { late: true, n: lates },
    ]);
  });

  it('are known to pairs of rows, and to EXISTS', async () => {
    await database.compact();
    const letters = lettersRead();
    const pairs = `MATCH (a:notes), (b:notes) WHERE a.n = b.n AND a.id < b.id AND (search(a, 'late') OR NOT search(b, 'budget trip'))`;
    const { rows: found } = await embedded.run(`${pairs} RETURN count(*) AS n, sum(a.id) AS a, sum(b.id) AS b`);
    const sums = { n: 0, a: 0, b: 0 };
    for (const a of rows)
      for (const b of rows)
        if (a.n === b.n && a.id < b.id && (late(a) || !budget(b))) {
          sums.n++;
          sums.a += a.id;
          sums.b += b.id;
        }
    expect(found).toEqual([sums]);
    const { rows: tested } = await embedded.run(
      `MATCH (a:notes) WHERE NOT EXISTS ((b:notes) WHERE b.n = a.n AND b.id > a.id AND (search(a, 'late') OR search(b, 'budget trip'))) RETURN a.id AS id`,
    );
    const isAlone = (a: Row) => !rows.some((b) => b.n === a.n && b.id > a.id && (late(a) || budget(b)));
    expect(tested.map(({ id }) => id)).toEqual(rows.filter(isAlone).map(({ id }) => id));
    // There are 20 times as many pairs as rows.
    expect(letters()).toBeLessThan(2 * rows.length * FILLER.length);
  });

  it.each([10, 3900])(
    'are found before a row of which many searches would be too much work is read: row %i',
    async (at) => {
      const long = 'budget zurich '.repeat(4600).slice(0, 64_000).trim();
      await embedded.run(`UPDATE notes SET body = $long WHERE id = ${at}`, { long });
      const items = Array.from({ length: 40 }, (_, place) => `search(e, 'late w${place}') AS h${place}`);
      const { rows: answer } = await embedded.run(`MATCH (e:notes) RETURN e.id AS id, ${items.join(', ')}`);
      const wanted = rows.map((row) => [row.id, row.id !== at && late(row)]);
      expect(answer.map(({ id, h0, h39 }) => [id, h0 === h39 && h0])).toEqual(wanted);
    },
  );

  it('are those of the transaction, and of its snapshot', async () => {
    const session = { session: 'one' };
    await embedded.run('BEGIN', {}, session);
    await embedded.run(`INSERT INTO notes (event_ts, members, body, n) VALUES (9000, [1], 'budget', 1)`, {}, session);
    await embedded.run(`INSERT INTO notes (event_ts, members, body, n) VALUES (9001, [1], 'river', 1)`, {}, session);
    await embedded.run(`UPDATE notes SET body = 'trip' WHERE id = 40`, {}, session);
    await embedded.run(`DELETE FROM notes WHERE NOT search(notes, 'budget trip') AND id < 2000`, {}, session);
    const inside = async (where: string) =>
      (await embedded.run(`MATCH (e:notes) WHERE ${where} RETURN e.id AS id`, {}, session)).rows.map(({ id }) => id);
    await embedded.run(`DELETE FROM notes WHERE id >= 3000 AND id < 3100`);
    const left = rows.filter((row) => !budget(row) && row.id >= 2000).map(({ id }) => id);
    expect(await inside(`NOT search(e, 'budget trip')`)).toEqual([...left, ROWS + 2]);
    expect(await inside(`NOT search(e, 'budget trip') OR e.id = 40`)).toEqual([40, ...left, ROWS + 2]);
    await embedded.run('ROLLBACK', {}, session);
  });

  it('are changed and deleted', async () => {
    await embedded.run(`UPDATE notes SET n = 1000 WHERE NOT search(notes, 'budget trip')`);
    expect(await ids('e.n = 1000')).toEqual(rows.filter((row) => !budget(row)).map(({ id }) => id));
    await embedded.run(`DELETE FROM notes WHERE search(notes, 'late') OR n = 7`);
    const left = rows.filter((row) => !late(row) && !(row.n === 7 && budget(row)));
    expect(await ids('e.n >= 0')).toEqual(left.map(({ id }) => id));
  });

  it('are read if there is no memory for their ids', async () => {
    await database.compact();
    const statements = new Statements({
      database,
      now: () => 0,
      nowUs: () => performance.now() * 1000,
      newId: () => 'id',
      transactionIdleSeconds: 30,
      copyRoot: undefined,
      fs: nodeFs,
      memory: new MemoryPool({ statementBytes: 2 ** 14, totalBytes: 2 ** 20 }),
    });
    const letters = lettersRead();
    const answer = await runDoor(
      statements,
      `MATCH (e:notes) WHERE NOT search(e, 'lorem -late') RETURN count(*) AS n`,
      {},
    );
    expect(answer.rows).toEqual([{ n: rows.filter(late).length }]);
    expect(letters()).toBeGreaterThan(rows.length * FILLER.length);
    await statements.close?.();
  });
});
