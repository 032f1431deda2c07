// Joins: collects both sides, finds candidate pairs by the plan's strategy, checks every other condition on them.

import { HedgerowError } from '../../errors.ts';
import type { BoundExpression } from '../binder/bound.ts';
import type { JoinPlan, ScanPlan } from '../planner/plan.ts';
import { inParts } from './batch-size.ts';
import { MOST_LOOP_PAIRS, MOST_PRODUCT_ROWS, type QueryContext, type Steps } from './context.ts';
import { sharedMembers } from './edges.ts';
import { evaluate } from './evaluate.ts';
import { hashPairs } from './hash-pairs.ts';
import { allPairs, type Building, bandPairs, combine, type PairFinder } from './join-pairs.ts';
import { memberPairs } from './member-pairs.ts';
import { type Batch, batchOf, gather, type RowSet, type Side, selectFrom } from './row-set.ts';
import { collectShared, type SharedReads, sharedReads } from './shared-scans.ts';
import { valueAt } from './vector.ts';

/** Combinations that satisfy all conditions of the join and of those below it. */
export function joinRows(plan: JoinPlan, context: QueryContext): Steps<Batch> {
  return observedJoin(plan, sharedReads(plan, context), context);
}

function observedJoin(plan: JoinPlan, reads: SharedReads, context: QueryContext): Steps<Batch> {
  return context.observed(plan, join(plan, reads, context));
}

function* join(plan: JoinPlan, reads: SharedReads, context: QueryContext): Steps<Batch> {
  const left = yield* collectLeft(plan.left, reads, context);
  if (left.count === 0) return;
  const right = yield* collectShared(plan.right, reads, context, plan.band !== undefined);
  if (right.rows === 0) return;
  guardProduct(plan, left.count, right.rows);
  for (const pairs of findPairs(plan, left, right, reads, context)) {
    if (pairs === null) {
      yield null;
      continue;
    }
    for (const part of inParts(combine(left, right, plan.right.pattern, pairs), context.rowsAtOnce)) {
      const batch = check(plan, part, context);
      yield batch.count > 0 ? batch : null;
    }
  }
}

/** The left side whole: the rows of one pattern, or the combinations of the joins below. */
function* collectLeft(
  plan: ScanPlan | JoinPlan,
  reads: SharedReads,
  context: QueryContext,
): Generator<null, Batch, void> {
  if (plan.op === 'scan') return batchOf(yield* collectShared(plan, reads, context, false), plan.pattern);
  const parts: Batch[] = [];
  for (const batch of observedJoin(plan, reads, context)) {
    if (batch !== null) {
      context.charge(batch.count * 4 * batch.sides.length);
      parts.push(batch);
    }
    yield null;
  }
  return yield* concatenateBatches(parts);
}

/** Batches over the same sets as one. */
function* concatenateBatches(parts: readonly Batch[]): Building<Batch> {
  if (parts.length === 0) return { count: 0, sides: [] };
  if (parts.length === 1) return parts[0]!;
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const sides: (Side | undefined)[] = [];
  for (const [place, first] of parts[0]!.sides.entries()) {
    if (first === undefined) continue;
    const rows = new Uint32Array(count);
    let at = 0;
    for (const [index, part] of parts.entries()) {
      rows.set(part.sides[place]!.rows!, at);
      at += part.count;
      if (index % PARTS_AT_ONCE === PARTS_AT_ONCE - 1) yield null;
    }
    sides[place] = { set: first.set, rows };
  }
  return { count, sides };
}

const PARTS_AT_ONCE = 256;

function guardProduct(plan: JoinPlan, left: number, right: number): void {
  if (plan.strategy !== 'NESTED_LOOP') return;
  const most = plan.cartesian ? MOST_PRODUCT_ROWS : MOST_LOOP_PAIRS;
  if (left * right <= most) return;
  throw new HedgerowError(
    'query_too_large',
    plan.cartesian
      ? `No condition ties the patterns together: ${left} x ${right} rows are more than ${most}. Add one, for instance overlaps(a, b, seconds) or shared(a, b) >= 1.`
      : `The condition that ties the patterns together fits no index: ${left} x ${right} pairs are more than ${most}. Narrow the patterns, or tie them by equality, overlaps, follows or shared.`,
  );
}

function* findPairs(plan: JoinPlan, left: Batch, right: RowSet, reads: SharedReads, context: QueryContext): PairFinder {
  const { band, members } = plan;
  switch (plan.strategy) {
    case 'MEMBER_JOIN': {
      const side = left.sides[members!.left]!;
      const linked = { set: side.set, rows: side.rows, count: left.count };
      const bounds = band && { ...band, times: timesOf(left, band.left), ofRow: band.left === members!.left };
      yield* memberPairs(linked, right, members!.least, bounds, reads.members, (bytes) => context.charge(bytes));
      return;
    }
    case 'HASH_JOIN':
      yield* hashPairs(plan.equal, left, batchOf(right, plan.right.pattern), context);
      return;
    case 'TEMPORAL_JOIN':
      yield* bandPairs(timesOf(left, band!.left), right, band!.low, band!.high);
      return;
    case 'NESTED_LOOP':
      yield* allPairs(left.count, right.rows);
  }
}

function timesOf(batch: Batch, pattern: number): Float64Array {
  const { set, rows } = batch.sides[pattern]!;
  return gather(set.times, rows, batch.count);
}

/** What the strategy itself does not answer. */
function check(plan: JoinPlan, batch: Batch, context: QueryContext): Batch {
  let kept = batch;
  const { band, members, strategy } = plan;
  const right = plan.right.pattern;
  if (band !== undefined && strategy !== 'TEMPORAL_JOIN' && strategy !== 'MEMBER_JOIN') {
    const a = timesOf(kept, right);
    const b = timesOf(kept, band.left);
    kept = keep(kept, (i) => a[i]! - b[i]! >= band.low && a[i]! - b[i]! <= band.high);
  }
  if (members !== undefined && strategy !== 'MEMBER_JOIN') {
    const a = kept.sides[right]!;
    const b = kept.sides[members.left]!;
    kept = keep(kept, (i) => sharedMembers(a.set, a.rows?.[i] ?? i, b.set, b.rows?.[i] ?? i) >= members.least);
  }
  if (strategy !== 'HASH_JOIN') for (const link of plan.equal) kept = keepEqual(kept, link.left, link.right, context);
  return context.filter(kept, plan.filter);
}

function keepEqual(batch: Batch, left: BoundExpression, right: BoundExpression, context: QueryContext): Batch {
  if (batch.count === 0) return batch;
  const a = evaluate(left, batch, context.environment);
  const b = evaluate(right, batch, context.environment);
  return keep(batch, (i) => {
    const value = valueAt(a, i);
    return value !== null && value === valueAt(b, i);
  });
}

function keep(batch: Batch, test: (place: number) => boolean): Batch {
  const places = new Uint32Array(batch.count);
  let count = 0;
  for (let i = 0; i < batch.count; i++) if (test(i)) places[count++] = i;
  return count === batch.count ? batch : selectFrom(batch, places.subarray(0, count));
}
