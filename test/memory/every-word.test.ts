// Recalls memories by words that are easily lost: those behind many others, beside a time, dates,
// and those that questions about edges have for themselves.

import { afterEach, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const NOW = 1_700_000_000;
const DAY = 86_400;

let database: Database;
afterEach(() => database.close());

async function remembered(texts: readonly (string | { readonly what: string; readonly when: number })[]) {
  database = await openSim(simDisk());
  const memory = new Memory({ database, now: () => NOW * 1000 });
  for (const [place, text] of texts.entries()) {
    const given = typeof text === 'string' ? { what: text, when: NOW - 1000 + place } : text;
    await memory.remember({ ...given, who: [`thing ${place}`], about: [] });
  }
  return (question: string, topK = 10) => finish(memory.recall({ question, topK })).memories.map(({ what }) => what);
}

const unknown = (count: number) => Array.from({ length: count }, (_, n) => `unknown${n.toString(36)}q`).join(' ');
const CANOE = 'The canoe is in the shed.';
const SMALL_TALK = Array.from({ length: 50 }, (_, n) => ({
  what: `long small talk about the weather and the football number ${n}`,
  when: NOW - 3600 + n,
}));

test.each([0, 31, 32, 33, 64, 65, 130, 300])('a word is found behind %i that nothing has', async (count) => {
  const recall = await remembered([CANOE, 'Lunch is at noon.']);
  expect(recall(`${unknown(count)} canoe`)[0]).toBe(CANOE);
  expect(recall(`canoe ${unknown(count)}`)[0]).toBe(CANOE);
});

test('of many words that texts have, the rarest is searched for', async () => {
  const common = Array.from({ length: 80 }, (_, n) => `common${n}`);
  const others = Array.from({ length: 12 }, (_, n) => `${common.join(' ')} number ${n}`);
  const recall = await remembered([...others, CANOE]);
  expect(recall(`${common.join(' ')} canoe`, 20)).toContain(CANOE);
  expect(recall(`canoe ${common.join(' ')}`, 20)).toContain(CANOE);
});

test.each(['today', 'this week', 'in the last month', 'since 2020', 'yesterday', 'in November 2023'])(
  'what was said %s does not hide the only text with the word',
  async (time) => {
    const recall = await remembered([{ what: CANOE, when: NOW - 1000 * DAY }, ...SMALL_TALK]);
    expect(recall(`Where is the canoe ${time}?`)[0]).toBe(CANOE);
  },
);

test('a time alone finds what was said then, and of what has the words, what was said then is first', async () => {
  const old = { what: 'The canoe needs paint.', when: NOW - 400 * DAY };
  const recall = await remembered([old, ...SMALL_TALK, { what: CANOE, when: NOW - 1000 * DAY }]);
  expect(recall('today', 3)).toEqual(
    SMALL_TALK.slice(-3)
      .map(({ what }) => what)
      .reverse(),
  );
  expect(recall('What about the canoe in October 2022?')[0]).toBe(old.what);
});

test('a date is found in texts', async () => {
  const texts = Array.from({ length: 20 }, (_, n) => `The zork is planned for 2031-04-${10 + n}.`);
  const recall = await remembered([...texts, 'The party is on 2030/5/17 at 10:30.', 'Lunch is at noon.']);
  for (const [n, text] of texts.entries())
    for (const date of [
      `2031-04-${10 + n}`,
      `"2031-04-${10 + n}"`,
      `2031-04-${10 + n}T09:00`,
      `2031-04-${10 + n} 09:00Z`,
    ]) {
      expect(recall(`What is the zork for ${date}?`)[0], date).toBe(text);
      expect(recall(date)[0], date).toBe(text);
    }
  expect(recall('What is on 2030/5/17?')[0]).toBe('The party is on 2030/5/17 at 10:30.');
});

test.each(['2031-04-05', '12:30', '"second floor"'])('%s alone ranks what has it first', async (question) => {
  const others = ['I had a long and pleasant talk about cake with a lot of other words.', 'A floor was second.'];
  const recall = await remembered([`It is ${question.replaceAll('"', '')} that counts.`, ...others]);
  expect(recall(question)[0]).toContain('that counts');
  const memory = new Memory({ database, now: () => NOW * 1000 });
  const { memories } = finish(memory.recall({ question, topK: 3 }));
  for (const { why } of memories) expect(why.join()).not.toContain('undefined');
});

test.each([
  ['table', 'The table was sold.'],
  ['event', 'Nobody came to the event.'],
  ['members', 'The members voted.'],
  ['days', 'It took eleven days.'],
  ['list', 'The list is on the fridge.'],
  ['first', 'He was first.'],
  ['second', 'She was second.'],
  ['email', 'The email was lost.'],
  ['meeting', 'The meeting is in Oslo.'],
  ['weight', 'The weight is unknown.'],
  ['record', 'It is a record.'],
  ['graph', 'The graph is wrong.'],
  ['date', 'They set a date.'],
  ['C', 'Vitamin C is in the drawer.'],
  ['B', 'Room B is locked.'],
  ['I/O', 'The I/O is slow.'],
])('%s is found', async (word, text) => {
  const recall = await remembered(['Lunch is at noon.', 'Ada has a dog.', text, 'Ken likes violins.', ...SMALL_TALK]);
  expect(recall(word, 1)).toEqual([text]);
  expect(recall(`What do you know about the ${word}?`, 1)).toEqual([text]);
});
