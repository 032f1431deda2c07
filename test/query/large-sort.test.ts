// Tests ORDER BY without a small LIMIT. The rows stay columnar, and have the same order as after a
// plain sort.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { FEW_ROWS, LargeSorter, type SortedChunk } from '../../src/query/executor/sorts/large-sort.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';

const ROWS = 9000;

interface Row {
  id: number;
  members: number[];
  n: number | null;
  score: number | null;
  place: string | null;
  ok: boolean | null;
}

let place: CopyPlace;
const rows: Row[] = [];
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  const random = new Random(11);
  const orNull = <T>(value: T): T | null => (random.chance(0.1) ? null : value);
  const texts = [
    '',
    'a',
    'ab',
    'é',
    '\u{1F600}',
    '\uffee',
    'Z',
    '10',
    '9',
    ...Array.from({ length: 300 }, (_, i) => `w${i}`),
  ];
  for (let id = 1; id <= ROWS; id++)
    rows.push({
      id,
      members: [random.below(9), 10 + random.below(9)],
      n: orNull(random.below(40) - 20),
      score: orNull(random.below(1000) / 8),
      place: orNull(texts[random.below(texts.length)]!),
      ok: orNull(random.chance(0.5)),
    });
  const edges = rows.map(({ id, members, ...properties }) => ({ event_ts: id, members, properties }));
  await place.insert('t', edges.slice(0, 5000));
  await place.database.compact();
  await place.insert('t', edges.slice(5000));
});
afterAll(() => place.close());

type Key = Exclude<keyof Row, 'members'>;

/**
 * Returns the rows in order: nulls last when ascending and first when descending, texts by code
 * point, ties by id.
 */
function inOrder(keys: readonly [Key, boolean][], chosen: readonly Row[]): Row[] {
  const compare = (a: Row, b: Row): number => {
    for (const [key, descending] of keys) {
      const [x, y] = [a[key], b[key]];
      if (x === y) continue;
      const order = x === null ? 1 : y === null ? -1 : compareValues(x, y);
      if (order !== 0) return descending ? -order : order;
    }
    return a.id - b.id;
  };
  return [...chosen].sort(compare);
}

function compareValues(a: number | string | boolean, b: number | string | boolean): number {
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b);
  const [x, y] = [[...a], [...b]].map((points) => points.map((point) => point.codePointAt(0)!));
  for (let i = 0; i < Math.min(x!.length, y!.length); i++) if (x![i] !== y![i]) return x![i]! - y![i]!;
  return x!.length - y!.length;
}

const ORDERS: [Key, boolean][][] = [
  [['n', false]],
  [['n', true]],
  [['place', false]],
  [
    ['place', true],
    ['score', false],
  ],
  [
    ['ok', false],
    ['place', true],
  ],
  [
    ['ok', true],
    ['n', true],
    ['score', true],
  ],
  [['score', false]],
];
const text = (keys: readonly [Key, boolean][]) =>
  keys.map(([key, down]) => `t.${key}${down ? ' DESC' : ''}`).join(', ');

test.each(ORDERS.map((keys) => [text(keys), keys] as const))(
  'rows are sorted as by a plain sort with ORDER BY %s',
  async (order, keys) => {
    const wanted = inOrder(keys, rows);
    const all = (await place.run(`MATCH (t:t) RETURN t.id, t.n, t.place, t.ok, t.members ORDER BY ${order}, t.id`))
      .rows;
    expect(all).toEqual(wanted.map(({ id, n, place: p, ok, members }) => ({ id, n, place: p, ok, members })));
    const some = await place.run(`MATCH (t:t) RETURN t.id ORDER BY ${order}, t.id SKIP 4000 LIMIT 700`);
    expect(some.rows.map(({ id }) => id)).toEqual(wanted.slice(4000, 4700).map(({ id }) => id));
  },
);

test('whole rows are sorted, and so are a few rows selected from many', async () => {
  const wanted = inOrder([['place', false]], rows);
  const all = (await place.run('MATCH (t:t) RETURN t ORDER BY t.place, t.id')).rows as { t: Row }[];
  expect(all.length).toBe(ROWS);
  expect(all.map(({ t }) => [t.id, t.members, t.n])).toEqual(wanted.map(({ id, members, n }) => [id, members, n]));
  // Selects a few rows from every batch, which are then concatenated.
  const few = await place.run('MATCH (t:t) WHERE t.n = 7 AND t.ok RETURN t.members, t ORDER BY t.score DESC, t.id');
  const chosen = inOrder(
    [['score', true]],
    rows.filter(({ n, ok }) => n === 7 && ok === true),
  );
  expect(few.rows.map((row) => (row.t as Row).id)).toEqual(chosen.map(({ id }) => id));
  expect(few.rows.map(({ members }) => members)).toEqual(chosen.map(({ members }) => members));
});

test('groups and DISTINCT rows are sorted', async () => {
  const groups = (
    await place.run('MATCH (t:t) RETURN t.id % 6000 AS k, count(*) AS c, collect(t.id) AS ids ORDER BY c DESC, k')
  ).rows;
  expect(groups.length).toBe(6000);
  expect(groups[0]).toEqual({ k: 1, c: 2, ids: [1, 6001] });
  expect(groups.at(-1)).toEqual({ k: 5999, c: 1, ids: [5999] });
  const distinct = (await place.run('MATCH (t:t) RETURN DISTINCT t.n, t.score ORDER BY t.n + t.n, t.score DESC')).rows;
  const known = new Set(rows.map(({ n, score }) => JSON.stringify([n, score])));
  expect(distinct.length).toBe(known.size);
  for (const [i, row] of distinct.entries()) {
    const before = distinct[i - 1];
    if (before === undefined) continue;
    const order = compareNullable(before.n as number | null, row.n as number | null);
    expect(order).toBeLessThanOrEqual(0);
    if (order === 0) expect(compareNullable(row.score as number | null, before.score as number | null)).toBeLessThan(0);
  }
});

function compareNullable(a: number | null, b: number | null): number {
  return (a ?? Infinity) - (b ?? Infinity) || 0;
}

test('pairs from a join are sorted', async () => {
  const query =
    'MATCH (a:t), (b:t) WHERE a.n = b.n AND a.id < 900 AND b.id < 900 AND a.score < b.score RETURN a.id, b.id, a.members ORDER BY b.place, a.id, b.id';
  const found = (await place.run(query)).rows;
  const few = rows.filter(({ id }) => id < 900);
  const wanted: [Row, Row][] = [];
  for (const a of few)
    for (const b of few)
      if (a.n !== null && a.n === b.n && a.score !== null && b.score !== null && a.score < b.score) wanted.push([a, b]);
  wanted.sort(([a, b], [c, d]) => compareTextsOrNull(b.place, d.place) || a.id - c.id || b.id - d.id);
  expect(found.length).toBeGreaterThan(4096);
  expect(found.map((row) => [row['a.id'], row['b.id']])).toEqual(wanted.map(([a, b]) => [a.id, b.id]));
  expect(found.map((row) => row['a.members'])).toEqual(wanted.map(([a]) => a.members));
});

function compareTextsOrNull(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return compareValues(a, b);
}

test('rows with equal keys stay in the order of the input, in small chunks and large ones', () => {
  const key = { expression: { kind: 'itemValue', index: 0, type: 'integer', text: 'n' }, descending: false } as const;
  const sorter = new LargeSorter([key]);
  const expected: number[] = [];
  for (const count of [3, FEW_ROWS, 1, 1, 2 * FEW_ROWS, 5, FEW_ROWS - 1, FEW_ROWS]) {
    const first = expected.length;
    const values = Float64Array.from({ length: count }, (_, row) => first + row);
    const vector = { kind: 'number', values, nulls: undefined } as const;
    const equal = { kind: 'number', values: new Float64Array(count), nulls: undefined } as const;
    const chunk = { count, items: [vector], orders: [equal], batch: { count: 0, sides: [] } };
    sorter.add({ ...chunk, environment: { parameters: {}, patterns: [] } } as SortedChunk);
    expected.push(...values);
  }
  const steps = sorter.sorted(Infinity);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const vector = sorter.item(0, key, step.value);
  expect(expected.map((_, place) => valueAt(vector, place))).toEqual(expected);
});
