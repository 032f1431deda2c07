import { describe, expect, test } from 'vitest';
import {
  barRows,
  heldCounts,
  type Interval,
  MOST_BARS,
  MOST_LANES,
  stretchesOf,
} from '../../src/console/intervals/bars.ts';
import { momentAt, stepOf, stepsBetween } from '../../src/console/intervals/moments.ts';

const interval = (id: number, start: number, end: number | null): Interval => ({ id, start, end });

describe('bars of intervals', () => {
  test('lie in the first lane that is free', () => {
    const { bars, lanes } = barRows([interval(3, 60, 80), interval(1, 0, 50), interval(2, 40, 90)], 0, 100)!;
    expect(bars.map((bar) => [bar.interval.id, bar.x, bar.width, bar.lane, bar.isOpen])).toEqual([
      [1, 0, 500, 0, false],
      [2, 400, 500, 1, false],
      [3, 600, 200, 0, false],
    ]);
    expect(lanes).toBe(2);
  });

  test('reach the right edge without an end, or with a later one', () => {
    const { bars } = barRows([interval(1, 50, null), interval(2, 50, 900), interval(3, 50, 100)], 0, 100)!;
    expect(bars.map(({ x, width, isOpen }) => [x + width, isOpen])).toEqual([
      [1000, true],
      [1000, true],
      [1000, false],
    ]);
  });

  test('are wide enough to be seen, also at the edges', () => {
    const { bars } = barRows([interval(1, 50, 50), interval(2, 100, null), interval(3, -20, -10)], 0, 100)!;
    expect(bars.map(({ x, width }) => [x, width])).toEqual([
      [0, 3],
      [500, 3],
      [997, 3],
    ]);
  });

  test('never overlap in a lane, and are bounded', () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const made = (count: number, length: number) =>
      Array.from({ length: count }, (_, id) => {
        const start = Math.floor(random() * 1000);
        return interval(id, start, random() < 0.02 ? null : start + Math.floor(random() * length));
      });
    const { bars, lanes } = barRows(made(MOST_BARS, 40), 0, 1000)!;
    expect(bars).toHaveLength(MOST_BARS);
    expect(lanes).toBeLessThanOrEqual(MOST_LANES);
    for (const [at, bar] of bars.entries())
      for (const other of bars.slice(at + 1))
        if (bar.lane === other.lane) expect(bar.x + bar.width).toBeLessThanOrEqual(other.x);
    expect(barRows(made(MOST_BARS + 1, 1), 0, 1000)).toBe(undefined);
    const atOnce = (count: number) => Array.from({ length: count }, (_, id) => interval(id, 0, 100));
    expect(barRows(atOnce(MOST_LANES), 0, 100)?.lanes).toBe(MOST_LANES);
    expect(barRows(atOnce(MOST_LANES + 1), 0, 100)).toBe(undefined);
  });
});

describe('the number of edges that hold', () => {
  test('counts those that hold in a stretch at least for a moment', () => {
    const begun = [
      { at: 0, count: 3 },
      { at: 2, count: 1 },
    ];
    expect(heldCounts(begun, [{ at: 1, count: 2 }], 4)).toEqual([3, 3, 2, 2]);
    // An edge that ends in the stretch in which it begins.
    expect(heldCounts([{ at: 1, count: 1 }], [{ at: 1, count: 1 }], 3)).toEqual([0, 1, 0]);
  });

  test('agrees with a count edge by edge', () => {
    const edges = Array.from({ length: 200 }, (_, id) =>
      interval(id, (id * 37) % 90, id % 7 === 0 ? null : ((id * 37) % 90) + (id % 23)),
    );
    const tally = (places: number[]) =>
      [...new Set(places)].map((at) => ({ at, count: places.filter((place) => place === at).length }));
    const counts = heldCounts(
      tally(edges.map(({ start }) => Math.floor(start / 10))),
      tally(edges.flatMap(({ end }) => (end === null ? [] : [Math.floor(end / 10)]))),
      12,
    );
    const expected = counts.map(
      (_, at) => edges.filter(({ start, end }) => start < 10 * (at + 1) && (end === null || end >= 10 * at)).length,
    );
    expect(counts).toEqual(expected);
  });

  test('is never below 0, and counts edges that were written meanwhile at the edges', () => {
    expect(heldCounts([], [{ at: 0, count: 2 }], 2)).toEqual([0, 0]);
    expect(
      heldCounts(
        [
          { at: -3, count: 1 },
          { at: 9, count: 1 },
        ],
        [],
        2,
      ),
    ).toEqual([1, 1]);
  });
});

test('stretches of time are counted in integers that a statement can hold', () => {
  expect(stretchesOf(-500, 500, 10)).toEqual({ by: 1, from: -500, width: 10 });
  const most = Number.MAX_SAFE_INTEGER;
  const width = Math.ceil((2 * most) / 240);
  const { by, from, width: part } = stretchesOf(-most, most, width);
  for (const value of [by, from, part, Math.trunc(most / by) - from]) expect(Number.isSafeInteger(value)).toBe(true);
  expect(Math.trunc((Math.trunc(most / by) - from) / part)).toBe(239);
  expect(Math.trunc((Math.trunc(-most / by) - from) / part)).toBe(0);
});

describe('the steps of the slider', () => {
  test('cover the time from the first to the last second', () => {
    expect([stepsBetween(0, 1e9), stepsBetween(5, 25), stepsBetween(7, 7)]).toEqual([1000, 20, 1]);
    expect([0, 500, 1000].map((step) => momentAt(step, 100, 1_000_100))).toEqual([100, 500_100, 1_000_100]);
    for (const step of [0, 1, 499, 1000]) expect(stepOf(momentAt(step, -5e8, 5e8), -5e8, 5e8)).toBe(step);
    expect([stepOf(-1, 0, 10), stepOf(99, 0, 10), stepOf(7, 7, 7), stepOf(6, 7, 7)]).toEqual([0, 10, 1, 0]);
  });
});
