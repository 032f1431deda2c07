// Joins: finds candidate pairs by the plan's strategy and checks every other condition on them.
//
// A plan is a left-deep tree. At each level the right side is a single pattern, collected once
// (with a hash table if joined by key). The left side is a single pattern too, or the output of the
// join below. This output is processed in blocks of 32,768 combinations: find the pairs of a block,
// check them, yield, then take the next block. So, however many combinations there are, memory
// contains only the rows of the patterns, the lookup structures and one block per join. A
// combination stores row numbers, one per pattern, not values.
//
// There is one exception: a nested loop whose rows are sent to the client collects its whole left
// side. If its product is too large, this error must be reported before rows have been sent.

import { HedgerowError } from '../../../errors.ts';
import type { BoundExpression } from '../../binder/bound.ts';
import type { JoinPlan } from '../../planner/plan.ts';
import { type Batches, MOST_LOOP_PAIRS, MOST_PRODUCT_ROWS, type QueryContext } from '../context.ts';
import { sharedMembers } from '../rows/edges.ts';
import { findMatched } from '../rows/matched-rows.ts';
import { type Batch, batchOf, gather, type RowSet, type Side, selectFrom } from '../rows/row-set.ts';
import { collectShared, type SharedReads, sharedReads } from '../rows/shared-scans.ts';
import { evaluate } from '../values/evaluate.ts';
import { valueAt } from '../values/vector.ts';
import { type HashTable, hashPairs, hashTable } from './hash-pairs.ts';
import { allPairs, type Building, bandPairs, combine, type PairFinder } from './join-pairs.ts';
import { memberPairs } from './member-pairs.ts';
import { lookedUpRows } from './node-lookups.ts';

/** State shared by the joins of one statement. */
interface JoinRun {
  readonly context: QueryContext;
  readonly reads: SharedReads;
  /**
   * True if rows are folded into aggregates: no part of the answer is then sent before the last row
   * has been read.
   */
  readonly isFolded: boolean;
}

/** Yields the combinations that satisfy all conditions of this join and of the joins below it. */
export function joinRows(plan: JoinPlan, context: QueryContext, isFolded: boolean): Batches<Batch> {
  return observedJoin(plan, { context, reads: sharedReads(plan, context), isFolded });
}

function observedJoin(plan: JoinPlan, run: JoinRun): Batches<Batch> {
  return run.context.observed(plan, join(plan, run));
}

function* join(plan: JoinPlan, run: JoinRun): Batches<Batch> {
  const { context, reads } = run;
  let side: RightSide | undefined;
  let lefts = 0;
  for (const left of leftBlocks(plan, run)) {
    if (left === null) {
      yield null;
      continue;
    }
    side ??= yield* rightSide(plan, left, reads, context);
    if (side.rows.rows === 0) return;
    lefts += left.count;
    guardProduct(plan, lefts, side.rows.rows);
    for (const pairs of findPairs(plan, left, side, reads, context)) {
      if (pairs === null) {
        yield null;
        continue;
      }
      const pairRows = combine(left, side.rows, plan.right.pattern, pairs);
      yield* findMatched(context, pairRows);
      for (const part of context.parts(pairRows)) {
        yield* findMatched(context);
        const batch = check(plan, part, context);
        yield batch.count > 0 ? batch : null;
      }
    }
  }
}

/** The rows of the right pattern, and their hash table if the join is by key. */
interface RightSide {
  readonly rows: RowSet;
  readonly table: HashTable | undefined;
}

function* rightSide(plan: JoinPlan, left: Batch, reads: SharedReads, context: QueryContext): Building<RightSide> {
  const tied = plan.members === undefined ? undefined : left.sides[plan.members.left]!.set;
  const found = tied && (yield* lookedUpRows(plan, tied, context));
  const rows = found ?? (yield* collectShared(plan.right, reads, context, plan.band !== undefined));
  const isByKey = plan.strategy === 'HASH_JOIN' && rows.rows > 0;
  const table = isByKey ? yield* hashTable(plan.equal, batchOf(rows, plan.right.pattern), context) : undefined;
  return { rows, table };
}

/**
 * At least this many combinations of the join below are processed together, except in the last
 * block. The fixed cost of a block is small in comparison with theirs.
 */
const BLOCK_ROWS = 32_768;

/**
 * Yields the left side in non-empty blocks: all rows of one pattern, or the combinations of the
 * join below.
 */
function* leftBlocks(plan: JoinPlan, run: JoinRun): Batches<Batch> {
  const { context, reads } = run;
  const { left } = plan;
  if (left.op === 'scan') {
    const rows = yield* collectShared(left, reads, context, false);
    if (rows.rows > 0) yield batchOf(rows, left.pattern);
    return;
  }
  // A product may turn out to be too large, which cannot be reported once some of its rows have
  // been sent.
  const most = plan.strategy === 'NESTED_LOOP' && !run.isFolded ? Number.POSITIVE_INFINITY : BLOCK_ROWS;
  let parts: Batch[] = [];
  let rows = 0;
  let held = 0;
  for (const batch of observedJoin(left, run)) {
    yield null;
    if (batch === null) continue;
    const bytes = batch.count * 4 * batch.sides.length;
    context.charge(bytes);
    held += bytes;
    rows += batch.count;
    parts.push(batch);
    if (rows < most) continue;
    yield yield* concatenateBatches(parts);
    context.charge(-held);
    parts = [];
    rows = 0;
    held = 0;
  }
  if (rows > 0) yield yield* concatenateBatches(parts);
  context.charge(-held);
}

/** Concatenates batches over the same sets. */
function* concatenateBatches(parts: readonly Batch[]): Building<Batch> {
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

function findPairs(
  plan: JoinPlan,
  left: Batch,
  { rows: right, table }: RightSide,
  reads: SharedReads,
  context: QueryContext,
): PairFinder {
  const { band, members } = plan;
  switch (plan.strategy) {
    case 'MEMBER_JOIN': {
      const side = left.sides[members!.left]!;
      const linked = { set: side.set, rows: side.rows, count: left.count };
      const bounds = band && { ...band, times: timesOf(left, band.left), ofRow: band.left === members!.left };
      return memberPairs(linked, right, members!.least, bounds, reads.members, (bytes) => context.charge(bytes));
    }
    case 'HASH_JOIN':
      return hashPairs(plan.equal, left, table!, context);
    case 'TEMPORAL_JOIN':
      return bandPairs(timesOf(left, band!.left), right, band!.low, band!.high);
    case 'NESTED_LOOP':
      return allPairs(left.count, right.rows);
  }
}

function timesOf(batch: Batch, pattern: number): Float64Array {
  const { set, rows } = batch.sides[pattern]!;
  return gather(set.times, rows, batch.count);
}

/** Checks the conditions that the strategy did not check when it found the pairs. */
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
