// Tests statements that compute very many values per row. Their rows are processed in smaller
// batches, and the answers equal those of light statements.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TextColumn } from '../../src/core/index.ts';
import type { BoundExpression } from '../../src/query/binder/bound.ts';
import { rowsFor, rowValues, weightOf } from '../../src/query/executor/batch-size.ts';
import { batchOf, NO_ROWS } from '../../src/query/executor/rows/row-set.ts';
import { CopyPlace } from './copy-place.ts';

const ROWS = 3000;
const TERMS = 1500;

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  const edges = Array.from({ length: ROWS }, (_, row) => ({
    event_ts: row,
    members: [row % 7, 100 + (row % 11)],
    properties: { n: row % 50, place: `p${row % 13}` },
  }));
  await place.insert('t', edges);
});
afterAll(() => place.close());

const many = (term: (index: number) => string, between: string) =>
  Array.from({ length: TERMS }, (_, i) => term(i)).join(between);

const PAIRS: [name: string, heavy: string, light: string][] = [
  [
    'OR',
    `MATCH (e:t) WHERE ${many((i) => `e.id + 0 = ${2 * i + 1}`, ' OR ')} RETURN e.id ORDER BY e.id`,
    `MATCH (e:t) WHERE e.id % 2 = 1 AND e.id < ${2 * TERMS} RETURN e.id ORDER BY e.id`,
  ],
  [
    'AND, counted',
    `MATCH (e:t) WHERE ${many((i) => `e.id <> ${3 * i}`, ' AND ')} RETURN count(*) AS c`,
    `MATCH (e:t) WHERE NOT (e.id % 3 = 0 AND e.id < ${3 * TERMS}) RETURN count(*) AS c`,
  ],
  [
    'groups',
    `MATCH (e:t) RETURN e.n, ${many((i) => `sum(e.id + ${i}) - sum(e.id) AS s${i}`, ', ')} ORDER BY e.n LIMIT 0`,
    'MATCH (e:t) RETURN e.n LIMIT 0',
  ],
  [
    'IN a list that is computed',
    `MATCH (e:t) WHERE e.n IN [${many((i) => `e.id - ${i}`, ', ')}] RETURN e.id ORDER BY e.id DESC`,
    `MATCH (e:t) WHERE e.id - e.n >= 0 AND e.id - e.n < ${TERMS} RETURN e.id ORDER BY e.id DESC`,
  ],
];

test.each(PAIRS)('a heavy statement has the same answer as a light one: %s', async (_, heavy, light) => {
  const found = (await place.run(heavy)).rows;
  if (!heavy.includes('LIMIT 0')) expect(found.length).toBeGreaterThan(0);
  expect(found).toEqual((await place.run(light)).rows);
});

test('RETURN may have very many items, for rows, groups and sorted rows', async () => {
  const items = many((i) => `e.n + ${i} AS i${i}`, ', ');
  for (const text of [
    `MATCH (e:t) WHERE e.id <= 400 RETURN e.id, ${items}`,
    `MATCH (e:t) RETURN e.id, ${items} ORDER BY e.id DESC LIMIT 400`,
    `MATCH (e:t) WHERE e.id > 2600 RETURN DISTINCT e.id, ${items}`,
  ]) {
    const { rows } = await place.run(text);
    expect(rows.length).toBe(400);
    for (const row of rows)
      if ((row.i7 as number) - (row.i0 as number) !== 7) throw new Error(JSON.stringify(row).slice(0, 200));
  }
});

test('UPDATE with a heavy condition changes the right rows', async () => {
  const condition = many((i) => `id = ${4 * i}`, ' OR ');
  const { rows } = await place.run(`UPDATE t SET score = 1 WHERE ${condition} OR id = -1`);
  expect(rows[0]).toMatchObject({ operation: 'UPDATE', rows_affected: ROWS / 4 });
  const after = await place.run('MATCH (e:t) WHERE e.score = 1 RETURN count(*) AS c, min(e.id) AS least');
  expect(after.rows).toEqual([{ c: ROWS / 4, least: 4 }]);
});

describe('DISTINCT over a list that is the same for all rows', () => {
  const l = Array.from({ length: 5000 }, (_, i) => `text number ${i}`);

  test.each([
    'MATCH (e:t) RETURN DISTINCT $l AS x LIMIT 9',
    'MATCH (e:t) RETURN DISTINCT $l AS x, e.n % 2 = 3 AS y ORDER BY y LIMIT 9',
    'MATCH (e:t) RETURN DISTINCT e.n % 2 = 3 AS y, $l AS x ORDER BY y LIMIT 90000',
  ])('writes the list a few times, not once for each row: %s', async (text) => {
    const stringify = vi.spyOn(JSON, 'stringify');
    try {
      const { rows } = await place.run(text, { l });
      expect(rows.map(({ x }) => x)).toEqual([l]);
      expect(stringify.mock.calls.filter(([value]) => Array.isArray(value)).length).toBeLessThan(100);
    } finally {
      stringify.mockRestore();
    }
  });
});

describe('the number of rows in a batch', () => {
  const constant: BoundExpression = { kind: 'constant', value: 1, type: 'integer', text: '1' };
  const negated = (depth: number): BoundExpression =>
    depth === 0 ? constant : { kind: 'negate', operand: negated(depth - 1), type: 'integer', text: '-' };

  const rowsAtOnce = (expressions: BoundExpression[]) => rowsFor(weightOf(expressions).fixed, 1);

  test('falls as more is computed for each row, and is never 0', () => {
    const light = rowsAtOnce([negated(3)]);
    expect(light).toBeGreaterThan(50_000);
    expect(rowsAtOnce([])).toBeGreaterThan(light);
    const heavy = rowsAtOnce(Array.from({ length: 2000 }, () => negated(1)));
    expect(heavy).toBeLessThan(300);
    expect(rowsAtOnce(Array.from({ length: 100_000 }, () => negated(1)))).toBeGreaterThan(0);
  });

  test('is small if DISTINCT is applied to whole rows with long texts, because each row is written as text', () => {
    const row: BoundExpression = { kind: 'row', pattern: 0, type: 'row', text: 'e' };
    const valuesOf = (letters: number) => {
      const texts = ['a', 'x'.repeat(letters)];
      const column: TextColumn = { kind: 'text', codes: new Uint32Array(1), nulls: new Uint8Array(1), texts };
      return rowValues(weightOf([row]), batchOf({ ...NO_ROWS, rows: 1, columns: new Map([[7, column]]) }, 0));
    };
    expect(valuesOf(2)).toBeLessThan(50);
    expect(valuesOf(80_000)).toBeGreaterThan(10_000);
  });

  test('is small where a long list is returned for each row, but not where it is compared', () => {
    const list: BoundExpression = { kind: 'parameter', name: 'l', type: 'list', itemType: 'text', text: '$l' };
    const parameters = { l: Array.from({ length: 10_000 }, () => 'x'.repeat(80)) };
    const batch = batchOf({ ...NO_ROWS, rows: 1 }, 0);
    expect(rowValues(weightOf([list], parameters), batch)).toBeGreaterThan(100_000);
    const compared: BoundExpression = {
      kind: 'compare',
      operator: '=',
      left: list,
      right: list,
      type: 'boolean',
      text: '',
    };
    expect(rowValues(weightOf([compared], parameters), batch)).toBeLessThan(100);
  });
});
