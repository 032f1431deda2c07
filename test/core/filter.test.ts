// Filters rows one by one by ranges of their numeric columns, in segments and memtables, in every
// build, and compares the result with plain JavaScript.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { COLUMNS, type Column, concat, type Edge, edgeOf, naiveRecord, randomTable, SAFE } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { buildSegment } from './support/segments.ts';

const RANGE_BYTES = 32;
/** The flag of a range that nulls are in. */
const NULL_IN = 8;
const NUMERIC = COLUMNS.filter(({ type }) => type === 'REAL' || type === 'INTEGER');

interface Range {
  column: number;
  low: number;
  high: number;
  missing: number;
  flags: number;
}

const edges = randomTable(randomFrom(77), {
  rows: 700,
  time: (random) => random.below(300),
  id: (_, row) => row,
  node: (random) => random.below(20),
  members: () => 2,
  columns: COLUMNS,
  sparsity: 2,
});

function placeRanges(core: Instance, ranges: readonly Range[]): number {
  const view = new DataView(new ArrayBuffer(ranges.length * RANGE_BYTES));
  for (const [index, { low, high, missing, column, flags }] of ranges.entries()) {
    const at = index * RANGE_BYTES;
    for (const [place, value] of [low, high, missing].entries()) view.setFloat64(at + place * 8, value, true);
    view.setUint32(at + 24, column, true);
    view.setUint32(at + 28, flags, true);
  }
  return core.put(new Uint8Array(view.buffer));
}

function holds(edge: Edge, { column, low, high, missing, flags }: Range): boolean {
  const value = edge.properties.has(column) ? edge.properties.get(column) : missing;
  if (typeof value !== 'number' || Number.isNaN(value)) return (flags & NULL_IN) !== 0;
  return (flags & 1 ? value > low : value >= low) && (flags & 2 ? value < high : value <= high);
}

function randomRanges(random: Random): Range[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const column = NUMERIC[random.below(NUMERIC.length)]!;
    const values = edges.map((edge) => edge.properties.get(column.id)).filter((value) => typeof value === 'number');
    const bound = (): number =>
      [-Infinity, Infinity, 0, -0, SAFE, -SAFE, 0.5][random.below(20)] ?? values[random.below(values.length)]!;
    const [low, high] = [bound(), bound()];
    const missing = typeof column.byDefault === 'number' ? column.byDefault : Number.NaN;
    return { column: column.id, low, high, missing, flags: random.below(4) | (random.below(4) === 0 ? NULL_IN : 0) };
  });
}

const everyRow = edges.map((_, row) => row);

describe.each(BUILDS)('ranges, %s build', (build) => {
  it('keep the same rows in a segment and in a memtable as in an array', () => {
    const core = new Instance(build);
    const built = buildSegment(core, edges, COLUMNS, 60);
    const memtable = core.x.hg_memtable_new(60, 0) >>> 0;
    const bytes = concat(edges.map((edge) => naiveRecord(edge, COLUMNS)));
    const at = core.x.hg_memtable_reserve(memtable, bytes.length, edges.length) >>> 0;
    core.core.memory.write(at, bytes);
    expect(core.x.hg_memtable_append(memtable, at, edges.length, 1)).toBe(0);
    const random = randomFrom(5);
    let found = 0;
    for (let round = 0; round < 300; round++) {
      const ranges = randomRanges(random);
      const rows = random.below(2) === 0 ? everyRow : everyRow.filter(() => random.below(3) === 0).reverse();
      const expected = rows.filter((row) => ranges.every((range) => holds(edges[row]!, range)));
      const at = placeRanges(core, ranges);
      const list = core.putWords([...rows, 0]);
      const n = core.x.hg_segment_filter(built.handle, list, rows.length, at, ranges.length);
      expect(core.words(list, n)).toEqual(expected);
      const again = core.putWords([...rows, 0]);
      const m = core.x.hg_memtable_filter(memtable, again, rows.length, at, ranges.length) >>> 0;
      expect(core.words(again, m)).toEqual(expected);
      for (const region of [at, list, again]) core.x.hg_memory_free(region);
      found += n;
    }
    expect(found).toBeGreaterThan(1000);
  });

  it('use the default value for rows of a segment that does not have the column', () => {
    const core = new Instance(build);
    const built = buildSegment(core, edges.slice(0, 10), [COLUMNS[0]!], 60);
    const list = core.putWords(everyRow.slice(0, 10));
    const range = { column: 3, low: 1, high: 2, missing: 1.5, flags: 0 };
    expect(core.x.hg_segment_filter(built.handle, list, 10, placeRanges(core, [range]), 1)).toBe(10);
    expect(core.words(list, 10)).toEqual(everyRow.slice(0, 10));
    const none = placeRanges(core, [range, { ...range, missing: Number.NaN }]);
    expect(core.x.hg_segment_filter(built.handle, list, 10, none, 2)).toBe(0);
  });

  it('compare integers exactly up to 2^53 - 1, and treat -0 as 0', () => {
    const column: Column = { id: 3, name: 'n', type: 'INTEGER', indexed: false, byDefault: null };
    const real: Column = { id: 4, name: 'r', type: 'REAL', indexed: false, byDefault: null };
    const values = [-SAFE, -SAFE + 1, -1, 0, 1, SAFE - 1, SAFE];
    const rows = values.map((value, id) => edgeOf(id, id, [1], { 3: value, 4: value === 0 ? -0 : value }));
    const core = new Instance(build);
    const built = buildSegment(core, rows, [column, real], 60);
    const kept = (range: Omit<Range, 'missing'>): number[] => {
      const list = core.putWords(values.map((_, row) => row));
      const at = placeRanges(core, [{ ...range, missing: Number.NaN }]);
      return core.words(list, core.x.hg_segment_filter(built.handle, list, values.length, at, 1));
    };
    expect(kept({ column: 3, low: SAFE - 1, high: Infinity, flags: 1 })).toEqual([6]);
    expect(kept({ column: 3, low: -Infinity, high: -SAFE + 1, flags: 2 })).toEqual([0]);
    expect(kept({ column: 3, low: 2 ** 53, high: Infinity, flags: 0 })).toEqual([]);
    expect(kept({ column: 3, low: 0.5, high: 1.5, flags: 0 })).toEqual([4]);
    for (const zero of [0, -0]) {
      expect(kept({ column: 3, low: zero, high: zero, flags: 0 })).toEqual([3]);
      expect(kept({ column: 4, low: zero, high: zero, flags: 0 })).toEqual([3]);
      expect(kept({ column: 4, low: zero, high: 1, flags: 3 })).toEqual([]);
    }
  });

  it('are refused for columns whose values are not numbers', () => {
    const core = new Instance(build);
    const built = buildSegment(core, edges, COLUMNS, 60);
    for (const { id, type } of COLUMNS.filter(({ type }) => type === 'TEXT' || type === 'BOOLEAN')) {
      const list = core.putWords(everyRow);
      const at = placeRanges(core, [{ column: id, low: -Infinity, high: Infinity, missing: 1, flags: 0 }]);
      expect(core.x.hg_segment_filter(built.handle, list, edges.length, at, 1), type).toBe(STATUS.badArgument);
    }
  });
});
