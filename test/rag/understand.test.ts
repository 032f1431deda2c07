// Tests that each question in questions.txt is understood as stated there, and that any other text
// is given a valid meaning.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check } from '../../src/http/schema.ts';
import type { Question } from '../../src/rag/question/question.ts';
import { MOST_UNDERSTOOD, understand } from '../../src/rag/question/understand.ts';
import { parseAnswer } from '../../src/routes/schemas/rag-parse.ts';
import { fc } from '../support/property.ts';
import { ASKED_TABLE, NOW_MS, understoodText } from './understood-text.ts';

const file = readFileSync(new URL('questions.txt', import.meta.url), 'utf8');

function cases(): [question: string, meaning: string][] {
  const lines = file.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  const found: [string, string][] = [];
  for (let at = 0; at < lines.length; at += 2) found.push([lines[at]!, lines[at + 1]!.trim()]);
  return found;
}

const ask = (text: string, nowMs = NOW_MS): Question => understand(text, ASKED_TABLE, nowMs);

describe('questions', () => {
  it('are tested with more than 300 examples', () => {
    expect(cases().length).toBeGreaterThan(300);
  });

  it.each(cases())('are understood as stated: %s', (question, meaning) => {
    expect(understoodText(ask(question))).toBe(meaning);
  });

  it.each(cases())('are also understood in capitals and with other blanks: %s', (question, meaning) => {
    const other = question.toUpperCase().replaceAll(' ', '\u00a0\n');
    // Values and words keep the case in which they are written, so both sides are lower-cased.
    expect(understoodText(ask(other)).toLowerCase().replaceAll(/\s+/g, ' ')).toBe(meaning.toLowerCase());
  });

  it('are understood relative to the given time', () => {
    const nowMs = Date.UTC(2024, 2, 31, 0, 0, 0, 999);
    const now = Math.floor(nowMs / 1000);
    expect(ask('last month', nowMs).window).toEqual({ start_ts: Date.UTC(2024, 1, 29) / 1000, end_ts: now });
    expect(ask('last 13 months', nowMs).window?.start_ts).toBe(Date.UTC(2023, 1, 28) / 1000);
    expect(ask('today', nowMs).window).toEqual({ start_ts: now, end_ts: now + 86_399 });
    expect(ask('on Sunday', nowMs).window).toEqual({ start_ts: now, end_ts: now + 86_399 });
    expect(ask('in April', nowMs).window?.start_ts).toBe(Date.UTC(2023, 3, 1) / 1000);
  });

  it('contain the text and the table, and are plain values', () => {
    const question = ask('node 1');
    expect(question).toMatchObject({ query: 'node 1', table: 'contacts' });
    expect(structuredClone(question)).toEqual(question);
  });

  it('refer to a column if they contain its name, even if that word also has another meaning', () => {
    const table = {
      name: 't',
      columns: [
        { name: 'node', type: 'TEXT' as const },
        { name: 'last', type: 'REAL' as const },
      ],
    };
    expect(understand('node = seven, last > 3, node 4, last 3 days', table, NOW_MS)).toMatchObject({
      filters: [
        { column: 'node', op: '=', value: 'seven' },
        { column: 'last', op: '>', value: 3 },
      ],
      nodes: [4],
      window: { end_ts: NOW_MS / 1000 },
    });
  });

  it('are understood only up to a maximum length, which is reported', () => {
    const long = `node 1 ${'x '.repeat(MOST_UNDERSTOOD)} node 2`;
    const question = ask(long);
    expect(question.nodes).toEqual([1]);
    expect(question.query).toBe(long);
    expect(question.ignored[0]?.reason).toContain(String(MOST_UNDERSTOOD));
  });

  it('name at most 64 nodes', () => {
    const nodes = (count: number) => Array.from({ length: count }, (_, i) => i).join(', ');
    expect(ask(`nodes ${nodes(64)}`).nodes).toHaveLength(64);
    const over = ask(`nodes ${nodes(65)} and node 3`);
    expect(over.nodes).toEqual([3]);
    expect(over.ignored[0]?.reason).toContain('64');
  });
});

const PIECES = [
  ...new Set(cases().flatMap(([question]) => question.split(' '))),
  ...[
    '"',
    "'",
    '“',
    '\u0000',
    '\ud800',
    '😀',
    '[',
    '((',
    '1e999',
    '99999999999999999999',
    '-',
    '--',
    '::',
    '\n',
    '<',
    '>>=',
  ],
];

function expectSane(text: string, nowMs: number): void {
  const question = ask(text, nowMs);
  expect(check(parseAnswer, structuredClone(question), 'answer')).toEqual(question);
  expect(JSON.parse(JSON.stringify(question))).toEqual(question);
  expect(question.query).toBe(text);
  expect(new Set(question.nodes).size).toBe(question.nodes.length);
  expect(question.keywords.length).toBeLessThanOrEqual(32);
  const columns = ['weight', 'mean_dist_m', 'formation', ...ASKED_TABLE.columns.map(({ name }) => name)];
  for (const { column } of question.filters) expect(columns).toContain(column);
  expect(ask(text, nowMs)).toEqual(question);
}

describe('any text', () => {
  const nows = fc.constantFrom(NOW_MS, 0, 951_782_400_000, 4_102_444_799_999);

  it('is given a valid meaning if it consists of words from questions', () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((words) => words.join(' '));
    fc.assert(fc.property(texts, nows, expectSane), { seed: 7, numRuns: 1500 });
  });

  it('is given a valid meaning if it consists of such words without blanks between them', () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((words) => words.join(''));
    fc.assert(fc.property(texts, nows, expectSane), { seed: 8, numRuns: 1000 });
  });

  it('is given a valid meaning if it consists of random characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), nows, expectSane), { seed: 9, numRuns: 1000 });
  });

  it.each([
    'in march ',
    '5th of march, ',
    '1 ',
    '"',
    'a',
    '1,',
    'weight > 1 ',
    'between 1 and ',
    '- ',
    "'x ",
    'formation = a or ',
    '\u0000',
  ])('is given a valid meaning in time if it repeats %j over 100 KB', (unit) =>
    expectSane(unit.repeat(100_000 / unit.length), NOW_MS),
  );
});
