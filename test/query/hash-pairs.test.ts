// Tests the hash table of an equality join, the concatenation of row sets, and the sorting of
// numbers. All run in slices, and must have the same results as plain implementations.

import { describe, expect, test, vi } from 'vitest';
import type { BoundExpression, ValueType } from '../../src/query/binder/bound.ts';
import { QueryContext, type RowSource } from '../../src/query/executor/context.ts';
import { hashPairs, hashTable } from '../../src/query/executor/joins/hash-pairs.ts';
import { NO_ROWS, type PropertyColumn, type RowSet } from '../../src/query/executor/rows/row-set.ts';
import { ValueIds } from '../../src/query/executor/rows/value-ids.ts';
import { sortedNumbers } from '../../src/query/executor/sorts/sorted-numbers.ts';
import { concatenated } from '../../src/query/executor/values/concatenation.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';

type Cell = number | string | boolean | null;

/** Returns the result of the steps, and the number of pauses. */
function run<T>(steps: Generator<null, T, void>): { value: T; pauses: number } {
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, pauses };
    pauses++;
  }
}

function columnOf(values: readonly Cell[], type: ValueType): PropertyColumn {
  const nulls = Uint8Array.from(values, (value) => Number(value === null));
  if (type !== 'text') return { kind: 'number', nulls, values: Float64Array.from(values, Number) };
  const texts = [...new Set(values.map((value) => String(value ?? '')))];
  return { kind: 'text', nulls, texts, codes: Uint32Array.from(values, (value) => texts.indexOf(String(value ?? ''))) };
}

function setOf(columns: readonly (readonly Cell[])[], types: readonly ValueType[]): RowSet {
  const rows = columns[0]!.length;
  const times = Float64Array.from({ length: rows }, (_, row) => row);
  return {
    ...NO_ROWS,
    rows,
    times,
    ids: times,
    columns: new Map(columns.map((values, id) => [id, columnOf(values, types[id]!)])),
  };
}

function field(pattern: number, id: number, type: ValueType): BoundExpression {
  const columnType = type === 'text' ? 'TEXT' : type === 'boolean' ? 'BOOLEAN' : 'REAL';
  return {
    kind: 'field',
    pattern,
    field: { kind: 'property', id, name: `c${id}`, type: columnType },
    type,
    text: `c${id}`,
  };
}

const source = {} as RowSource;
const context = () => new QueryContext({ source, patterns: [], parameters: {}, nowUs: () => 0 });

const KINDS: Record<string, (random: Random) => Cell> = {
  integer: (random) => random.below(50) - 25,
  real: (random) => random.below(60) / 2,
  text: (random) => ['', 'a', 'b', 'é', 'null', 'true', '1'][random.below(7)]!,
  boolean: (random) => random.chance(0.5),
};

describe('pairs of an equality join', () => {
  const cases: [ValueType[], ValueType[]][] = [
    [['integer'], ['integer']],
    [['integer'], ['real']],
    [['text'], ['text']],
    [['boolean'], ['boolean']],
    [
      ['integer', 'text'],
      ['real', 'text'],
    ],
    [
      ['text', 'boolean', 'integer'],
      ['text', 'boolean', 'integer'],
    ],
  ];
  test.each(cases)('are the same as in a nested loop for %s and %s', (leftTypes, rightTypes) => {
    for (let seed = 1; seed <= 6; seed++) {
      const random = new Random(seed);
      const cells = (types: readonly ValueType[], rows: number) =>
        types.map((type) => Array.from({ length: rows }, () => (random.chance(0.1) ? null : KINDS[type]!(random))));
      const left = cells(leftTypes, seed === 1 ? 9000 : random.below(400));
      const right = cells(rightTypes, seed === 1 ? 40 : random.below(400));
      const links = leftTypes.map((type, id) => ({ left: field(0, id, type), right: field(1, id, rightTypes[id]!) }));
      const sides = [setOf(left, leftTypes), setOf(right, rightTypes)];
      const found: string[] = [];
      const own = context();
      const lefts = { count: sides[0]!.rows, sides: [{ set: sides[0]!, rows: undefined }] };
      const rights = { count: sides[1]!.rows, sides: [undefined, { set: sides[1]!, rows: undefined }] };
      const pairs = hashPairs(links, lefts, finish(hashTable(links, rights, own)), own);
      for (const some of pairs)
        for (let i = 0; i < (some?.count ?? 0); i++) found.push(`${some!.left[i]} ${some!.right[i]}`);
      const wanted: string[] = [];
      for (let a = 0; a < sides[0]!.rows; a++)
        for (let b = 0; b < sides[1]!.rows; b++)
          if (left.every((values, id) => values[a] !== null && values[a] === right[id]![b])) wanted.push(`${a} ${b}`);
      expect(found).toEqual(wanted);
    }
  });
});

test('each key of a join of several keys is looked up in a step of its own', () => {
  const ROWS = 9000;
  const own = context();
  const links = [0, 1, 2].map((id) => ({ left: field(0, id, 'integer'), right: field(1, id, 'integer') }));
  const columns = [7, 11, ROWS].map((values) => Array.from({ length: ROWS }, (_, row) => row % values));
  const set = setOf(columns, ['integer', 'integer', 'integer']);
  const lefts = { count: ROWS, sides: [{ set, rows: undefined }] };
  const rights = { count: ROWS, sides: [undefined, { set, rows: undefined }] };
  function* joined() {
    return yield* hashPairs(links, lefts, yield* hashTable(links, rights, own), own);
  }
  const lookups = vi.spyOn(ValueIds.prototype, 'knownIds');
  let before = 0;
  let most = 0;
  let pairs = 0;
  for (const some of joined()) {
    most = Math.max(most, lookups.mock.calls.length - before);
    before = lookups.mock.calls.length;
    pairs += some?.count ?? 0;
  }
  const rows = lookups.mock.calls.map(([, count]) => count);
  lookups.mockRestore();
  expect(most).toBe(1);
  expect(Math.max(...rows)).toBeLessThanOrEqual(4096);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(2 * 3 * ROWS);
  expect(pairs).toBe(ROWS);
});

test('concatenated sets contain the rows of one set after those of the other', () => {
  const random = new Random(4);
  const sets = Array.from({ length: 700 }, (_, index) => {
    const rows = index === 3 ? 0 : random.below(60);
    const sizes = Array.from({ length: rows }, () => random.below(4));
    const set = setOf(
      [
        Array.from({ length: rows }, () => (random.chance(0.2) ? null : random.below(9))),
        Array.from({ length: rows }, () => (random.chance(0.2) ? null : `t${random.below(30_000)}`)),
      ],
      ['integer', 'text'],
    );
    const offsets = new Uint32Array(rows + 1);
    for (const [row, size] of sizes.entries()) offsets[row + 1] = offsets[row]! + size;
    return { ...set, offsets, members: Float64Array.from({ length: offsets[rows]! }, () => random.below(1000)) };
  });
  const { value: all, pauses } = run(concatenated(sets));
  expect(pauses).toBeGreaterThan(0);
  const rowsOf = (set: RowSet) =>
    Array.from({ length: set.rows }, (_, row) => {
      const [number, text] = [set.columns.get(0)!, set.columns.get(1)!];
      return JSON.stringify([
        set.times[row],
        set.ids[row],
        [...set.members.subarray(set.offsets[row]!, set.offsets[row + 1]!)],
        number.nulls[row] === 1 || number.kind !== 'number' ? null : number.values[row],
        text.nulls[row] === 1 || text.kind !== 'text' ? null : text.texts[text.codes[row]!],
      ]);
    });
  expect(rowsOf(all)).toEqual(sets.flatMap(rowsOf));
  expect(run(concatenated([])).value).toBe(NO_ROWS);
  expect(run(concatenated([sets[0]!])).value).toBe(sets[0]);
});

test.each([0, 1, 4096, 4097, 30_000])('%i numbers are sorted, and equal ones keep their order', (count) => {
  const random = new Random(count);
  const keys = Array.from({ length: count }, () => random.below(500));
  const numbers = Uint32Array.from({ length: count }, (_, index) => index);
  const { value, pauses } = run(sortedNumbers(numbers, (a, b) => keys[a]! - keys[b]!));
  expect([...value]).toEqual([...numbers].sort((a, b) => keys[a]! - keys[b]! || a - b));
  expect(pauses).toBeGreaterThanOrEqual(Math.ceil(count / 4096));
});
