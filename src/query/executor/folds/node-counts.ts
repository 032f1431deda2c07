// Folds the nodes of a node table, each as often as there are edges that it is in, without making
// pairs of nodes and edges.
//
// 1. The nodes that satisfy the conditions are read. If rows have to be filtered, at first only the
//    columns that the filter needs.
// 2. The edges of these nodes are counted. Where all edges of a window count, the posting lists of
//    a segment give the counts: those of a few nodes are looked up, those of many are read in
//    order. Otherwise, and in segments with deleted edges, the members of the edges are read.
// 3. The nodes that are in an edge are folded with their counts. If columns are still missing, they
//    are read now: for these nodes alone if there are few.
//
// Example: of 100,000 people, 1,000 live in Rome. Their names are read, and not those of the
// others; and each segment is asked for 1,000 counts, however many edges it has.

import { TextSink } from '../../../core/index.ts';
import type { Scan, SegmentPart } from '../../../engine/index.ts';
import { ROWS_A_LOOKUP } from '../../planner/node-lookups.ts';
import { addNeeds, noNeeds } from '../../planner/patterns-of.ts';
import type { ColumnNeeds, NodeCountPlan, ScanPlan } from '../../planner/plan.ts';
import type { Batches, QueryContext } from '../context.ts';
import { batchOf, gather, type RowSet, type Side, selectFrom } from '../rows/row-set.ts';
import { boundsOf, columnPlan, compacted, readScan, scanPaths } from '../rows/scan-rows.ts';
import { pickRows } from '../sorts/pick-rows.ts';
import type { Aggregator } from './aggregate.ts';

/** Looking up the count of a node takes as long as reading this many counts in order. */
const TALLIES_A_LOOKUP = 8;
/** Missing columns are read node by node if at most one in this many nodes of the table remains. */
const FEW_SHARE = 8;
/** Nodes that are looked up in one scan. */
const NODES_AT_ONCE = 4096;

/** Adds all nodes to the aggregator. Yields the number of pairs that each step stands for. */
export function* foldNodeCounts(
  plan: NodeCountPlan,
  aggregator: Aggregator,
  context: QueryContext,
): Batches<{ readonly count: number }> {
  const { nodes } = plan;
  const all: ColumnNeeds = { ...nodes.needs, members: false, times: true };
  const early = earlyNeeds(plan, context);
  const sets: RowSet[] = [];
  for (const set of keptSets({ ...nodes, needs: early ?? all }, context)) {
    if (set !== null) sets.push(set);
    yield null;
  }
  const counts = countsFor(sets, context);
  if (counts === undefined) return;
  yield* countEdges(plan, counts, context);
  const complete = early === undefined ? sets : completed(plan, counts, all, context);
  for (const set of complete) {
    if (set === null) {
      yield null;
      continue;
    }
    for (const part of context.parts(batchOf(set, nodes.pattern))) {
      const { rows, times, pairs } = counts.of(part.sides[nodes.pattern]!, part.count);
      if (rows.length > 0) yield* aggregator.add(rows.length < part.count ? selectFrom(part, rows) : part, times);
      yield { count: pairs };
    }
  }
}

/**
 * Returns what the conditions read, if this is less than the whole statement reads of a node.
 * Otherwise returns undefined.
 */
function earlyNeeds({ nodes }: NodeCountPlan, { patterns }: QueryContext): ColumnNeeds | undefined {
  if (nodes.filter.length === 0) return undefined;
  const own = patterns.map(noNeeds);
  for (const condition of nodes.filter) addNeeds(condition, own, patterns);
  const { properties, sizes, members } = own[nodes.pattern]!;
  if ([...nodes.needs.properties].every((id) => properties.has(id))) return undefined;
  return { times: true, ids: nodes.needs.ids, sizes, members, masks: false, properties };
}

/** Yields the filtered rows of a scan as sets that stay valid. They are charged. */
function* keptSets(scan: ScanPlan, context: QueryContext): Batches<RowSet> {
  const isFiltered = scan.filter.length > 0;
  for (const batch of scanPaths(scan, context, undefined, isFiltered ? new TextSink() : undefined)) {
    if (batch === null) {
      yield null;
      continue;
    }
    const { set: read, rows } = batch.sides[scan.pattern]!;
    const set = isFiltered ? pickRows(read, rows ?? everyRow(read.rows)) : compacted(batch, scan.pattern);
    context.chargeSet(set);
    yield set;
  }
}

function everyRow(rows: number): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, row) => row);
}

/** With at most this many numbers between them for each node, all of these numbers are counted. */
const NUMBERS_A_NODE = 16;

/** The number of edges of each node. */
class EdgeCounts {
  /** The nodes, each once, ascending. */
  readonly numbers: Float64Array;
  readonly #least: number;
  /**
   * Whether a count is at its node's number minus the least one, and nodes in between that are not
   * asked for have counts too. Otherwise it is where its node is in `numbers`.
   */
  readonly isDense: boolean;
  readonly #counts: Uint32Array;

  /** `numbers` must not be empty. */
  constructor(numbers: Float64Array) {
    const least = numbers[0]!;
    const range = numbers[numbers.length - 1]! - least + 1;
    this.numbers = numbers;
    this.#least = least;
    this.isDense = range <= NUMBERS_A_NODE * numbers.length;
    this.#counts = new Uint32Array(this.isDense ? range : numbers.length);
  }

  get bytes(): number {
    return this.numbers.byteLength + this.#counts.byteLength;
  }

  /** Returns the place of a node's count; -1, or a place after the last one, for other numbers. */
  #placeOf(number: number): number {
    if (this.isDense) return number - this.#least;
    const { numbers } = this;
    let from = 0;
    let to = numbers.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (numbers[middle]! < number) from = middle + 1;
      else to = middle;
    }
    return numbers[from] === number ? from : -1;
  }

  /** Adds the counts of `numbers`. */
  add(counts: Uint32Array): void {
    const { isDense, numbers } = this;
    for (let i = 0; i < counts.length; i++) this.#counts[isDense ? numbers[i]! - this.#least : i]! += counts[i]!;
  }

  /**
   * Adds the counts of all nodes of a segment. Returns false if it gives none. `isDense` must be
   * true.
   */
  *tally(part: SegmentPart): Generator<null, boolean, void> {
    return yield* part.tallyNodes(this.#least, this.#counts);
  }

  /** Counts the members of all rows of a set, or those that have one of the roles. */
  addMembers({ members, masks, offsets, rows }: RowSet, mask: number | undefined): void {
    const counts = this.#counts;
    const end = offsets[rows]!;
    for (let at = offsets[0]!; at < end; at++) {
      if (mask !== undefined && (masks[at]! & mask) === 0) continue;
      const place = this.#placeOf(members[at]!);
      if (place >= 0 && place < counts.length) counts[place]!++;
    }
  }

  /** Returns the number of pairs of a node that is asked for and an edge. */
  pairs(): number {
    return this.numbers.reduce((sum, number) => sum + this.#counts[this.#placeOf(number)]!, 0);
  }

  /** Returns the nodes that are in an edge, ascending. */
  present(): Float64Array {
    return this.numbers.filter((number) => this.#counts[this.#placeOf(number)]! > 0);
  }

  /** Returns the rows whose node is in an edge, with the number of its edges, and the sum. */
  of({ set, rows: given }: Side, count: number): { rows: Uint32Array; times: Uint32Array; pairs: number } {
    const numbers = gather(set.times, given, count);
    const rows = new Uint32Array(count);
    const times = new Uint32Array(count);
    let found = 0;
    let pairs = 0;
    for (let i = 0; i < count; i++) {
      // A node that was not asked for may be read together with those that were.
      const edges = this.#counts[this.#placeOf(numbers[i]!)] ?? 0;
      if (edges === 0) continue;
      rows[found] = i;
      times[found++] = edges;
      pairs += edges;
    }
    return { rows: rows.subarray(0, found), times: times.subarray(0, found), pairs };
  }
}

/** Returns counts of 0 for all nodes of some sets, or undefined if there are none. Charges them. */
function countsFor(sets: readonly RowSet[], context: QueryContext): EdgeCounts | undefined {
  const total = sets.reduce((sum, { rows }) => sum + rows, 0);
  if (total === 0) return undefined;
  const numbers = new Float64Array(total);
  let at = 0;
  for (const { times, rows } of sets) {
    numbers.set(times.subarray(0, rows), at);
    at += rows;
  }
  // The rows of several paths follow each other.
  if (sets.length > 1) numbers.sort();
  const counts = new EdgeCounts(numbers);
  context.charge(counts.bytes);
  return counts;
}

/** Counts the edges of the nodes. */
function* countEdges(plan: NodeCountPlan, counts: EdgeCounts, context: QueryContext): Batches<never> {
  const { edges, mask } = plan;
  if (!isPlainWindow(plan)) {
    for (const batch of context.observed(edges, scanPaths(edges, context, undefined, new TextSink()))) {
      if (batch !== null) counts.addMembers(compacted(batch, edges.pattern), mask);
      yield null;
    }
    return;
  }
  const steps = context.observed(edges, countSegments(plan, counts, context));
  for (const _ of steps) yield null;
}

/** Returns whether all edges of a window count, with all their members. */
function isPlainWindow({ edges: { paths, texts, search, filter }, mask }: NodeCountPlan): boolean {
  if (mask !== undefined || texts.length > 0 || search !== undefined) return false;
  if (filter.length > 0 || paths.length !== 1) return false;
  const { nodes, ranges, at, inRoles } = paths[0]!;
  return nodes.length === 0 && ranges.length === 0 && at === undefined && inRoles.length === 0;
}

function* countSegments(
  { join, edges }: NodeCountPlan,
  counts: EdgeCounts,
  context: QueryContext,
): Batches<{ readonly count: number }> {
  const { numbers } = counts;
  const columns = columnPlan(context.columns[edges.pattern]!, edges.needs);
  // Of rows that have to be read, only those with one of a few nodes are.
  const areFew = numbers.length <= NODES_AT_ONCE && numbers.length * ROWS_A_LOOKUP <= edges.estimatedRows;
  if (areFew) context.lookedUp.add(join);
  const bounds = boundsOf(edges, edges.paths[0]!, undefined, areFew ? numbers : undefined);
  const segments = context.source.segmentScan(context.patterns[edges.pattern]!, bounds);
  let sink: TextSink | undefined;
  function* readAll(blocks: Scan, into: TextSink | undefined): Batches<{ readonly count: number }> {
    for (const set of readScan(blocks, edges, columns, context, into)) {
      if (set !== null) counts.addMembers(set, undefined);
      yield set && { count: set.rows };
    }
  }
  const found = new Uint32Array(numbers.length);
  const isMeasured = context.figures !== undefined;
  try {
    for (let part = segments.next(); part !== undefined; part = segments.next()) {
      while (!part.load()) yield null;
      const areMany = counts.isDense && numbers.length * TALLIES_A_LOOKUP > part.segment.facts.nodes;
      const before = areMany && isMeasured ? counts.pairs() : 0;
      if (areMany ? yield* counts.tally(part) : part.countNodes(numbers, found))
        yield areMany && isMeasured ? { count: counts.pairs() - before } : null;
      else {
        sink ??= new TextSink();
        yield* readAll(segments.blocks(columns, part.segment), sink);
      }
    }
    counts.add(found);
    yield { count: found.reduce((sum, each) => sum + each, 0) };
    yield* readAll(segments.blocks(columns, undefined), sink);
  } finally {
    context.touch(edges, segments.buckets);
    segments.close();
  }
}

/** Yields the nodes that are in an edge, and maybe others, with all columns. */
function* completed(
  { nodes }: NodeCountPlan,
  counts: EdgeCounts,
  needs: ColumnNeeds,
  context: QueryContext,
): Batches<RowSet> {
  const scan = { ...nodes, needs };
  const numbers = counts.present();
  if (numbers.length * FEW_SHARE > nodes.estimatedRows) {
    for (const batch of scanPaths(scan, context)) yield batch && compacted(batch, nodes.pattern);
    return;
  }
  const pattern = context.patterns[nodes.pattern]!;
  const columns = columnPlan(context.columns[nodes.pattern]!, needs);
  for (let from = 0; from < numbers.length; from += NODES_AT_ONCE) {
    const anyOf = numbers.subarray(from, from + NODES_AT_ONCE);
    yield* readScan(context.source.scan(pattern, { anyOf }, columns), scan, columns, context);
  }
}
