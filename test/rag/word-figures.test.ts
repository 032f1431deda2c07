// Tests figures about words: through the text index if the table has one, exact for any number of
// rows, and otherwise given rightly or not at all.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeInput } from '../../src/engine/index.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { insert } from './retrieval-world.ts';

/** More different texts than a condition may be found among at once. */
const MANY = 100_300;
const FIRST_TS = 1_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await makeTable(
    'big',
    Array.from({ length: MANY }, (_, at) => bigText(at)),
    'english',
  );
  await makeTable(
    'plain',
    Array.from({ length: MANY }, (_, at) => bigText(at)),
  );
  await makeTable('notes', NOTES, 'none');
});
afterAll(() => server.close());

/** Row 5 is the first of 250 with the word kumquat; only row 7 has quince. */
function bigText(at: number): string {
  if (at === 7) return 'A quince alone';
  return at % 400 === 5 ? `${at % 800 === 5 ? 'Kumquat' : 'kumquat'} number ${at}` : `text ${at}`;
}

const LONG = `tempest ${'and more '.repeat(7000)}`;
const NOTES = [
  'the storm came',
  'a stórm at sea',
  'many storms',
  'travel plans',
  'a word about words',
  'the term and the text',
  'a mention of rain',
  'travel costs were high',
  'costs of travel',
  'only a tórnado',
  LONG,
  'tempest again',
];

async function makeTable(name: string, texts: readonly string[], language?: string): Promise<void> {
  const columns = [
    { name: 'what', type: 'TEXT' as const },
    { name: 'source', type: 'TEXT' as const },
  ];
  await server.database.createTable({ name, columns });
  const rows = texts.map(
    (what, at): EdgeInput => ({
      event_ts: FIRST_TS + at,
      members: [at % 5],
      properties: { what, source: at === 3 ? 'rain of the travel desk' : name === 'notes' ? null : `source ${at}` },
    }),
  );
  await insert(server.database.table(name), rows);
  if (language !== undefined)
    await server.database.textIndexes.create(name, { columns: ['what'], language: language as 'none' });
}

interface Answer {
  answer: string;
  abstained: boolean;
  computed_by: string | null;
  all_edges: unknown[];
  understood: { ignored: { text: string; reason: string }[] };
}

async function ask(table: string, query: string): Promise<Answer> {
  const { json } = await send(server, 'POST', '/v1/rag/query', { query, table, mode: 'symbolic', rules: [] });
  return json;
}

/** Asks for a count. Returns it with the conditions of its statement, which must give the same. */
async function count(table: string, query: string): Promise<[number, string]> {
  const { answer, computed_by, understood } = await ask(table, query);
  expect([query, computed_by, understood.ignored]).toEqual([query, expect.any(String), expect.any(Array)]);
  const { json } = await send(server, 'POST', '/v1/query', { query: computed_by });
  expect(answer).toMatch(new RegExp(`^${json.rows[0].count} `));
  return [json.rows[0].count, computed_by!.replace(/^.*? WHERE | RETURN .*$/g, '')];
}

describe('in a table with a text index and many texts', () => {
  it('counts every row with the word, and the only row with one', async () => {
    expect(await count('big', 'How many records mention kumquat?')).toEqual([251, "search(e, '+kumquat')"]);
    expect(await count('big', 'How many records mention quince?')).toEqual([1, "search(e, '+quince')"]);
    expect(await count('big', 'How many records about kumquat with node 0?')).toEqual([
      251,
      "0 IN e.members AND search(e, '+kumquat')",
    ]);
  });

  it('finds the true first and last row with the word', async () => {
    expect(await ask('big', 'first record about kumquat')).toMatchObject({
      answer: expect.stringContaining('[HEDGE-6]'),
      computed_by: expect.stringContaining("search(e, '+kumquat')"),
    });
    expect((await ask('big', 'last record about quince')).answer).toContain('[HEDGE-8]');
  });
});

describe('in a table without a text index and with many texts', () => {
  it('counts the rows of few texts with the word', async () => {
    expect(await count('plain', 'How many records mention quince?')).toEqual([1, "e.what IN ['A quince alone']"]);
  });

  it.each([
    'How many records mention kumquat?',
    'first record about kumquat',
    'when was the last record about kumquat',
  ])('abstains with the reason if too many texts have the word: %s', async (query) => {
    const { abstained, computed_by, all_edges, answer, understood } = await ask('plain', query);
    expect([abstained, computed_by, all_edges]).toEqual([true, null, []]);
    expect(answer).not.toMatch(/HEDGE|earliest/);
    expect(understood.ignored).toContainEqual({ text: 'kumquat', reason: expect.stringContaining('200') });
  });
});

describe('words of a figure', () => {
  it('are those of the index: without diacritics, and with English endings', async () => {
    expect(await count('notes', 'How many notes mention storm?')).toEqual([3, "search(e, 'storm storms')"]);
    expect(await count('notes', 'How many notes mention stórm?')).toEqual([3, "search(e, 'stórm stórms')"]);
  });

  it('may be in the index only', async () => {
    const query = 'How many notes of node 4 showed tornado?';
    expect((await ask('notes', query)).understood.ignored.map(({ text }) => text)).toEqual(['showed']);
    expect(await count('notes', query)).toEqual([1, "4 IN e.members AND search(e, '+tornado')"]);
  });

  it('must all be there, and are phrases in quotation marks', async () => {
    expect(await count('notes', 'How many notes about tempest and again?')).toEqual([
      1,
      "search(e, '+tempest +again')",
    ]);
    expect(await count('notes', 'How many notes contain "travel costs"?')).toEqual([1, `search(e, '+"travel costs"')`]);
    expect((await ask('notes', 'How many notes contain "costs travel"?')).computed_by).toBeNull();
  });

  it('may also be in a column that the index does not have', async () => {
    expect(await count('notes', 'How many notes mention rain?')).toEqual([
      2,
      "(search(e, 'rain') OR e.source IN ['rain of the travel desk'])",
    ]);
    expect((await count('notes', 'How many notes mention desk?'))[0]).toBe(1);
  });

  it('do not list whole texts', async () => {
    expect(await count('notes', 'How many notes mention tempest?')).toEqual([2, "search(e, '+tempest')"]);
  });

  it.each([
    ['How many notes contain the word travel?', 3],
    ['How many notes contain the words travel and costs?', 2],
    ['How many notes have the term storm?', 3],
    ['How many notes with the text "travel costs"?', 1],
    ['How often was the word travel recorded?', 3],
    ['How many notes mention the word travel?', 3],
    ['How many notes about words?', 1],
    ['How many notes contain the term?', 1],
  ])('are not the nouns before them: %s', async (query, expected) => {
    expect((await count('notes', query))[0]).toBe(expected);
  });

  it('that no row has leave no figure', async () => {
    for (const query of [
      'How many notes of node 1 contain the word zebra?',
      'How many notes of node 1 mention zebra?',
    ]) {
      const { computed_by, understood } = await ask('notes', query);
      expect([query, computed_by]).toEqual([query, null]);
      expect(understood.ignored.map(({ text }) => text)).toEqual(['zebra']);
    }
  });

  it('that no single row has leave no first', async () => {
    const { abstained, all_edges, understood } = await ask('notes', 'first note about rain and tempest');
    expect([abstained, all_edges]).toEqual([true, []]);
    expect(understood.ignored).toEqual([{ text: 'rain tempest', reason: expect.stringContaining('No edge') }]);
  });
});
