// Tests which segments a compaction chooses to rewrite, using plain values. A stretch is a run of
// adjacent segments that are rewritten together.

import { expect, test } from 'vitest';
import { type ChooseInput, chooseStretches, type SegmentFigures } from '../../src/engine/compaction/choose.ts';

/**
 * Returns segments of the given sizes with one row per second. Each segment begins where the
 * previous one ends.
 */
function segments(...rows: (number | { rows: number; dead?: number; stale?: boolean })[]): SegmentFigures[] {
  let at = 0;
  return rows.map((each) => {
    const { rows: count, dead = 0, stale = false } = typeof each === 'number' ? { rows: each } : each;
    const first = { eventTs: at, id: at };
    at += count;
    return { rows: count, dead, stale, first, last: { eventTs: at - 1, id: at - 1 } };
  });
}

function input(more: Partial<ChooseInput>): ChooseInput {
  const list = more.segments ?? [];
  return {
    segments: list,
    newRows: list.map(() => 0),
    newRowsBehind: 0,
    totalNewRows: 0,
    cutoffTs: -Infinity,
    maxRows: 100,
    ...more,
  };
}

test('an empty table without new rows rewrites nothing', () => {
  expect(chooseStretches(input({}))).toEqual([]);
});

test('the first rows of a table become new files', () => {
  expect(chooseStretches(input({ totalNewRows: 5 }))).toEqual([
    { from: 0, to: 0, lower: undefined, upper: undefined, append: true },
  ]);
});

test('nothing is rewritten without new rows and deaths', () => {
  expect(chooseStretches(input({ segments: segments(80, 80, 80) }))).toEqual([]);
});

test('new rows after a last segment that is more than half full do not cause its rewrite', () => {
  const stretches = chooseStretches(
    input({ segments: segments(80, 60), newRows: [0, 10], newRowsBehind: 10, totalNewRows: 10 }),
  );
  expect(stretches).toEqual([{ from: 2, to: 2, lower: { eventTs: 139, id: 140 }, upper: undefined, append: true }]);
});

test('new rows after a last segment that is at most half full are merged into it', () => {
  const stretches = chooseStretches(
    input({ segments: segments(80, 50), newRows: [0, 10], newRowsBehind: 10, totalNewRows: 10 }),
  );
  expect(stretches).toEqual([{ from: 1, to: 2, lower: { eventTs: 80, id: 80 }, upper: undefined, append: true }]);
});

test('new rows within one segment cause only that segment to be rewritten', () => {
  const stretches = chooseStretches(input({ segments: segments(80, 80, 80), newRows: [0, 3, 0], totalNewRows: 3 }));
  expect(stretches).toEqual([
    { from: 1, to: 2, lower: { eventTs: 80, id: 80 }, upper: { eventTs: 160, id: 160 }, append: false },
  ]);
});

test('new rows before the first segment are merged into it', () => {
  const stretches = chooseStretches(input({ segments: segments(80, 80), newRows: [3, 0], totalNewRows: 3 }));
  expect(stretches).toEqual([{ from: 0, to: 1, lower: undefined, upper: { eventTs: 80, id: 80 }, append: false }]);
});

test('new rows inside and after the last segment cause its rewrite', () => {
  const stretches = chooseStretches(
    input({ segments: segments(80, 80), newRows: [0, 3], newRowsBehind: 2, totalNewRows: 3 }),
  );
  expect(stretches).toEqual([{ from: 1, to: 2, lower: { eventTs: 80, id: 80 }, upper: undefined, append: true }]);
});

test('a dead row causes its segment to be rewritten', () => {
  expect(
    chooseStretches(input({ segments: segments(80, { rows: 80, dead: 1 }, 80) })).map(({ from, to }) => [from, to]),
  ).toEqual([[1, 2]]);
});

test('segments that lack an index order are rewritten, each one alone', () => {
  const figures = segments(80, { rows: 80, stale: true }, 80, { rows: 70, stale: true }, { rows: 90, stale: true });
  expect(chooseStretches(input({ segments: figures })).map(({ from, to }) => [from, to])).toEqual([
    [1, 2],
    [3, 4],
    [4, 5],
  ]);
});

test('new rows after a last segment that lacks an index order are merged into it', () => {
  const figures = segments(80, { rows: 60, stale: true });
  const stretches = chooseStretches(
    input({ segments: figures, newRows: [0, 10], newRowsBehind: 10, totalNewRows: 10 }),
  );
  expect(stretches).toEqual([{ from: 1, to: 2, lower: { eventTs: 80, id: 80 }, upper: undefined, append: true }]);
});

test('the live rows of a segment with many deaths are merged with a small neighbour before it', () => {
  const stretches = chooseStretches(input({ segments: segments(80, 40, { rows: 80, dead: 60 }, 80) }));
  expect(stretches).toEqual([
    { from: 1, to: 3, lower: { eventTs: 80, id: 80 }, upper: { eventTs: 200, id: 200 }, append: false },
  ]);
});

test('the live rows of a segment with many deaths are not merged with a neighbour that has no room for them', () => {
  expect(
    chooseStretches(input({ segments: segments(95, { rows: 80, dead: 60 }, 80) })).map(({ from, to }) => [from, to]),
  ).toEqual([[1, 2]]);
});

test('two adjacent stretches become one when they fit into one file', () => {
  const figures = segments(80, { rows: 80, dead: 40 }, { rows: 80, dead: 40 }, 80);
  expect(chooseStretches(input({ segments: figures })).map(({ from, to }) => [from, to])).toEqual([[1, 3]]);
  const fuller = segments(80, { rows: 80, dead: 10 }, { rows: 80, dead: 10 }, 80);
  expect(chooseStretches(input({ segments: fuller })).map(({ from, to }) => [from, to])).toEqual([
    [1, 2],
    [2, 3],
  ]);
});

test('a cutoff time causes every segment that begins before it to be rewritten', () => {
  const chosen = chooseStretches(input({ segments: segments(80, 80, 80), cutoffTs: 100 })).map(({ from, to }) => [
    from,
    to,
  ]);
  expect(chosen.flat().at(0)).toBe(0);
  expect(Math.max(...chosen.map(([, to]) => to!))).toBe(2);
});

test('stretches are ordered and never overlap, for any sizes and deaths', () => {
  for (let seed = 1; seed < 500; seed++) {
    let state = seed;
    const below = (limit: number): number => {
      state = (state * 48271) % 2147483647;
      return state % limit;
    };
    const list = segments(...Array.from({ length: 1 + below(8) }, () => ({ rows: 1 + below(100), dead: 0 })));
    for (const segment of list) segment.dead = below(3) === 0 ? below(segment.rows + 1) : 0;
    for (const segment of list) segment.stale = below(4) === 0;
    const newRows = list.map(() => (below(3) === 0 ? below(40) : 0));
    const behind = below(newRows.at(-1)! + 1);
    const given = input({
      segments: list,
      newRows,
      newRowsBehind: behind,
      totalNewRows: newRows.reduce((a, b) => a + b),
      cutoffTs: below(2) ? -Infinity : below(300),
    });
    let place = 0;
    const covered = new Set<number>();
    for (const { from, to } of chooseStretches(given)) {
      expect(from, `seed ${seed}`).toBeGreaterThanOrEqual(place);
      expect(to).toBeGreaterThanOrEqual(from);
      place = to;
      for (let each = from; each < to; each++) covered.add(each);
      if (from === to) expect(from).toBe(list.length);
    }
    for (const [index, segment] of list.entries()) {
      if (segment.dead > 0 || segment.stale || segment.first.eventTs < given.cutoffTs)
        expect(covered.has(index), `seed ${seed}: segment ${index}`).toBe(true);
    }
  }
});
