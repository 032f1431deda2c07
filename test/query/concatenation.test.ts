import { expect, it, vi } from 'vitest';
import type { TextColumn } from '../../src/core/index.ts';
import type { RowSet } from '../../src/query/executor/rows/row-set.ts';
import { concatenated } from '../../src/query/executor/values/concatenation.ts';
import { finish } from '../../src/schedule/steps.ts';

function setOf(texts: readonly string[], ...codes: number[]): RowSet {
  const rows = codes.length;
  const column: TextColumn = { kind: 'text', nulls: new Uint8Array(rows), codes: Uint32Array.from(codes), texts };
  return {
    rows,
    times: new Float64Array(rows),
    ids: Float64Array.from(codes),
    offsets: new Uint32Array(rows + 1),
    members: new Float64Array(0),
    masks: new Uint16Array(0),
    columns: new Map([[7, column]]),
  };
}

it('the texts of sets from one block are looked up once when the sets are concatenated', () => {
  const block = ['a', 'b', 'c'.repeat(20_000)];
  const other = ['b', 'd'];
  const looked = [block, other].map((texts) => vi.spyOn(texts, 'entries'));
  const sets = [setOf(block, 2, 0), setOf(block, 1), setOf(other, 1, 0), setOf(block, 2), setOf(other, 0)];
  const { columns, rows } = finish(concatenated(sets));
  const { codes, texts } = columns.get(7) as TextColumn;
  expect(rows).toBe(7);
  expect(Array.from(codes, (code) => texts[code])).toEqual([block[2], 'a', 'b', 'd', 'b', block[2], 'b']);
  expect(texts).toHaveLength(4);
  for (const spy of looked) expect(spy).toHaveBeenCalledTimes(1);
});
