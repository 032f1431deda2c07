// Runs the plan of a MATCH: input, groups, DISTINCT, order, SKIP and LIMIT. Yields result rows in
// chunks.

import { TextSink } from '../../core/index.ts';
import type { BoundExpression, BoundScore, Value } from '../binder/bound.ts';
import type { BestPlan, InputPlan, JoinPlan, MatchPlan, ScanPlan } from '../planner/plan.ts';
import { isPlain } from './batch-size.ts';
import type { Batches, QueryContext } from './context.ts';
import { Aggregator } from './folds/aggregate.ts';
import { foldRows } from './folds/fold.ts';
import { foldPlanOf } from './folds/fold-plan.ts';
import { foldNodeCounts } from './folds/node-counts.ts';
import { existsRows } from './joins/exists.ts';
import { joinRows } from './joins/join.ts';
import { longestText, valueBytes } from './memory.ts';
import { DistinctRows } from './rows/distinct-rows.ts';
import { type Batch, rowSetBytes } from './rows/row-set.ts';
import { boundsOf, scanRows } from './rows/scan-rows.ts';
import { FEW_ROWS, LargeSorter } from './sorts/large-sort.ts';
import { newestFirst } from './sorts/newest-first.ts';
import { Sorter, type SortRow } from './sorts/sort.ts';
import { type Environment, evaluate } from './values/evaluate.ts';
import { constant, NULL_VECTOR, type Vector, valueAt } from './values/vector.ts';

/** Some rows of the result: one vector per item. */
export interface ResultChunk {
  readonly count: number;
  readonly items: readonly Vector[];
}

/** Yields chunks of the result in order, and null to let other work run. */
export function* runMatch(plan: MatchPlan, context: QueryContext): Batches<ResultChunk> {
  if (plan.limit === 0) return;
  yield* context.prepareLists();
  yield* context.prepareScores();
  if (plan.best !== undefined) yield* prepareBest(plan, plan.best, context);
  // A single row needs neither an order nor a pace.
  const rows = plan.shortcut === undefined ? context.paced(ordered(plan, context)) : shortcutRow(plan, context);
  yield* context.observed(plan, window(rows, plan.skip, plan.limit));
}

function prepareBest({ match, input }: MatchPlan, best: BestPlan, context: QueryContext): Generator<null, void, void> {
  const scan = input as ScanPlan;
  const score = match.orderBy[0]!.expression as BoundScore;
  return context.prepareBest(scan, score, boundsOf(scan, scan.paths[0]!), best);
}

/** Applies SKIP and LIMIT. */
function* window(chunks: Batches<ResultChunk>, skip: number, limit: number | undefined): Batches<ResultChunk> {
  let left = skip;
  let open = limit ?? Number.MAX_SAFE_INTEGER;
  for (const chunk of chunks) {
    if (chunk === null) {
      yield null;
      continue;
    }
    if (left >= chunk.count) {
      left -= chunk.count;
      yield null;
      continue;
    }
    const from = left;
    const count = Math.min(chunk.count - from, open);
    left = 0;
    yield from === 0 && count === chunk.count ? chunk : part(chunk, from, count);
    open -= count;
    if (open === 0) return;
  }
}

function part(chunk: ResultChunk, from: number, count: number): ResultChunk {
  const items = chunk.items.map((vector): Vector => {
    if (vector.kind === 'constant') return vector;
    return { kind: 'value', values: Array.from({ length: count }, (_, i) => valueAt(vector, from + i)) };
  });
  return { count, items };
}

function* ordered(plan: MatchPlan, context: QueryContext): Batches<ResultChunk> {
  const { match } = plan;
  if (match.orderBy.length === 0 || plan.order === 'index' || plan.order === 'reversed') {
    yield* match.distinct
      ? distinct(results(plan, context), new DistinctRows(match.items, context))
      : results(plan, context);
    return;
  }
  yield* sorted(plan, context);
}

/** Returns the rows that a plan reads. */
function input(plan: MatchPlan, context: QueryContext): Batches<Batch> {
  const wanted = plan.limit === undefined ? undefined : plan.skip + plan.limit;
  if (plan.order === 'reversed') return newestFirst(plan.input as ScanPlan, context, wanted!);
  const isGrouped = plan.match.grouping !== undefined;
  const isDirect = !isGrouped && !plan.match.distinct && plan.order !== 'sort';
  if (plan.input.op !== 'existsFilter') return rowsOf(plan.input, context, isGrouped, isDirect ? wanted : undefined);
  const { input } = plan.input;
  return existsRows(plan.input, plan.exists, () => rowsOf(input, context, isGrouped, undefined), context);
}

function rowsOf(
  plan: ScanPlan | JoinPlan,
  context: QueryContext,
  isGrouped: boolean,
  wanted: number | undefined,
): Batches<Batch> {
  return plan.op === 'join' ? joinRows(plan, context, isGrouped) : scanRows(plan, context, wanted);
}

/** Yields the values of the returned items for every row or group, in the order of the input. */
function* results(plan: MatchPlan, context: QueryContext): Batches<ResultChunk> {
  for (const outcome of evaluated(plan, context)) yield outcome === null ? null : outcome.chunk;
}

interface Evaluated {
  readonly chunk: ResultChunk;
  readonly batch: Batch;
  readonly environment: Environment;
}

/**
 * Evaluates the items for each batch. In a batch with at least `FEW_ROWS` rows, the items for which
 * `isLate` is true are not evaluated yet; their values are null.
 */
function* evaluated(plan: MatchPlan, context: QueryContext, isLate?: readonly boolean[]): Batches<Evaluated> {
  if (plan.match.grouping !== undefined) {
    yield* grouped(plan, context);
    return;
  }
  let held = 0;
  for (const batch of input(plan, context)) {
    if (batch === null) {
      yield null;
      continue;
    }
    const outcome = evaluateItems(plan, batch, context.environment, batch.count < FEW_ROWS ? undefined : isLate);
    // The bytes are charged until the next chunk is requested, because a client may be slow.
    const bytes = chunkBytes(outcome.chunk);
    context.charge(bytes - held);
    held = bytes;
    yield outcome;
  }
}

/**
 * This many bytes of a chunk are not charged. They suffice for a few thousand rows of numbers and
 * short texts.
 */
const FREE_BYTES = 2 ** 20;

/**
 * Returns the number of bytes that are charged for a chunk: an estimate of its size minus
 * `FREE_BYTES`, at least 0. Every text counts like the longest text of its vector, and every other
 * value, even a list, counts `BYTES_OF_VALUE`.
 */
function chunkBytes({ count, items }: ResultChunk): number {
  let bytes = 0;
  for (const vector of items) {
    if (vector.kind === 'text') bytes += count * (BYTES_OF_VALUE + 2 * longestText(vector.texts));
    else if (vector.kind !== 'constant') bytes += count * BYTES_OF_VALUE;
  }
  return Math.max(0, bytes - FREE_BYTES);
}

function evaluateItems(
  plan: MatchPlan,
  batch: Batch,
  environment: Environment,
  isLate?: readonly boolean[],
): Evaluated {
  const items = plan.match.items.map(({ expression }, place) =>
    isLate?.[place] === true ? NULL_VECTOR : evaluate(expression, batch, environment),
  );
  return { chunk: { count: batch.count, items }, batch, environment };
}

function* grouped(plan: MatchPlan, context: QueryContext): Batches<Evaluated> {
  const { keys, aggregates } = plan.match.grouping!;
  const { nodeCounts } = plan;
  const aggregator = new Aggregator(keys, nodeCounts?.aggregates ?? aggregates, context, nodeCounts?.areOwnGroups);
  for (const _ of aggregated(plan, aggregator, context)) yield null;
  const valuesOf = (from: number, to: number) => ({
    ...context.environment,
    keys: aggregator.keys(from, to),
    aggregates: aggregates.map((_, index) => aggregator.aggregate(index, from, to)),
  });
  let rows = Math.min(CHUNK_ROWS, context.groupsAtOnce([], []));
  for (let from = 0; from < aggregator.groups; from += rows) {
    rows = Math.min(CHUNK_ROWS, aggregator.groups - from, 2 * rows);
    let environment = valuesOf(from, from + rows);
    const most = context.groupsAtOnce(environment.keys, environment.aggregates);
    if (most < rows) {
      rows = most;
      environment = valuesOf(from, from + rows);
    }
    yield evaluateItems(plan, { count: rows, sides: [] }, environment);
  }
}

/**
 * Adds all rows to the aggregator. If possible, the core computes the aggregates from the columns
 * of segments; otherwise the rows are read.
 */
function* aggregated(plan: MatchPlan, aggregator: Aggregator, context: QueryContext): Batches<{ count: number }> {
  if (plan.nodeCounts !== undefined) {
    yield* context.observed(plan.input, foldNodeCounts(plan.nodeCounts, aggregator, context));
    return;
  }
  const fold = foldPlanOf(plan, context.patterns);
  if (fold !== undefined) {
    yield* context.observed(plan.input, foldRows(fold, aggregator, context));
    return;
  }
  const batches = isLarge(plan.input) ? scanRows(plan.input, context, undefined, new TextSink()) : input(plan, context);
  for (const batch of batches) {
    if (batch !== null) yield* aggregator.add(batch);
    yield null;
  }
}

/**
 * Returns whether a plan is a scan that may find many rows. A scan that finds rows only by node
 * finds few, so a large buffer does not pay off for it.
 */
function isLarge(plan: InputPlan): plan is ScanPlan {
  return plan.op === 'scan' && plan.paths.some(({ nodes }) => nodes.length === 0);
}

/** Yields the row of a statement whose aggregates the engine answers without a scan. */
function* shortcutRow(plan: MatchPlan, context: QueryContext): Batches<ResultChunk> {
  const { scan } = plan.shortcut!;
  const { startTs, endTs } = scan.paths[0]!;
  while (!context.source.loadEnds(context.patterns[scan.pattern]!, startTs, endTs)) yield null;
  const aggregates = shortcutValues(plan, context).map((value) => constant(value));
  const environment = { ...context.environment, keys: [], aggregates };
  yield evaluateItems(plan, { count: 1, sides: [] }, environment).chunk;
}

function shortcutValues(plan: MatchPlan, context: QueryContext): Value[] {
  const { scan, values } = plan.shortcut!;
  const pattern = context.patterns[scan.pattern]!;
  const { startTs, endTs } = scan.paths[0]!;
  const needsBounds = values.some((value) => value !== 'count');
  const bounds = needsBounds ? context.source.timeBounds(pattern, startTs, endTs) : undefined;
  return values.map((value) => {
    if (value === 'count') return context.source.count(pattern, startTs, endTs);
    return bounds === undefined ? null : bounds[value];
  });
}

const BYTES_OF_ROW = 80;
const BYTES_OF_VALUE = 16;

/** Yields only the first of equal result rows. */
function* distinct(chunks: Batches<ResultChunk>, seen: DistinctRows): Batches<ResultChunk> {
  for (const chunk of chunks) {
    if (chunk === null) {
      yield null;
      continue;
    }
    const places = yield* seen.firstOf(chunk.items, chunk.count);
    yield places.length > 0 ? picked(chunk, places) : null;
  }
}

function picked(chunk: ResultChunk, places: readonly number[]): ResultChunk {
  const items = chunk.items.map((vector): Vector => {
    if (vector.kind === 'constant') return vector;
    return { kind: 'value', values: places.map((place) => valueAt(vector, place)) };
  });
  return { count: places.length, items };
}

const CHUNK_ROWS = 1024;

function sorted(plan: MatchPlan, context: QueryContext): Batches<ResultChunk> {
  const wanted = plan.limit === undefined ? Infinity : plan.skip + plan.limit;
  return wanted <= FEW_SORTED ? fewSorted(plan, context, wanted) : manySorted(plan, context, wanted);
}

/**
 * If SKIP plus LIMIT is at most this, only rows are kept that may be among the first SKIP plus
 * LIMIT rows in the requested order (see sort.ts).
 */
const FEW_SORTED = 4096;

/**
 * Returns whether the values of an expression are lists or whole rows, except for a list that is
 * the same for all rows.
 */
function isMadeLate(expression: BoundExpression): boolean {
  if (expression.type !== 'list' && expression.type !== 'row') return false;
  return !isPlain(expression) && !(expression.kind === 'list' && expression.items.every(isPlain));
}

/**
 * Returns the number of bytes that a kept batch of one pattern takes. Returns 0 for a join, since
 * its sets are charged where they are read.
 */
function ownBytes(plan: MatchPlan, { sides }: Batch, { held }: QueryContext): number {
  const input = plan.input.op === 'existsFilter' ? plan.input.input : plan.input;
  return input.op === 'scan' ? rowSetBytes(sides[input.pattern]!.set, held) : 0;
}

/**
 * Returns the size in bytes of kept rows. An undefined vector belongs to an item that is evaluated
 * later.
 */
function keptBytes(vectors: readonly (Vector | undefined)[], count: number, { held }: QueryContext): number {
  let bytes = 0;
  for (const vector of vectors) if (vector !== undefined) bytes += held.ofVector(vector, count);
  return bytes;
}

/** Sorts by keeping all rows, as columns. */
function* manySorted(plan: MatchPlan, context: QueryContext, wanted: number): Batches<ResultChunk> {
  const { orderBy, items, distinct: isDistinct, grouping } = plan.match;
  const sorter = new LargeSorter(orderBy);
  const seen = isDistinct ? new DistinctRows(items, context) : undefined;
  // Lists and rows are made last, because objects cost the garbage collector more the longer they
  // live.
  const isLate = items.map(({ expression }) => grouping === undefined && !isDistinct && isMadeLate(expression));
  const bytes = BYTES_OF_VALUE * orderBy.length;
  for (const outcome of evaluated(plan, context, isLate)) {
    if (outcome !== null) {
      const { chunk, batch, environment } = outcome;
      const orders = { count: chunk.count, items: orderVectors(plan, chunk, batch, environment) };
      const isKept = isLate.includes(true) && chunk.count >= FEW_ROWS;
      const places = seen && (yield* seen.firstOf(chunk.items, chunk.count));
      const [rows, keys] = places === undefined ? [chunk, orders] : [picked(chunk, places), picked(orders, places)];
      const known = rows.items.map((vector, place) => (isKept && isLate[place] ? undefined : vector));
      context.charge(
        rows.count * bytes + keptBytes(known, rows.count, context) + keptBytes(keys.items, rows.count, context),
      );
      if (isKept) context.charge(ownBytes(plan, batch, context));
      sorter.add({ count: rows.count, items: known, orders: keys.items, batch, environment });
    }
    yield null;
  }
  const rows = yield* sorter.sorted(wanted);
  const atOnce = Math.min(resultRows(items.length), context.rowsAtOnce({ count: 0, sides: [] }));
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = rows.subarray(at, at + atOnce);
    yield { count: some.length, items: items.map((item, place) => sorter.item(place, item, some)) };
  }
}

/** Returns the number of result rows that are made from kept values at once. */
function resultRows(items: number): number {
  return Math.max(1, Math.min(CHUNK_ROWS, Math.floor(VALUES_AT_ONCE / Math.max(1, items))));
}

const VALUES_AT_ONCE = 32_768;

function* fewSorted(plan: MatchPlan, context: QueryContext, limit: number): Batches<ResultChunk> {
  const { match } = plan;
  const sorter = new Sorter(
    match.orderBy.map((order) => order.descending),
    limit,
  );
  const seen = match.distinct ? new DistinctRows(match.items, context) : undefined;
  let held = 0;
  for (const outcome of evaluated(plan, context)) {
    if (outcome === null) {
      yield null;
      continue;
    }
    const { chunk, batch, environment } = outcome;
    const orders = orderVectors(plan, chunk, batch, environment);
    const admitted: number[] = [];
    for (let i = 0; i < chunk.count; i++) if (sorter.admits(orders, i)) admitted.push(i);
    const isNew = seen && (yield* isNewOf(seen, chunk, admitted));
    for (const [place, i] of admitted.entries()) {
      if (isNew?.[place] === false || !sorter.admits(orders, i)) continue;
      const row = sortRow(chunk.items, orders, i);
      const bytes = sortRowBytes(row);
      context.charge(bytes);
      held += bytes;
      sorter.add(row);
      if (!sorter.isFull && (held < CUT_BYTES || sorter.size <= 2 * limit)) continue;
      for (const gone of yield* sorter.cut()) {
        const freed = sortRowBytes(gone);
        context.charge(-freed);
        held -= freed;
      }
    }
    yield null;
  }
  const rows = yield* sorter.sorted();
  const atOnce = resultRows(match.items.length);
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = rows.slice(at, at + atOnce);
    const items = match.items.map(
      (_, place): Vector => ({ kind: 'value', values: some.map((row) => row.values[place]!) }),
    );
    yield { count: some.length, items };
  }
}

/** Returns for each of the rows at `places` whether no equal row occurred before. */
function* isNewOf(seen: DistinctRows, chunk: ResultChunk, places: readonly number[]): Generator<null, boolean[], void> {
  const some = picked(chunk, places);
  const isNew = new Array<boolean>(places.length).fill(false);
  for (const place of yield* seen.firstOf(some.items, some.count)) isNew[place] = true;
  return isNew;
}

/**
 * If the kept rows take at least this many bytes and are more than twice the limit, they are cut
 * down to the limit early.
 */
const CUT_BYTES = 4 * 2 ** 20;

function sortRowBytes({ values, order }: SortRow): number {
  return BYTES_OF_ROW + valueBytes(values) + valueBytes(order);
}

function orderVectors(
  { match: { orderBy } }: MatchPlan,
  chunk: ResultChunk,
  batch: Batch,
  environment: Environment,
): Vector[] {
  const own = { ...environment, items: chunk.items };
  return orderBy.map(({ expression }) => evaluate(expression, batch, own));
}

function sortRow(items: readonly Vector[], orders: readonly Vector[], place: number): SortRow {
  return {
    values: items.map((vector) => valueAt(vector, place)),
    order: orders.map((vector) => valueAt(vector, place)),
  };
}
