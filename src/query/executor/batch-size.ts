// How many rows are worked on at once: fewer where a statement has very many expressions, so that a step stays a few ms.

import type { BoundExpression, BoundMatch } from '../binder/bound.ts';
import { partsOf } from '../binder/parts.ts';
import { type Batch, selectFrom } from './row-set.ts';

/** Values that expressions may come to in one step: some 10 ns each. */
const VALUES_A_STEP = 500_000;
const FEWEST_ROWS = 64;

/** Rows of a batch, at most. */
export function rowsAtOnce(expressions: Iterable<BoundExpression>): number {
  let weight = 1;
  for (const expression of expressions) weight += weightOf(expression);
  return Math.max(FEWEST_ROWS, Math.floor(VALUES_A_STEP / weight));
}

/** Values that it and what stands inside come to, for one row. Plain values among others are looked up at once. */
function weightOf(expression: BoundExpression): number {
  const { kind } = expression;
  if (kind === 'constant' || kind === 'parameter') return 0;
  let weight = 1;
  for (const part of partsOf(expression)) weight += weightOf(part);
  return weight;
}

/** All that a MATCH works out. */
export function* expressionsOf({
  where,
  items,
  orderBy,
  grouping,
}: BoundMatch): Generator<BoundExpression, void, void> {
  yield* where;
  for (const { expression } of items) yield expression;
  for (const { expression } of orderBy) yield expression;
  if (grouping === undefined) return;
  yield* grouping.keys;
  for (const { operand } of grouping.aggregates) if (operand !== undefined) yield operand;
}

/** The combinations of a batch, some at a time. */
export function* inParts(batch: Batch, rows: number): Generator<Batch, void, void> {
  if (batch.count <= rows) {
    yield batch;
    return;
  }
  for (let from = 0; from < batch.count; from += rows) {
    const count = Math.min(rows, batch.count - from);
    yield selectFrom(
      batch,
      Uint32Array.from({ length: count }, (_, place) => from + place),
    );
  }
}
