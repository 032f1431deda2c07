import { describe, expect, test } from 'vitest';
import { firstWord, onOneLine, StatementSplitter } from '../../src/cli/shell/statement-splitter.ts';
import { tokenize } from '../../src/query/lexer/lexer.ts';
import { Random } from '../support/random.ts';

/** Returns the statements of a text that arrives line by line, and the remainder. */
function split(text: string): { pieces: string[]; lines: number[]; rest: string | undefined } {
  const splitter = new StatementSplitter();
  const pieces = text.split('\n').flatMap((line) => splitter.add(`${line}\n`));
  return {
    pieces: pieces.map((piece) => piece.text),
    lines: pieces.map((piece) => piece.line),
    rest: splitter.end()?.text,
  };
}

describe('statements', () => {
  test.each<[string, string[], string | undefined]>([
    ['a; b;', ['a', 'b'], undefined],
    ['a\n b\n;', ['a\n b'], undefined],
    [';; ;a;', ['a'], undefined],
    ['a', [], 'a'],
    ["a ';' b;", ["a ';' b"], undefined],
    ['a ";" b;', ['a ";" b'], undefined],
    ['a `;` b;', ['a `;` b'], undefined],
    ["'it''s; ok';", ["'it''s; ok'"], undefined],
    ["'it\\'s; ok';", ["'it\\'s; ok'"], undefined],
    ["'back\\\\'; b;", ["'back\\\\'", 'b'], undefined],
    ['`a\\`; b;', ['`a\\`', 'b'], undefined],
    ['"\'"; b;', ['"\'"', 'b'], undefined],
    ['a // ; no\n; b;', ['a // ; no', 'b'], undefined],
    ['a /* ; \n ; */ b;', ['a /* ; \n ; */ b'], undefined],
    ['a /*/ ; */ b;', ['a /*/ ; */ b'], undefined],
    ["// it's\na;", ["// it's\na"], undefined],
    ['a / b; c * d;', ['a / b', 'c * d'], undefined],
    ['// only\n/* words */ ;', [], undefined],
    ['// only', [], undefined],
    ["'open; a;", [], "'open; a;"],
    ["'over\nlines;'; b;", ["'over\nlines;'", 'b'], undefined],
  ])('end at semicolons outside quotes and comments: %j', (text, pieces, rest) => {
    expect(split(text)).toMatchObject({ pieces, rest });
  });

  test('are returned with the line on which they begin', () => {
    expect(split('\n\na;\nb\n;  c;\n\n  // about d\nd;').lines).toEqual([3, 4, 5, 7]);
  });

  test('end where the lexer of the language finds a semicolon', () => {
    const random = new Random(3);
    const signs = ['a', ' ', ';', "'", '"', '`', '\\', '\\n', '/', '*', '\n', '//', '/*', '*/', "''"];
    let compared = 0;
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 1 + random.below(12) }, () => signs[random.below(signs.length)]).join('');
      let ends: number[];
      try {
        ends = tokenize(text).flatMap(({ value, kind, start }) => (kind === 'symbol' && value === ';' ? [start] : []));
      } catch {
        continue;
      }
      compared++;
      const splitter = new StatementSplitter();
      const pieces = splitter.add(text);
      const parts = [
        ...ends.map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1]! + 1, end)),
        text.slice((ends.at(-1) ?? -1) + 1),
      ];
      const filled = parts.filter((part) => tokenize(part).length > 1);
      const rest = splitter.end();
      expect(
        [...pieces, ...(rest === undefined ? [] : [rest])].map((piece) => piece.text),
        JSON.stringify(text),
      ).toEqual(filled.map((part) => part.trim()));
    }
    expect(compared).toBeGreaterThan(3000);
  });

  test('are found in one pass over a long text', () => {
    const splitter = new StatementSplitter();
    let pieces = 0;
    for (let i = 0; i < 200_000; i++) pieces += splitter.add("MATCH (a:b) WHERE a.c = ';' RETURN a;\n").length;
    expect(pieces).toBe(200_000);
  });
});

test('a splitter reports whether a statement has begun, and clear() forgets it', () => {
  const splitter = new StatementSplitter();
  expect(splitter.isEmpty).toBe(true);
  splitter.add(' // a word\n');
  expect(splitter.isEmpty).toBe(true);
  splitter.add('/* more');
  expect([splitter.isEmpty, splitter.isQuoted]).toEqual([false, true]);
  splitter.add(" */ MATCH 'x");
  expect([splitter.isEmpty, splitter.isQuoted]).toEqual([false, true]);
  splitter.clear();
  expect([splitter.isEmpty, splitter.isQuoted, splitter.text]).toEqual([true, false, '']);
  expect(splitter.add('b;').map((piece) => piece.text)).toEqual(['b']);
});

test.each([
  ['match (a:b)', 'MATCH'],
  [' // x\n /* y */ Begin', 'BEGIN'],
  ['/* x', ''],
  ['', ''],
  ['7', ''],
  [`${'/**/'.repeat(5000)}7`, ''],
])('the first word of %j is %j', (text, word) => {
  expect(firstWord(text)).toBe(word);
});

test.each<[string, string | undefined]>([
  ['a\n  b', 'a   b'],
  ["a // x;y\nb 'c // d'", "a  b 'c // d'"],
  ['\'x\ny\' "p\r\nq"', '\'x\\ny\' "p\\r\\nq"'],
  ['/* x\n * y */ a', '/* x * y */ a'],
  ['`a\nb`', undefined],
  ["'it\\'s\n'", "'it\\'s\\n'"],
])('%j becomes one line: %j', (text, line) => {
  expect(onOneLine(text)).toBe(line);
});
