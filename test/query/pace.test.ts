// Tests the pace of a statement: the size of its steps, which follows from how long they take.

import { describe, expect, test } from 'vitest';
import type { BoundExpression } from '../../src/query/binder/bound.ts';
import { rowsFor, weightOf } from '../../src/query/executor/batch-size.ts';
import { QueryContext, type RowSource } from '../../src/query/executor/context.ts';
import { type Batch, batchOf, NO_ROWS } from '../../src/query/executor/rows/row-set.ts';

const NO_SOURCE = {} as RowSource;
const ONE: BoundExpression = { kind: 'constant', value: 1, type: 'integer', text: '1' };
const EXPRESSIONS = Array.from(
  { length: 500 },
  (): BoundExpression => ({ kind: 'not', operand: ONE, type: 'boolean', text: '' }),
);
const FULL_STEP = rowsFor(weightOf(EXPRESSIONS).fixed, 1);
const ROWS = 20 * FULL_STEP;
const IDS = Float64Array.from({ length: ROWS }, (_, row) => row);

/**
 * Processes all rows. A step over `rows` rows takes `durationUs(rows)`. Returns the parts that were
 * processed.
 */
function partsIf(durationUs: (rows: number, step: number) => number): Batch[] {
  let us = 0;
  const context = new QueryContext({
    source: NO_SOURCE,
    patterns: [],
    parameters: {},
    nowUs: () => us,
    expressions: () => EXPRESSIONS,
  });
  function* steps(): Generator<Batch, void, void> {
    let step = 0;
    for (const part of context.parts(batchOf({ ...NO_ROWS, rows: ROWS, ids: IDS }, 0))) {
      us += durationUs(part.count, step++);
      yield part;
    }
  }
  return [...context.paced(steps())] as Batch[];
}

describe('steps of a statement', () => {
  test('are small at first, and grow while they are short', () => {
    const counts = partsIf(() => 100).map(({ count }) => count);
    expect(counts.slice(0, 5)).toEqual([8, 4, 2, 1, 1].map((divisor) => Math.floor(FULL_STEP / divisor)));
    expect(Math.max(...counts)).toBe(FULL_STEP);
  });

  test('become smaller where the work is slower than expected', () => {
    const durations = partsIf((rows) => rows * 200).map(({ count }) => count * 200);
    for (const us of durations.slice(1)) expect(us).toBeLessThanOrEqual(4000);
  });

  test('do not grow because of short steps between long ones', () => {
    let us = 0;
    const context = new QueryContext({
      source: NO_SOURCE,
      patterns: [],
      parameters: {},
      nowUs: () => us,
      expressions: () => EXPRESSIONS,
    });
    const counts: number[] = [];
    /** Each part passes through three operators. Only the second one has work to do. */
    function* steps(): Generator<null, void, void> {
      for (const { count } of context.parts(batchOf({ ...NO_ROWS, rows: ROWS }, 0))) {
        counts.push(count);
        us += 10;
        yield null;
        us += count * 200;
        yield null;
        us += 10;
        yield null;
      }
    }
    for (const _ of context.paced(steps()));
    for (const count of counts.slice(2)) expect(count * 200).toBeLessThanOrEqual(4000);
  });

  test('grow again after a step that was interrupted', () => {
    const counts = partsIf((_, step) => (step === 6 ? 1_000_000 : 100)).map(({ count }) => count);
    expect(counts[7]).toBeLessThan(FULL_STEP / 32);
    expect(counts.slice(7)).toContain(FULL_STEP);
  });

  test('cover all rows in order, however long they take', () => {
    for (const slow of [1, 17, 400, 100_000]) {
      const parts = partsIf((rows, step) => (step % 3) * rows * slow);
      expect(parts.flatMap(({ sides }) => [...sides[0]!.set.ids])).toEqual([...IDS]);
    }
  });

  test('process a whole batch at once if it is small enough', () => {
    const context = new QueryContext({ source: NO_SOURCE, patterns: [], parameters: {}, nowUs: () => 0 });
    const batch = batchOf({ ...NO_ROWS, rows: 10 }, 0);
    expect([...context.parts(batch)]).toEqual([batch]);
    expect([...context.parts(batchOf({ ...NO_ROWS, rows: 0 }, 0))]).toEqual([]);
  });
});
