// Long literal lists are kept as values instead of expressions. They must mean the same as short
// lists.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenizing } from '../../src/query/lexer/lexer.ts';
import { LONG_LIST } from '../../src/query/limits.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { prepareText, preparing } from '../../src/query/prepare.ts';
import { finish } from '../../src/schedule/steps.ts';
import { CopyPlace } from './copy-place.ts';

const DAY = 86_400;

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  await place.insert(
    't',
    Array.from({ length: 40 }, (_, row) => ({
      event_ts: row * DAY,
      members: [row % 5, 10 + (row % 3)],
      properties: { n: (row % 9) - 3, score: row / 4, place: `p${row % 6}` },
    })),
  );
});
afterAll(() => place.close());

const SHORT = { integers: '-2, 3, 0, 5', reals: '0.5, 2.25, 7.75', texts: "'p1', 'p''4', 'p5'", nodes: '1, 10' };
const TIMES = "'1970-01-03', '1970-01-05T00:00:00Z'";

/** Returns the items of a list, repeated until there are at least `count`. */
function repeated(items: string, count: number): string {
  const parts = items.split(', ');
  return Array.from({ length: count }, (_, index) => parts[index % parts.length]).join(', ');
}

/** Statements whose answer does not depend on how often an item occurs in the list. */
const STATEMENTS: [template: (list: (items: string) => string) => string][] = [
  [(list) => `MATCH (e:t) WHERE e.n IN [${list(SHORT.integers)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE NOT e.n IN [${list(SHORT.integers)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE e.score IN [${list(SHORT.integers)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE e.score IN [${list(SHORT.reals)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE e.place IN [${list(SHORT.texts)}] RETURN e.id ORDER BY e.id`],
  [
    (list) =>
      `MATCH (e:t) WHERE e.n + 1 IN [${list(SHORT.integers)}] OR e.place IN [${list(SHORT.texts)}] RETURN e.id ORDER BY e.id`,
  ],
  [(list) => `MATCH (e:t) WHERE e.event_ts IN [${list(TIMES)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE date(e.event_ts) IN [${list("'1970-01-04', '1970-01-09'")}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) WHERE bucket(e) IN [${list(SHORT.integers)}] RETURN e.id ORDER BY e.id`],
  [(list) => `MATCH (e:t) MEMBERS [${list(SHORT.nodes)}] RETURN e.id ORDER BY e.id`],
  [
    (list) =>
      `MATCH (a:t), (b:t) WHERE a.n = b.n AND a.id IN [${list('1, 2, 3')}] RETURN a.id, b.id ORDER BY a.id, b.id`,
  ],
  [
    (list) =>
      `MATCH (e:t) WHERE e.n IN [${list(SHORT.integers)}] RETURN count(*) AS n, e.place IN [${list(SHORT.texts)}] AS known`,
  ],
  [(list) => `MATCH (e:t) RETURN count(*) AS n, max(e.n) IN [${list(SHORT.integers)}] AS found`],
];

describe.each([LONG_LIST, LONG_LIST + 1, 5000])('a list of %i items', (count) => {
  test.each(STATEMENTS)('has the same answer as a short one: %s', async (template) => {
    const short = await place.run(template((items) => items));
    const long = await place.run(template((items) => repeated(items, count)));
    expect(long.rows.map((row) => Object.values(row))).toEqual(short.rows.map((row) => Object.values(row)));
    expect(short.rows.length).toBeGreaterThan(0);
  });
});

const NUMBERS = Array.from({ length: 100 }, (_, index) => index - 50);
const WORDS = NUMBERS.map((number) => `w${number}`);
const written = (values: readonly (number | string)[]) =>
  values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ');

describe('a long list as a value', () => {
  test('is returned unchanged', async () => {
    const text = `MATCH (e:t) RETURN DISTINCT [${written(NUMBERS)}] AS a, [${written(WORDS)}] AS b, [${written(NUMBERS.map((n) => n + 0.5))}] AS c, size([${written(NUMBERS)}]) AS n`;
    const { rows } = await place.run(text);
    expect(rows).toEqual([{ a: NUMBERS, b: WORDS, c: NUMBERS.map((n) => n + 0.5), n: 100 }]);
  });

  test('can be grouped by and compared', async () => {
    const text = `MATCH (e:t) RETURN [${written(NUMBERS)}] AS a, [${written(NUMBERS)}] = [${written(NUMBERS)}] AS same, count(*) AS n`;
    expect((await place.run(text)).rows).toEqual([{ a: NUMBERS, same: true, n: 40 }]);
  });

  test('can be the members of an inserted edge', async () => {
    await place.table('wide');
    const members = Array.from({ length: LONG_LIST }, (_, index) => index);
    await place.run(`INSERT INTO wide (event_ts, members) VALUES (1, [${written(members)}])`);
    await place.run(`UPDATE wide SET members = [${written(members.map((node) => node + 7))}] WHERE true`);
    expect((await place.run('MATCH (e:wide) RETURN e.members AS m')).rows).toEqual([
      { m: members.map((node) => node + 7) },
    ]);
  });

  test('may have items that are not plain values after the first hundred', async () => {
    const text = `MATCH (e:t) WHERE e.id = 3 RETURN [${written(NUMBERS)}, e.n, null, 7.5, $p] AS a`;
    const { rows } = await place.run(text, { p: 9 });
    expect(rows).toEqual([{ a: [...NUMBERS, -1, null, 7.5, 9] }]);
  });
});

describe('a long list', () => {
  const numbers = written(NUMBERS);
  test.each([
    ['a text among numbers, at its place', `MATCH (e:t) RETURN [${numbers}, 'x'] AS a`, "'x'"],
    ['texts beside numbers', `MATCH (e:t) WHERE e.n IN [${written(WORDS)}] RETURN e.id`, 'e.n IN'],
    [
      'a text that is no time, at its place',
      `MATCH (e:t) WHERE e.event_ts IN [${repeated(TIMES, 80)}, 'noon'] RETURN e.id`,
      "'noon'",
    ],
    ['nodes that are texts', `MATCH (e:t) MEMBERS [${written(WORDS)}] RETURN e.id`, "['w-50"],
    ['reals as nodes', `MATCH (e:t) MEMBERS [${repeated('0.5', 70)}] RETURN e.id`, '[0.5'],
    ['nothing after a comma', `MATCH (e:t) RETURN [${numbers}, ] AS a`, '] AS'],
    ['no comma', `MATCH (e:t) RETURN [${numbers} 1] AS a`, '1] AS'],
  ])('is refused with %s', async (_, text, at) => {
    const column = text.lastIndexOf(at) + 1;
    await expect(place.run(text)).rejects.toThrow(`Line 1, column ${column}:`);
  });
});

test('every long list of plain values that have one type is one node', () => {
  const items = (text: string) => {
    const statement = parseStatement(`MATCH (e:t) RETURN ${text}`) as unknown as {
      items: { expression: { kind: string } }[];
    };
    return statement.items[0]!.expression.kind;
  };
  expect(items(`[${repeated('1', LONG_LIST - 1)}]`)).toBe('list');
  expect(items(`[${repeated('1', LONG_LIST)}]`)).toBe('values');
  expect(items(`[${repeated("'a'", 300)}]`)).toBe('values');
  expect(items(`[${repeated('1', 300)}, 'a']`)).toBe('list');
  expect(items(`[1.5, ${repeated('1', 300)}]`)).toBe('list');
});

describe('a list in a text that is parsed in steps', () => {
  const many = repeated(SHORT.integers, 5000);
  const around = (list: string) => `MATCH (e:t) WHERE e.n IN ${list} AND e.id > 1 RETURN e.id AS id`;
  test.each([
    ['integers', `[${many}]`],
    ['reals, some negative', `[${repeated('0.5, - 2.25, -0.0, .5, 1e3', 5000)}]`],
    ['texts', `[${repeated(SHORT.texts, 5000)}]`],
    ['texts with escapes and in double quotes', `["a\\n", 'b''', ${repeated('"x"', 500)}]`],
    ['zeros with a sign', `[${repeated('-0, 0', 200)}]`],
    ['blanks and comments', `[ ${repeated('1 /* one */, 2 // two\n', 300)} ]`],
    ['few items', `[${repeated('1', LONG_LIST - 1)}]`],
    ['just enough items', `[${repeated('1', LONG_LIST)}]`],
    ['a parameter in quotes', `[${repeated("'a'", 100)}, '$p']`],
    ['a number of another type', `[${many}, 1.5]`],
    ['a text among numbers', `[${many}, 'a']`],
    ['a null', `[${many}, null]`],
    ['a sum', `[${many}, 1 + 2]`],
    ['a list in a list', `[${many}, [${many}]]`],
    ['a list of lists', `[[${many}], [1, 2]]`],
    ['a comma at the end', `[${many},]`],
    ['no comma', `[${many} 7]`],
    ['a sign without a number', `[${many}, -'a']`],
    ['two signs', `[${many}, --1]`],
    ['no end', `[${many}`],
    ['a number that is too large', `[${many}, 9007199254740993]`],
    ['a text that does not end', `[${many}, 'a]`],
    ['more items than allowed', `[${repeated('1', 100_001)}]`],
    ['as many items as allowed', `[${repeated('1', 100_000)}]`],
    ['too many parentheses', `${'('.repeat(98)}[${many}]${')'.repeat(98)}`],
    ['one parenthesis fewer', `${'('.repeat(97)}[${many}]${')'.repeat(97)}`],
    ['a symbol behind it', `[${many}] ]`],
  ])('is read as at once: %s', (_, list) => {
    const read = (work: () => unknown) => {
      try {
        return work();
      } catch (error) {
        return (error as Error).message;
      }
    };
    const text = around(list);
    expect(read(() => finish(preparing(text)))).toEqual(read(() => prepareText(text)));
  });

  test('has no token for each item', () => {
    const tokens = finish(tokenizing(around(`[${many}]`), true));
    expect(tokens.length).toBeLessThan(40);
    expect(tokens.find(({ list }) => list !== undefined)?.list?.values).toHaveLength(5000);
  });
});
