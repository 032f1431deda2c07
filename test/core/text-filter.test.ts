// Filters rows by texts, in lists of rows of segments and memtables and in selections, in every
// build, and compares the result with plain JavaScript.

import { describe, expect, it } from 'vitest';
import { encodeRanges, type NumericRange, textRange } from '../../src/core/index.ts';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { COLUMNS, type Column, concat, type Edge, edgeOf, naiveRecord } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { buildSegment } from './support/segments.ts';

/** Texts with prefixes of each other, and the same bytes at other lengths. */
const TEXTS = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  'B',
  'é',
  'e\u0301',
  '日本',
  '日本語',
  '😀',
  '\u0000',
  'a\u0000',
  'x'.repeat(500),
];
/** A text that no row has, before, between and after the others. */
const OTHERS = ['\u0001', 'aa', 'abcd', '日', '\u{10ffff}', 'x'.repeat(499)];
const TEXT_COLUMNS: readonly Column[] = [
  { id: 3, name: 'kind', type: 'TEXT', indexed: false, byDefault: null },
  { id: 4, name: 'place', type: 'TEXT', indexed: false, byDefault: 'ab' },
  { id: 5, name: 'full', type: 'TEXT', indexed: false, byDefault: null },
  { id: 6, name: 'n', type: 'INTEGER', indexed: false, byDefault: null },
];

function randomEdges(random: Random, rows: number): Edge[] {
  return Array.from({ length: rows }, (_, id) => {
    const text = () => TEXTS[random.below(TEXTS.length)]!;
    const properties: Record<number, string | number | null> = { 5: text(), 6: random.below(5) };
    for (const column of [3, 4]) {
      const kind = random.below(8);
      if (kind === 0) properties[column] = null;
      else if (kind > 1) properties[column] = text();
    }
    return edgeOf(id, id, [1], properties);
  });
}

/** Returns whether an edge has the text, or the number if the condition is a range. */
function holds({ properties }: Edge, column: Column, range: NumericRange, text: string): boolean {
  const value = properties.has(column.id) ? properties.get(column.id) : column.byDefault;
  return range.text === undefined ? value === range.low : value === text;
}

interface Condition {
  readonly column: Column;
  readonly text: string;
  readonly range: NumericRange;
}

function conditionOn(column: Column, text: string): Condition {
  return { column, text, range: textRange(column.id, text, column.byDefault) };
}

function randomConditions(random: Random): Condition[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const column = TEXT_COLUMNS[random.below(4)]!;
    const text = random.below(8) === 0 ? OTHERS[random.below(OTHERS.length)]! : TEXTS[random.below(TEXTS.length)]!;
    if (column.type === 'TEXT') return conditionOn(column, text);
    const n = random.below(5);
    return {
      column,
      text,
      range: { column: column.id, low: n, high: n, lowOpen: false, highOpen: false, missing: Number.NaN },
    };
  });
}

function memtableOf(core: Instance, edges: readonly Edge[], columns = TEXT_COLUMNS): number {
  const memtable = core.x.hg_memtable_new(60, 0) >>> 0;
  const bytes = concat(edges.map((edge) => naiveRecord(edge, columns)));
  const at = core.x.hg_memtable_reserve(memtable, bytes.length, edges.length) >>> 0;
  core.core.memory.write(at, bytes);
  expect(core.x.hg_memtable_append(memtable, at, edges.length, 1)).toBe(0);
  return memtable;
}

/** Returns the rows that the conditions select one after another from all rows. */
function selected(core: Instance, handle: number, rows: number, conditions: readonly Condition[]): number[] {
  const selection = core.alloc(Math.ceil(rows / 64) * 8);
  core.x.hg_selection_window(selection, rows, 0, rows);
  for (const { range } of conditions) {
    const at = core.put(encodeRanges([range]).bytes);
    expect(core.x.hg_segment_select(handle, selection, 0, at)).toBe(0);
    core.x.hg_memory_free(at);
  }
  const bits = core.bytes(selection, Math.ceil(rows / 64) * 8);
  expect(bits.subarray(Math.ceil(rows / 8)).every((byte) => byte === 0)).toBe(true);
  core.x.hg_memory_free(selection);
  return Array.from({ length: rows }, (_, row) => row).filter((row) => ((bits[row >> 3]! >> (row & 7)) & 1) === 1);
}

describe.each(BUILDS)('texts, %s build', (build) => {
  it('keep the same rows in a segment, a memtable and a selection as in an array', () => {
    const random = randomFrom(31);
    let found = 0;
    for (const rows of [1, 63, 64, 65, 700]) {
      const edges = randomEdges(random, rows);
      const core = new Instance(build);
      const { handle } = buildSegment(core, edges, TEXT_COLUMNS, 60);
      const memtable = memtableOf(core, edges);
      const everyRow = edges.map((_, row) => row);
      for (let round = 0; round < 150; round++) {
        const conditions = randomConditions(random);
        const isIn = (row: number) =>
          conditions.every(({ column, range, text }) => holds(edges[row]!, column, range, text));
        expect(selected(core, handle, rows, conditions)).toEqual(everyRow.filter(isIn));
        const some = random.below(2) === 0 ? everyRow : everyRow.filter(() => random.below(3) === 0).reverse();
        const expected = some.filter(isIn);
        const at = core.put(encodeRanges(conditions.map(({ range }) => range)).bytes);
        const list = core.putWords([...some, 0]);
        const n = core.x.hg_segment_filter(handle, list, some.length, at, conditions.length);
        expect(core.words(list, n)).toEqual(expected);
        const again = core.putWords([...some, 0]);
        const m = core.x.hg_memtable_filter(memtable, again, some.length, at, conditions.length) >>> 0;
        expect(core.words(again, m)).toEqual(expected);
        for (const region of [at, list, again]) core.x.hg_memory_free(region);
        found += n;
      }
    }
    expect(found).toBeGreaterThan(1000);
  });

  it('are found by every text and no other one, among two to all of them', () => {
    for (let count = 1; count <= TEXTS.length; count++) {
      const edges = TEXTS.slice(0, count).map((text, id) => edgeOf(id, id, [1], { 5: text }));
      const core = new Instance(build);
      const { handle } = buildSegment(core, edges, TEXT_COLUMNS, 60);
      for (const text of [...TEXTS, ...OTHERS]) {
        const row = TEXTS.slice(0, count).indexOf(text);
        expect(selected(core, handle, count, [conditionOn(TEXT_COLUMNS[2]!, text)])).toEqual(row < 0 ? [] : [row]);
      }
    }
  });

  it('use the default value for rows of a segment that does not have the column, and never null', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(3), 100).map(({ time, id }) => edgeOf(time, id, [1], { 3: null }));
    const { handle } = buildSegment(core, edges, [TEXT_COLUMNS[0]!], 60);
    const memtable = memtableOf(core, edges);
    const everyRow = edges.map((_, row) => row);
    const byDefault = TEXT_COLUMNS[1]!;
    for (const [condition, expected] of [
      [conditionOn(byDefault, 'ab'), everyRow],
      [conditionOn(byDefault, 'a'), []],
      [conditionOn(TEXT_COLUMNS[2]!, ''), []],
      [conditionOn(TEXT_COLUMNS[0]!, ''), []],
    ] as const) {
      expect(selected(core, handle, 100, [condition])).toEqual(expected);
      const at = core.put(encodeRanges([condition.range]).bytes);
      const list = core.putWords(everyRow);
      expect(core.x.hg_segment_filter(handle, list, 100, at, 1)).toBe(expected.length);
      expect(core.x.hg_memtable_filter(memtable, list, 100, at, 1)).toBe(expected.length);
    }
  });

  it('are refused in a segment for columns that are not texts, and for other fields than columns', () => {
    const core = new Instance(build);
    const rows = [
      edgeOf(
        1,
        1,
        [1],
        Object.fromEntries(COLUMNS.map(({ id, type }) => [id, type === 'TEXT' ? 'a' : type === 'BOOLEAN' ? true : 1])),
      ),
    ];
    const { handle } = buildSegment(core, rows, COLUMNS, 60);
    const memtable = memtableOf(core, rows, COLUMNS);
    const selection = core.putNumbers([0]);
    for (const { id, type } of COLUMNS) {
      const at = core.put(encodeRanges([textRange(id, 'a', 'a')]).bytes);
      const list = core.putWords([0, 0]);
      const status = type === 'TEXT' ? 1 : STATUS.badArgument;
      expect(core.x.hg_segment_filter(handle, list, 1, at, 1), type).toBe(status);
      expect(core.x.hg_segment_select(handle, selection, 0, at), type).toBe(type === 'TEXT' ? 0 : status);
      expect(core.x.hg_segment_select(handle, selection, 1, at), type).toBe(STATUS.badArgument);
      // A record knows the type of each of its values.
      expect(core.x.hg_memtable_filter(memtable, list, 1, at, 1), type).toBe(type === 'TEXT' ? 1 : 0);
    }
  });
});
