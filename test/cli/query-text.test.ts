import { describe, expect, test } from 'vitest';
import { clipped, displayWidth, padEnd, padStart } from '../../src/cli/display-width.ts';
import { formatOf, parametersOf } from '../../src/cli/query/options.ts';
import { cellText, ResultTable } from '../../src/cli/query/result-table.ts';
import { errorText, placeText } from '../../src/cli/run/error-text.ts';
import { schemaText } from '../../src/cli/shell/schema-text.ts';
import { UsageError, type World } from '../../src/cli/world.ts';
import { HedgerowError } from '../../src/errors.ts';

describe('the width of a text on a terminal', () => {
  test.each<[string, number]>([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['한', 2],
    ['\u1112\u1161\u11ab', 2],
    ['👍', 2],
    ['👍🏽', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤', 1],
    ['❤️', 2],
    ['✓', 1],
    ['a\u200bb', 2],
    ['ไทย', 3],
    ['ที่', 1],
  ])('is computed from its characters: %j takes %i cells', (text, width) => {
    expect(displayWidth(text)).toBe(width);
    expect(padEnd(text, 8)).toBe(text + ' '.repeat(8 - width));
    expect(padStart(text, 8)).toBe(' '.repeat(8 - width) + text);
  });

  test.each<[string, number, string]>([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['日本語', 6, '日本語'],
    ['日本語x', 6, '日本…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['e\u0301e\u0301', 2, 'e\u0301e\u0301'],
  ])('is limited by shortening the text: %j shortened to %i cells is %j', (text, most, expected) => {
    expect(clipped(text, most)).toBe(expected);
    expect(displayWidth(clipped(text, most))).toBeLessThanOrEqual(most);
  });
});

describe('a table', () => {
  test('aligns columns with wide characters, and numbers at the right', () => {
    const rows = [
      { name: '東京', n: 5, list: [1, 2], more: null },
      { name: 'Zürich', n: -12.5, list: [], more: true },
      { name: '', n: null, list: [3], more: 'x' },
    ];
    const table = new ResultTable(['name', 'n', 'list', 'more'], rows);
    expect(`\n${table.head()}${table.rows(rows)}`).toBe(`
name        n  list   more
------  -----  -----  ----
東京        5  [1,2]  null
Zürich  -12.5  []     true
         null  [3]    x
`);
  });

  test('contains no characters that a terminal interprets', () => {
    const rows = [{ 'a\u001b[2J': 'x\u001b]0;title\u0007\ny\u202e', b: ['\u009b'] }];
    const table = new ResultTable(['a\u001b[2J', 'b'], rows);
    const text = table.head() + table.rows(rows);
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(text.split('\n').length).toBe(4);
  });

  test('shortens very long values', () => {
    expect(displayWidth(cellText('語'.repeat(100_000)))).toBeLessThanOrEqual(100);
    expect(cellText({ a: 1 })).toBe('{"a":1}');
  });
});

describe('an error of a statement', () => {
  const wrong = (line: number, column: number) =>
    new HedgerowError('syntax_error', 'Wrong.', { fields: { line, column } });

  test('shows its line and a caret below the position', () => {
    expect(errorText(wrong(2, 3), 'MATCH\n  RETRUN\n')).toBe('Wrong.\n    RETRUN\n    ^\n');
    expect(errorText(wrong(1, 6), 'MATCH')).toBe('Wrong.\n  MATCH\n       ^\n');
    expect(errorText(new HedgerowError('conflict', 'Wrong.'), 'x')).toBe('Wrong.\n');
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    let thrown: unknown;
    try {
      JSON.stringify(deep);
    } catch (error) {
      thrown = error;
    }
    expect(errorText(thrown, 'x')).toBe(
      'The given values are nested too deeply; give values with at most 100 levels.\n',
    );
    expect(errorText(new Error('lost'), 'x')).toBe('lost\n');
    expect(errorText(wrong(9, 1), 'x')).toBe('Wrong.\n');
  });

  test('has its caret in the right column after wide characters, surrogate pairs and tabs', () => {
    expect(placeText("\t'日本👍' x", 1, 8)).toBe("   '日本👍' x\n  ".concat(' '.repeat(10), '^\n'));
  });

  test('shortens long lines around the position', () => {
    const text = `${'a'.repeat(500)}!${'b'.repeat(500)}`;
    const [line, caret] = placeText(text, 1, 501).split('\n');
    expect(line).toBe(`  …${'a'.repeat(60)}!${'b'.repeat(59)}…`);
    expect(caret!.indexOf('^')).toBe(line!.indexOf('!'));
  });
});

describe('the flags of a query', () => {
  test('give parameters by name, parsed as JSON', () => {
    expect(parametersOf(['a=1', 'b="x=y"', 'c=[1,2]', '_d=null'])).toEqual({ a: 1, b: 'x=y', c: [1, 2], _d: null });
    for (const bad of ['a', '=1', '1a=1', 'a b=1', 'a=x', 'a='])
      expect(() => parametersOf([bad]), bad).toThrow(UsageError);
    expect(() => parametersOf(['a=1', 'a=2'])).toThrow(/twice/);
  });

  test('set the format, by default a table on a terminal and JSON otherwise', () => {
    const world = (isTTY: boolean) => ({ stdout: { isTTY, write() {} } }) as unknown as World;
    expect(formatOf(undefined, world(true))).toBe('table');
    expect(formatOf(undefined, world(false))).toBe('json');
    expect(formatOf('csv', world(true))).toBe('csv');
    expect(() => formatOf('xml', world(true))).toThrow(UsageError);
  });
});

test('a table is shown as the statements that create it', () => {
  const table = {
    name: 'trips',
    member_tables: ['ship', 'a b'],
    columns: [
      { name: 'speed', type: 'REAL' },
      { name: 'ok', type: 'BOOLEAN' },
    ],
    bucket_seconds: 60,
    compact_threshold: 0,
  };
  const indexes = [
    { table: 'trips', column: 'speed' },
    { table: 'other', column: 'x' },
  ];
  expect(schemaText(table, indexes)).toBe(
    'CREATE HYPEREDGE TABLE trips (ship, `a b`)\n  PROPERTIES (speed REAL, ok BOOLEAN)\n  BUCKET_SECONDS 60 COMPACT_THRESHOLD 0;\nCREATE INDEX ON trips (speed);\n',
  );
});
