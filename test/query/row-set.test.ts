// Checks that parts of a set of rows have the same rows as the set, whether they are views of it or
// copies.

import { describe, expect, test } from 'vitest';
import { batchOf, consecutive, NO_ROWS, type RowSet, selectFrom } from '../../src/query/executor/rows/row-set.ts';
import { compacted } from '../../src/query/executor/rows/scan-rows.ts';
import { pickRows } from '../../src/query/executor/sorts/pick-rows.ts';
import { Random } from '../support/random.ts';

const PATTERN = 1;
const NUMBER = 3;
const TEXT = 4;

function randomSet(random: Random, rows: number, parts: { members: boolean; sizes: boolean }): RowSet {
  const sizes = Array.from({ length: rows }, () => 1 + random.below(4));
  const offsets = Uint32Array.from([0, ...sizes.map((_, row) => sizes.slice(0, row + 1).reduce((a, b) => a + b))]);
  return {
    rows,
    times: Float64Array.from({ length: rows }, (_, row) => 10 * row),
    ids: Float64Array.from({ length: rows }, (_, row) => 100 + row),
    offsets: parts.sizes ? offsets : new Uint32Array(1),
    members: Float64Array.from({ length: parts.members ? offsets[rows]! : 0 }, (_, place) => 1000 + place),
    masks: Uint16Array.from({ length: parts.members ? offsets[rows]! : 0 }, (_, place) => place * 7),
    columns: new Map([
      [NUMBER, { kind: 'number', nulls: bits(random, rows), values: Float64Array.from({ length: rows }, Math.sqrt) }],
      [TEXT, { kind: 'text', nulls: bits(random, rows), codes: places(random, rows), texts: ['a', 'b', 'c'] }],
    ]),
  };
}

const bits = (random: Random, rows: number) => Uint8Array.from({ length: rows }, () => random.below(2));
const places = (random: Random, rows: number) => Uint32Array.from({ length: rows }, () => random.below(3));

/** Returns the rows of a set as plain values. */
function rowsOf(set: RowSet): object[] {
  return Array.from({ length: set.rows }, (_, row) => ({
    time: set.times[row],
    id: set.ids[row],
    size: set.offsets.length > 1 ? set.offsets[row + 1]! - set.offsets[row]! : undefined,
    members: set.offsets.length > 1 ? [...set.members.subarray(set.offsets[row], set.offsets[row + 1])] : [],
    masks: set.offsets.length > 1 ? [...set.masks.subarray(set.offsets[row], set.offsets[row + 1])] : [],
    columns: [...set.columns.values()].map((column) => [
      column.nulls[row],
      column.kind === 'number' ? column.values[row] : column.texts[column.codes[row]!],
    ]),
  }));
}

describe('consecutive rows of a batch', () => {
  test.each([
    { members: true, sizes: true },
    { members: false, sizes: true },
    { members: false, sizes: false },
  ])('are those rows, also after they are made a set of their own (%o)', (parts) => {
    const random = new Random(7);
    for (let round = 0; round < 200; round++) {
      const set = randomSet(random, 1 + random.below(12), parts);
      const from = random.below(set.rows);
      const count = 1 + random.below(set.rows - from);
      const part = compacted(consecutive(batchOf(set, PATTERN), from, count), PATTERN);
      expect(rowsOf(part)).toEqual(rowsOf(set).slice(from, from + count));
      if (parts.members) {
        expect(part.offsets[0]).toBe(0);
        expect(part.members).toHaveLength(part.offsets[count]!);
      }
    }
  });

  test('of selected rows are a part of the selection', () => {
    const set = randomSet(new Random(8), 10, { members: true, sizes: true });
    const batch = selectFrom(batchOf(set, PATTERN), Uint32Array.of(9, 2, 5, 3));
    const part = compacted(consecutive(batch, 1, 2), PATTERN);
    expect(rowsOf(part)).toEqual([rowsOf(set)[2], rowsOf(set)[5]]);
  });
});

test('few rows that are picked keep their own texts only, and many keep all', () => {
  const texts = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const codes = Uint32Array.from(texts, (_, i) => 99 - i);
  const nulls = Uint8Array.from(texts, (_, i) => Number(i % 10 === 3));
  const set: RowSet = {
    ...NO_ROWS,
    rows: 100,
    times: Float64Array.from(texts, (_, i) => i),
    columns: new Map([[7, { kind: 'text', nulls, codes, texts }]]),
  };
  for (const rows of [[5, 3, 5, 98], Array.from({ length: 60 }, (_, i) => i)]) {
    const picked = pickRows(set, Uint32Array.from(rows));
    const column = picked.columns.get(7)!;
    if (column.kind !== 'text') throw new Error('the column has texts');
    expect([...picked.times]).toEqual(rows);
    expect(rows.map((_, i) => (column.nulls[i] === 1 ? null : column.texts[column.codes[i]!]))).toEqual(
      rows.map((row) => (row % 10 === 3 ? null : `t${99 - row}`)),
    );
    expect(column.texts.length).toBe(rows.length === 4 ? 2 : 100);
  }
});
