// Questions whose words are those of texts, but are easily taken for something else: words for
// edges, names of columns, quoted ones, other forms, and those behind many others.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/index.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { retrieved } from './retrieval-world.ts';

const TEXTS = [
  'The email from Oslo was lost.',
  'The meeting is in Bergen.',
  'Her weight is unknown.',
  'The message came late.',
  'His contact is Grace.',
  'Ada bought a violin.',
  'The kitten sleeps.',
  'The canoe is in the shed.',
  'Two mice ate the cheese.',
  'A formation of geese was seen.',
];

let database: Database;
beforeAll(async () => {
  database = await openSim(simDisk());
  const statements = new EmbeddedStatements({ database });
  for (const name of ['notes', 'plain']) {
    await statements.run(`CREATE HYPEREDGE TABLE ${name} () PROPERTIES (what TEXT)`);
    const table = database.table(name);
    for (const [place, what] of TEXTS.entries())
      await table.insert({ event_ts: place, members: [place], properties: { what } });
    for (let n = 0; n < 60; n++)
      await table.insert({ event_ts: 1000 + n, members: [100 + n], properties: { what: `Lunch number ${n}.` } });
  }
  await statements.run('CREATE TEXT INDEX ON notes (what) LANGUAGE english');
});
afterAll(() => database.close());

function found(question: string, table = 'notes') {
  const { edges, binds, question: read } = retrieved(database.table(table), question, { topK: 5 });
  return { texts: edges.map(({ properties }) => properties.what), binds, ignored: read.ignored };
}

it.each([
  ['email', 0],
  ['emails', 0],
  ['"email"', 0],
  ['meeting', 1],
  ['meetings', 1],
  ['weight', 2],
  ['"weight"', 2],
  ['message', 3],
  ['contact', 4],
  ['buy', 5],
  ['pets', 6],
  ['mouse', 8],
  ['formation', 9],
  ['"formation"', 9],
])('%s is found', (word, place) => {
  for (const question of [word, `What about ${word}?`, `What did the ${word} say?`])
    expect(found(question).texts[0], question).toBe(TEXTS[place]);
});

it('a word for edges that no text has means the newest, as without a text index', () => {
  const newest = [59, 58, 57, 56, 55].map((n) => `Lunch number ${n}.`);
  for (const table of ['notes', 'plain'])
    for (const question of ['Which interactions were there?', 'What happened?', 'Show the edges'])
      expect(found(question, table), question).toEqual({ texts: newest, binds: true, ignored: [] });
  expect(found('Which emails were there?').texts).toEqual([TEXTS[0], ...newest.slice(0, 4)]);
});

it('a word for edges does not bind in place of one that no text has', () => {
  const { texts, binds, ignored } = found('Which emails were about zorks?');
  expect([texts, binds]).toEqual([[], false]);
  expect(ignored).toEqual([{ text: 'zorks', reason: expect.stringContaining('nor any edge') }]);
});

const unknown = (count: number) => Array.from({ length: count }, (_, n) => `unknown${n.toString(36)}q`);

it.each([31, 32, 33, 70, 200])('a word is found behind %i others, which are reported', (count) => {
  const { texts, ignored } = found(`${unknown(count).join(' ')} canoe`);
  expect(texts).toEqual([TEXTS[7]]);
  expect(ignored.flatMap(({ text }) => text.split(' '))).toEqual(unknown(count));
  expect(ignored.length).toBeLessThanOrEqual(65);
  expect(new Set(ignored.map(({ reason }) => reason)).size).toBe(1);
});

it('without a text index, words behind the first 32 are reported', () => {
  const { texts, binds, ignored } = found(`canoe ${unknown(31).join(' ')} violin`, 'plain');
  expect([texts, binds]).toEqual([[TEXTS[7]], true]);
  expect(ignored.at(-1)).toEqual({
    text: 'violin',
    reason: 'Only the first 32 words of this question are looked for.',
  });
  expect(found(`${unknown(32).join(' ')} canoe`, 'plain').binds).toBe(false);
});

it.each(['notes', 'plain'])('a figure of more than 32 words abstains, since not all restrict it: %s', (table) => {
  const question = `How many edges mention canoe ${Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ')}?`;
  const { texts, binds, ignored } = found(question, table);
  expect([texts, binds]).toEqual([[], false]);
  expect(ignored.at(-1)).toMatchObject({ text: 'word39', reason: expect.stringContaining('Only the first 32 words') });
});

it('a figure counts the words as they are', () => {
  expect(found('How many notes have the word pets?').texts).not.toContain(TEXTS[6]);
});

it.each(['x=canoe', 'canoe > 5', '<b>canoe</b>'])('%s is not said to be in no text', (question) => {
  const { binds, ignored } = found(question);
  expect([binds, ignored.length]).toEqual([false, expect.any(Number)]);
  for (const { text, reason } of ignored) if (text.includes('canoe')) expect(reason).not.toContain('nor any edge');
});
