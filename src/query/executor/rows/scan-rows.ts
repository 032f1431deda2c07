// Reads the rows of one pattern through its access paths, filters them, and yields them in batches.

import {
  type BlockColumn,
  buildColumnPlan,
  type ColumnPlan,
  readColumnBlocks,
  type TextSink,
} from '../../../core/index.ts';
import { type Scan, type ScanBounds, type Table, WideMap } from '../../../engine/index.ts';
import type { AccessPath, ColumnNeeds, ScanPlan } from '../../planner/plan.ts';
import type { Batches, QueryContext } from '../context.ts';
import { pickRows } from '../sorts/pick-rows.ts';
import { sortedNumbers } from '../sorts/sorted-numbers.ts';
import { concatenated } from '../values/concatenation.ts';
import { findMatched } from './matched-rows.ts';
import { mergedScans } from './merged-scans.ts';
import { type Batch, batchOf, type RowSet, rowSetOf, selectFrom } from './row-set.ts';

/**
 * Yields batches. If there is one path, the rows are in (event_ts, id) order. `limit` is the
 * maximum number of rows that are needed. If `sink` is given, the rows may be read into this
 * buffer, so each batch is invalid once the next one is requested.
 */
export function scanRows(plan: ScanPlan, context: QueryContext, limit?: number, sink?: TextSink): Batches<Batch> {
  return context.observed(plan, scanPaths(plan, context, limit, sink));
}

/** Does the same as `scanRows`, but does not record the rows and the time for ANALYZE. */
export function* scanPaths(plan: ScanPlan, context: QueryContext, limit?: number, sink?: TextSink): Batches<Batch> {
  const seen = plan.paths.length > 1 ? new WideMap<number, true>() : undefined;
  const columns = columnPlan(context.columns[plan.pattern]!, context.needsOf(plan));
  const rowLimit = plan.filter.length === 0 && seen === undefined ? limit : undefined;
  for (const path of plan.paths) {
    const apart = rowLimit === undefined ? scansApart(plan, path, context) : undefined;
    const sets =
      apart === undefined
        ? scanPath(plan, path, columns, context, rowLimit, sink)
        : readApart(plan, apart.scans, apart.columns, context);
    for (const set of sets) {
      if (set === null) {
        yield null;
        continue;
      }
      let batch = batchOf(set, plan.pattern);
      if (seen !== undefined) batch = unseen(batch, set, seen, context);
      yield* findMatched(context, batch);
      for (const part of context.parts(batch)) {
        yield* findMatched(context);
        const kept = apart === undefined ? context.filter(part, plan.filter) : part;
        yield kept.count > 0 ? kept : null;
      }
    }
  }
}

/**
 * Returns separate scans of segments and memory if a single scan might often switch between the
 * two. Otherwise returns undefined.
 */
function scansApart(
  plan: ScanPlan,
  path: AccessPath,
  context: QueryContext,
): { scans: readonly Scan[]; columns: ColumnPlan } | undefined {
  if (path.nodes.length > 0 || context.candidates !== undefined) return undefined;
  const pattern = context.patterns[plan.pattern]!;
  // Times and ids are read because the rows are merged by key.
  const columns = columnPlan(context.columns[plan.pattern]!, { ...context.needsOf(plan), times: true, ids: true });
  const scans = context.source.scanApart(pattern, boundsIn(context, plan, path), columns);
  return scans && { scans, columns };
}

/** Yields the filtered rows of several scans in key order, and closes the scans. */
function* readApart(
  plan: ScanPlan,
  scans: readonly Scan[],
  columns: ColumnPlan,
  context: QueryContext,
): Batches<RowSet> {
  try {
    const blocks = scans.map((scan) => readScan(scan, plan, columns, context));
    yield* mergedScans(blocks, (set) => filteredSets(plan, set, context));
  } finally {
    // Also closes a scan that was never read.
    for (const scan of scans) scan.close();
  }
}

/** Yields the filtered rows of a set, in parts that take a few ms each. */
function* filteredSets(plan: ScanPlan, set: RowSet, context: QueryContext): Batches<RowSet> {
  if (plan.filter.length === 0) {
    yield set;
    return;
  }
  const batch = batchOf(set, plan.pattern);
  yield* findMatched(context, batch);
  for (const part of context.parts(batch)) {
    yield* findMatched(context);
    const kept = context.filter(part, plan.filter);
    yield kept.count > 0 ? compacted(kept, plan.pattern) : null;
  }
}

/** Returns the rows that no earlier path found. */
function unseen(batch: Batch, set: RowSet, seen: WideMap<number, true>, context: QueryContext): Batch {
  const fresh = new Uint32Array(set.rows);
  let count = 0;
  for (let i = 0; i < set.rows; i++) {
    if (seen.has(set.ids[i]!)) continue;
    seen.set(set.ids[i]!, true);
    fresh[count++] = i;
  }
  context.charge(count * BYTES_OF_SEEN);
  return count === set.rows ? batch : selectFrom(batch, fresh.subarray(0, count));
}

const BYTES_OF_SEEN = 40;

function* scanPath(
  plan: ScanPlan,
  path: AccessPath,
  columns: ColumnPlan,
  context: QueryContext,
  limit: number | undefined,
  sink: TextSink | undefined,
): Batches<RowSet> {
  const bounds = boundsIn(context, plan, path, limit === undefined ? undefined : Math.max(1, limit));
  yield* readScan(context.source.scan(context.patterns[plan.pattern]!, bounds, columns), plan, columns, context, sink);
}

/** Returns a path of a scan as a request, restricted to the candidates of its search. */
function boundsIn({ candidates }: QueryContext, plan: ScanPlan, path: AccessPath, limit?: number): ScanBounds {
  const bounds = boundsOf(plan, path, limit);
  if (candidates !== undefined && plan.search !== undefined) bounds.search = { ...plan.search, candidates };
  return bounds;
}

/**
 * Returns a path of a scan as a request to the engine. Is called for every statement, so that all
 * fields are written here: a spread with more fields makes slow objects in Node 20.
 */
export function boundsOf(
  { texts, search }: ScanPlan,
  { startTs, endTs, at, nodes, ranges, inRoles }: AccessPath,
  limit?: number,
  anyOf?: Float64Array,
): ScanBounds {
  return {
    startTs,
    endTs,
    at,
    nodes: nodes.length === 0 ? undefined : nodes,
    where: ranges.length === 0 ? undefined : ranges,
    texts: texts.length === 0 ? undefined : texts,
    search,
    inRoles: inRoles.length === 0 ? undefined : inRoles,
    limit,
    anyOf,
  };
}

/**
 * Yields the rows of a scan of column blocks, and closes the scan. With a sink, each set is invalid
 * once the next one is requested.
 */
export function* readScan(
  scan: Scan,
  plan: ScanPlan,
  columns: ColumnPlan,
  context: QueryContext,
  sink?: TextSink,
): Batches<RowSet> {
  const ids = columns.parts.columns.map((column) => column.id);
  // The best of a search are few, come from many segments, and are all evaluated.
  const isAll = context.candidates !== undefined && plan.search !== undefined;
  try {
    for (let bytes = slice(scan, sink); bytes !== null; bytes = slice(scan, sink)) {
      if (bytes.length === 0) yield null;
      if (isAll) yield* fewSets(bytes, columns, ids);
      else for (const block of readColumnBlocks(bytes, columns)) yield rowSetOf(block, ids);
    }
  } finally {
    context.touch(plan, scan.plan().buckets_scanned);
    scan.close();
  }
}

/** Rows of a slice that are put together in one set, because each set has a price of its own. */
const FEW_ROWS = 256;

/** Yields the rows of a slice in one set if they are few. */
function* fewSets(bytes: Uint8Array<ArrayBuffer>, columns: ColumnPlan, ids: readonly number[]): Batches<RowSet> {
  const sets: RowSet[] = [];
  let rows = 0;
  for (const block of readColumnBlocks(bytes, columns)) {
    sets.push(rowSetOf(block, ids));
    rows += block.rows;
  }
  if (sets.length > 1 && rows <= FEW_ROWS) yield yield* concatenated(sets);
  else yield* sets;
}

function slice(scan: Scan, sink: TextSink | undefined): Uint8Array<ArrayBuffer> | null {
  if (sink === undefined) return scan.next();
  sink.clear();
  return scan.fill(sink) ? sink.borrow() : null;
}

/** Returns the columns of a pattern that a statement reads, as a request to the core. */
export function columnPlan({ columns: all }: Table['columns'], needs: ColumnNeeds): ColumnPlan {
  const columns: BlockColumn[] = all
    .filter((column) => needs.properties.has(column.id))
    .map(({ id, type, default: missing }) => ({ id, type, missing }));
  return buildColumnPlan({
    times: needs.times,
    ids: needs.ids,
    sizes: needs.sizes || needs.members,
    members: needs.members,
    masks: needs.masks,
    columns,
  });
}

/**
 * Collects all rows of a pattern in one set, which is charged to the statement. If `sorted` is
 * true, the rows are in ascending order of time; the rows of a single path always are.
 */
export function* collectRows(plan: ScanPlan, context: QueryContext, sorted: boolean): Generator<null, RowSet, void> {
  const sets: RowSet[] = [];
  for (const batch of scanRows(plan, context)) {
    if (batch === null) {
      yield null;
      continue;
    }
    const set = compacted(batch, plan.pattern);
    context.chargeSet(set);
    sets.push(set);
    yield null;
  }
  const all = yield* concatenated(sets);
  return sorted && plan.paths.length > 1 ? yield* sortedByTime(all) : all;
}

/**
 * Returns the rows of a batch of one pattern as a set. Its offsets begin with 0, and it has no
 * members of other rows.
 */
export function compacted(batch: Batch, pattern: number): RowSet {
  const { set, rows } = batch.sides[pattern]!;
  if (rows !== undefined) return pickRows(set, rows);
  const { offsets } = set;
  const start = offsets[0]!;
  const end = offsets[offsets.length - 1]!;
  if (start === 0 && end >= set.members.length) return set;
  return {
    ...set,
    offsets: offsets.map((offset) => offset - start),
    members: set.members.subarray(start, end),
    masks: set.masks.subarray(start, end),
  };
}

function* sortedByTime(set: RowSet): Generator<null, RowSet, void> {
  const { times, ids } = set;
  const rows = Uint32Array.from({ length: set.rows }, (_, row) => row);
  const order = yield* sortedNumbers(rows, (a, b) => times[a]! - times[b]! || ids[a]! - ids[b]!);
  const sets: RowSet[] = [];
  for (let from = 0; from < order.length; from += PICKED_AT_ONCE) {
    sets.push(pickRows(set, order.subarray(from, from + PICKED_AT_ONCE)));
    yield null;
  }
  return yield* concatenated(sets);
}

const PICKED_AT_ONCE = 8192;
