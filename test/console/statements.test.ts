import { expect, test } from 'vitest';
import { csvLine } from '../../src/console/query/csv-line.ts';
import { onlyReads, statementsOf } from '../../src/console/query/script.ts';
import { FUNCTIONS } from '../../src/console/statement-words.ts';
import { barsOf } from '../../src/console/time-bars.ts';
import { FUNCTION_NAMES } from '../../src/query/language.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';

test('a text is split into statements at its semicolons', () => {
  const cut = (text: string) => statementsOf(text).map((statement) => statement.trim());
  expect(cut('')).toEqual([]);
  expect(cut(' // only a comment\n ; ;')).toEqual([]);
  expect(cut('SHOW TABLES')).toEqual(['SHOW TABLES']);
  expect(cut("INSERT 'a;b' /* ; */;\nMATCH `c;d`; // end ;")).toEqual(["INSERT 'a;b' /* ; */;", 'MATCH `c;d`;']);
});

test.each([
  'SHOW TABLES; MATCH (e:t) RETRUN e',
  'SHOW TABLES;\n\n  MATCH (e:t) RETRUN e',
  '/* two\nlines */ BEGIN;\t/* \u{1f33f} */ MATCH (e:t) RETRUN e; COMMIT',
])('an error is located in the whole text: %j', (text) => {
  const fault = (statement: string) => {
    try {
      parseStatement(statement);
    } catch (error) {
      return (error as { fields?: Record<string, unknown> }).fields;
    }
    return undefined;
  };
  const found = statementsOf(text)
    .map(fault)
    .find((fields) => fields !== undefined)!;
  const line = text.split('\n')[Number(found.line) - 1]!;
  expect([...line].slice(Number(found.column) - 1).join('')).toMatch(/^RETRUN/);
});

test('only reads are repeated automatically', () => {
  expect(onlyReads('MATCH (e:t) RETURN e; MATCH (f:t) RETURN f')).toBe(true);
  expect(onlyReads('MATCH (e:t) RETURN e; DELETE FROM t')).toBe(false);
  expect(onlyReads('')).toBe(false);
});

test('lines of CSV distinguish null from empty text and are safe from formula injection', () => {
  expect(csvLine([null, '', 1, true, [1, 2], '=1+1', 'a "b", c', { a: 1 }])).toBe(
    `,"",1,true,1 2,'=1+1,"a ""b"", c","{""a"":1}"\r\n`,
  );
});

test('bars cover the whole time window, and some time around it when the window is short', () => {
  const one = barsOf([{ ts: 100, count: 3 }], 100, 100, 1);
  expect(one.starts.length).toBe(59);
  expect([one.starts[0], one.starts.at(-1), one.counts[29]]).toEqual([71, 129, 3]);
  const far = barsOf(
    [
      { ts: -20, count: 1 },
      { ts: 1000, count: 2 },
      { ts: 5000, count: 9 },
    ],
    -15,
    1005,
    10,
  );
  expect([far.starts.length, far.starts[0], far.starts.at(-1)]).toEqual([103, -20, 1000]);
  expect([far.counts[0], far.counts.at(-1), far.counts.reduce((sum, count) => sum + count)]).toEqual([1, 2, 3]);
  const least = -Number.MAX_SAFE_INTEGER;
  const width = Math.ceil((2 * Number.MAX_SAFE_INTEGER + 1) / 240);
  const widest = barsOf([{ ts: Math.floor(least / width) * width, count: 1 }], least, -least, width);
  expect(widest.starts.length).toBeLessThan(245);
  expect(widest.counts[0]).toBe(1);
});

test('the editor knows every function of statements', () => {
  expect(FUNCTIONS.map((name) => name.toLowerCase()).sort()).toEqual([...FUNCTION_NAMES].sort());
});
