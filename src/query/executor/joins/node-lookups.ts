// Reads one side of a join between nodes and edges by looking up the rows that belong to the other
// side, instead of reading the whole table: the edges that have one of a few nodes, or the nodes
// that are members of a few edges.

import { FEW_ROWS, ROWS_A_LOOKUP } from '../../planner/node-lookups.ts';
import type { AccessPath, JoinPlan, ScanPlan } from '../../planner/plan.ts';
import type { Batches, QueryContext } from '../context.ts';
import { findMatched } from '../rows/matched-rows.ts';
import { NumberTable } from '../rows/number-table.ts';
import { type Batch, batchOf, NO_ROWS, type RowSet } from '../rows/row-set.ts';
import { boundsOf, columnPlan, compacted, readScan } from '../rows/scan-rows.ts';
import { pickRows } from '../sorts/pick-rows.ts';
import { sortedNumbers } from '../sorts/sorted-numbers.ts';
import { concatenated } from '../values/concatenation.ts';
import type { Building } from './join-pairs.ts';

/** Nodes that are looked up in one scan. */
const NODES_AT_ONCE = 4096;
const PICKED_AT_ONCE = 8192;

/**
 * Returns the rows of the right side that may have a partner, or undefined if it is better to read
 * all rows of the table. `left` is the whole set of the pattern to which the right side is tied.
 */
export function* lookedUpRows(plan: JoinPlan, left: RowSet, context: QueryContext): Building<RowSet | undefined> {
  const { right } = plan;
  const path = lookupPath(plan, context);
  if (path === undefined || right.estimatedRows < FEW_ROWS) return undefined;
  const most = right.estimatedRows / ROWS_A_LOOKUP;
  const numbers = yield* distinctMembers(left, most);
  if (numbers === undefined) return undefined;
  context.lookedUp.add(plan);
  for (const batch of context.observed(right, read(right, path, numbers, context))) {
    if (batch !== null) return batch.sides[right.pattern]!.set;
    yield null;
  }
  return NO_ROWS;
}

/**
 * Returns the only access path of the right side if its rows can be looked up by the members of the
 * left side.
 */
function lookupPath({ members, right }: JoinPlan, { patterns }: QueryContext): AccessPath | undefined {
  const [path] = right.paths;
  if (members === undefined || path === undefined || right.paths.length > 1 || path.nodes.length > 0) return undefined;
  const sides = [patterns[members.left]!.table, patterns[right.pattern]!.table];
  if (!sides.some(({ isOfNodes }) => isOfNodes)) return undefined;
  return path;
}

/** Returns the distinct members in a set, ascending, or undefined if there are more than `most`. */
function* distinctMembers({ members, offsets, rows }: RowSet, most: number): Building<Float64Array | undefined> {
  const table = new NumberTable();
  const numbers: number[] = [];
  for (let at = offsets[0]!, end = offsets[rows]!; at < end; at++) {
    const { size } = table;
    table.placeOf(members[at]!);
    if (table.size === size) continue;
    if (size >= most) return undefined;
    numbers.push(members[at]!);
    if (size % PICKED_AT_ONCE === 0) yield null;
  }
  return Float64Array.from(numbers).sort();
}

/** Yields the rows found, all in one batch, ordered by time and id. */
function* read(right: ScanPlan, path: AccessPath, numbers: Float64Array, context: QueryContext): Batches<Batch> {
  const pattern = context.patterns[right.pattern]!;
  const columns = columnPlan(context.columns[right.pattern]!, { ...right.needs, times: true, ids: true });
  const kept: RowSet[] = [];
  for (let from = 0; from < numbers.length; from += NODES_AT_ONCE) {
    const anyOf = numbers.subarray(from, from + NODES_AT_ONCE);
    const scan = context.source.scan(pattern, boundsOf(right, path, undefined, anyOf), columns);
    for (const set of readScan(scan, right, columns, context)) {
      if (set === null) {
        yield null;
        continue;
      }
      const all = batchOf(set, right.pattern);
      yield* findMatched(context, all);
      for (const part of context.parts(all)) {
        yield* findMatched(context);
        const batch = context.filter(part, right.filter);
        if (batch.count > 0) kept.push(compacted(batch, right.pattern));
        yield null;
      }
    }
  }
  if (kept.length === 0) return;
  const found = yield* concatenated(kept);
  context.chargeSet(found);
  yield batchOf(numbers.length <= NODES_AT_ONCE ? found : yield* distinctRows(found), right.pattern);
}

/** Returns each row once, in the order of time and id. */
function* distinctRows(set: RowSet): Building<RowSet> {
  const { times, ids } = set;
  const seen = new NumberTable();
  const rows = new Uint32Array(set.rows);
  let count = 0;
  for (let row = 0; row < set.rows; row++) {
    const { size } = seen;
    seen.placeOf(ids[row]!);
    if (seen.size > size) rows[count++] = row;
    if (row % PICKED_AT_ONCE === PICKED_AT_ONCE - 1) yield null;
  }
  const order = yield* sortedNumbers(rows.subarray(0, count), (a, b) => times[a]! - times[b]! || ids[a]! - ids[b]!);
  const sets: RowSet[] = [];
  for (let from = 0; from < order.length; from += PICKED_AT_ONCE) {
    sets.push(pickRows(set, order.subarray(from, from + PICKED_AT_ONCE)));
    yield null;
  }
  return yield* concatenated(sets);
}
