// Finds the best edges for a question without reading all of them. The search begins with the
// newest edges and ends when no older edge can be better than those found.
//
// The search reads windows of time, from the newest towards the past (in the order `oldest`, from
// the oldest on), and offers every matching row to a heap of `size` edges. A window may contain
// GROWTH times as many estimated rows as the window before. While the heap is not full, every edge
// with a named node (every edge, if no node is named) is read. Once the heap is full, the least
// score in it is a threshold. For an edge that is not newer than the end of a window, two parts of
// the score are bounded: its recency is at most that of the window's end, and its share of the
// keywords is at most 1. So for each number of named nodes in the edge, score.ts can compute the
// least weight with which the edge still reaches the threshold. Therefore at most two kinds of
// edges must be read (`looksFor`):
//
// - edges that contain enough nodes to reach the threshold with any weight
// - edges that contain fewer nodes, but have enough weight
//
// ways.ts finds the edges with at least k of the nodes through the node index. The least weight
// becomes a range condition for the engine. Both requirements rise from window to window. When no
// edge can meet them, the search ends. The result is exact: an edge that was not read could not be
// among the best. A search in an order by time ends after the window in which the heap becomes
// full.

import type { RangeCondition } from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { EdgeOrder } from '../question/question.ts';
import { BestEdges } from './best-edges.ts';
import type { EdgeReader, EdgeRows } from './edge-rows.ts';
import { WEIGHT } from './edge-rows.ts';
import { KeywordMatch } from './keyword-match.ts';
import { needsNoTest, type RowTest, rowTest, type SplitFilters } from './row-test.ts';
import { leastTime, leastWeight, type ScoreScale, scoreOf } from './score.ts';
import { timeEnds } from './time-ends.ts';
import { type Way, waysTo } from './ways.ts';

/** The parameters of a search. */
export interface Search {
  /** Least time of edges that may match. */
  readonly least: number;
  /** Greatest time of edges that may match. */
  readonly greatest: number;
  /** In a table with intervals: only edges that hold at this time. */
  readonly at?: number | undefined;
  readonly nodes: readonly number[];
  readonly filters: SplitFilters;
  readonly keywords: KeywordMatch;
  readonly hasKeywords: boolean;
  /** Whether edges without any of the keywords are excluded. */
  readonly needsKeyword: boolean;
  readonly order: EdgeOrder;
  /** Number of edges to keep. */
  readonly size: number;
  readonly scale: ScoreScale;
}

/** The part of a search that looks for no keywords. */
export const NO_KEYWORDS = { keywords: new KeywordMatch([], []), hasKeywords: false, needsKeyword: false } as const;

/** Finds the best edges. `overflowed` in the result is exact. A step takes a few ms at most. */
export function* findBest(reader: EdgeReader, search: Search): Steps<BestEdges> {
  const best = new BestEdges(search.order, search.size);
  const rarest = yield* rarestFirst(reader, search);
  for (const window of windowsOf(reader, search)) {
    if (window === undefined) yield;
    else if (!(yield* searchWindow(reader, search, rarest, window, best))) break;
  }
  if (best.isFull && !best.overflowed) yield* lookForMore(reader, search, best);
  return best;
}

interface Window {
  readonly startTs: number;
  readonly endTs: number;
  /** Estimated number of rows. If there are several nodes, the sum of their rows. */
  readonly rows: number;
}

/** A window with fewer rows is read in one piece. */
const FEW_ROWS = 4096;

/** Searches one window. Returns false if no edge beyond the window can be among the best. */
function* searchWindow(
  reader: EdgeReader,
  search: Search,
  rarest: readonly number[],
  { startTs, endTs, rows }: Window,
  best: BestEdges,
): Steps<boolean> {
  // To be among the best, an older edge must contain more nodes. So the window is read in pieces,
  // from the newest to the oldest, with rising requirements.
  for (let high = endTs, low = startTs; high >= startTs; high = low - 1) {
    const { looks, enoughSince } = looksFor(search, best, high);
    if (looks.length === 0) return false;
    low = rows < FEW_ROWS || search.order === 'oldest' ? startTs : Math.max(startTs, Math.min(high, enoughSince));
    for (const { held, weight } of looks) {
      const where: RangeCondition[] = [...search.filters.where];
      if (weight !== Number.NEGATIVE_INFINITY) where.push({ column: 'weight', low: weight });
      for (const way of waysTo(rarest, held, rows)) {
        for (const found of reader.readKeys(boundsOf(search, way, low, high, where))) {
          if (found !== null) offerRows(found, search, best);
          yield;
        }
      }
    }
  }
  return true;
}

/**
 * Edges that may still be among the best: they have at least `held` of the nodes and at least this
 * weight.
 */
interface Look {
  readonly held: number;
  readonly weight: number;
}

const ANY: Look = { held: 1, weight: Number.NEGATIVE_INFINITY };

/**
 * Returns which edges at or before `endTs` must be read. If there are none, the search has ended.
 * Edges before `enoughSince` need more nodes than `looks` require, unless they have enough weight.
 */
function looksFor(search: Search, best: BestEdges, endTs: number): { looks: Look[]; enoughSince: number } {
  const { order, scale, nodes, hasKeywords } = search;
  if (!best.isFull) return { looks: [ANY], enoughSince: Number.NEGATIVE_INFINITY };
  if (order !== 'score') return { looks: [], enoughSince: Number.NEGATIVE_INFINITY };
  const most = Math.max(1, nodes.length);
  const { score } = best.worst!;
  const keywords = hasKeywords ? 1 : 0;
  const shareOf = (held: number) => (nodes.length === 0 ? 0 : held / most);
  const weightOf = (held: number) => leastWeight(scale, score, shareOf(held), keywords, endTs);
  // An edge with more of the nodes needs less weight.
  let free = most + 1;
  while (free > 1 && weightOf(free - 1) === Number.NEGATIVE_INFINITY) free--;
  let least = free;
  while (least > 1 && weightOf(least - 1) !== Number.POSITIVE_INFINITY) least--;
  const looks: Look[] = [];
  if (free <= most) looks.push({ held: free, weight: Number.NEGATIVE_INFINITY });
  if (least < free) looks.push({ held: least, weight: weightOf(free - 1) });
  return {
    looks,
    enoughSince: free > most ? Number.NEGATIVE_INFINITY : leastTime(scale, score, shareOf(free), keywords),
  };
}

function* rarestFirst({ table, snapshot }: EdgeReader, { nodes, least, greatest }: Search): Steps<readonly number[]> {
  if (nodes.length < 2) return nodes;
  const rows = new Map<number, number>();
  for (const [place, node] of nodes.entries()) {
    rows.set(node, table.estimate({ startTs: least, endTs: greatest, nodes: [node] }, snapshot).rows);
    if (place % STEP_WAYS === STEP_WAYS - 1) yield;
  }
  return [...nodes].sort((a, b) => rows.get(a)! - rows.get(b)!);
}

function boundsOf(
  { at, filters }: Pick<Search, 'at' | 'filters'>,
  way: Way,
  startTs: number,
  endTs: number,
  where: readonly RangeCondition[] = filters.where,
) {
  return {
    startTs,
    endTs,
    at,
    nodes: way.length === 0 ? undefined : way,
    where: where.length === 0 ? undefined : where,
  };
}

/**
 * The first window may have about FIRST_TIMES rows per wanted edge, or FIRST_TIMES * FIRST_ROWS
 * rows if that is more. Each later window may have GROWTH times as many rows as the one before.
 */
const FIRST_TIMES = 4;
const FIRST_ROWS = 256;
const GROWTH = 4;

/**
 * Yields windows that cover the time range of the search, in search order, with their estimated
 * rows. Yields undefined after a few ms of work.
 */
function* windowsOf(reader: EdgeReader, search: Search): Generator<Window | undefined, void, void> {
  const { least, greatest, order } = search;
  const ways = waysTo(search.nodes, 1, 0);
  const rowsWithin = ([startTs, endTs]: [number, number]) => estimated(reader, search, ways, startTs, endTs);
  let [low, high] = [least, greatest];
  let mostRows = FIRST_TIMES * Math.max(FIRST_ROWS, search.size);
  let rows = yield* rowsWithin([low, high]);
  let width = high - low + 1;
  if (rows > mostRows) width = Math.ceil((width * mostRows) / rows);
  const nextWindow = (): [number, number] =>
    order === 'oldest' ? [low, Math.min(high, low + width - 1)] : [Math.max(low, high - width + 1), high];
  while (low <= high) {
    let window = nextWindow();
    // Edges may be dense in some parts of the time range and sparse in others.
    for (rows = yield* rowsWithin(window); width > 1 && rows > mostRows; rows = yield* rowsWithin(window)) {
      width = Math.ceil(width / GROWTH);
      window = nextWindow();
    }
    yield { startTs: window[0], endTs: window[1], rows };
    if (order === 'oldest') low = window[1] + 1;
    else high = window[0] - 1;
    width *= GROWTH;
    if (rows * GROWTH > mostRows) mostRows *= GROWTH;
    if (rows > 0 || low > high) continue;
    // Skips the gap to the next edge.
    const left = yield* timeEnds(reader, low, high);
    if (left === undefined) return;
    [low, high] = [left.least, left.greatest];
  }
}

/** Number of ways that are estimated in one step. */
const STEP_WAYS = 4;

/** Returns the estimated number of rows that the ways find in a window. */
function* estimated(
  { table, snapshot }: EdgeReader,
  search: Search,
  ways: readonly Way[],
  startTs: number,
  endTs: number,
): Generator<undefined, number, void> {
  let rows = 0;
  for (const [place, way] of ways.entries()) {
    rows += table.estimate(boundsOf(search, way, startTs, endTs), snapshot).rows;
    if (place % STEP_WAYS === STEP_WAYS - 1) yield;
  }
  return rows;
}

function offerRows(rows: EdgeRows, search: Search, best: BestEdges): void {
  const { scale, nodes, order } = search;
  const passes: RowTest = rowTest(search.filters, rows);
  const keywordShare = search.keywords.sharesIn(rows);
  const weights = rows.columns.get(WEIGHT)!;
  const values = weights.kind === 'number' ? weights.values : undefined;
  // The newest rows are offered first. Most other rows can then be turned away without using the
  // heap.
  for (let row = rows.rows - 1; row >= 0; row--) {
    if (!passes(row)) continue;
    const share = keywordShare(row);
    if (search.needsKeyword && share === 0) continue;
    const eventTs = rows.times[row]!;
    const weight = weights.nulls[row] === 1 ? Number.NaN : values![row]!;
    const score = scoreOf(scale, memberShare(rows, row, nodes), share, eventTs, weight);
    const id = rows.ids[row]!;
    if (order === 'score' && best.isFull && score < best.worst!.score) best.turnAway(id);
    else best.offer({ id, eventTs, score });
  }
}

/**
 * Returns the share of the named nodes that are in an edge. Every edge that is read contains at
 * least one of them.
 */
export function memberShare(rows: EdgeRows, row: number, nodes: readonly number[]): number {
  if (nodes.length < 2) return nodes.length;
  let held = 0;
  let at = rows.offsets[row]!;
  const end = rows.offsets[row + 1]!;
  // Both lists are ascending.
  for (const node of nodes) {
    while (at < end && rows.members[at]! < node) at++;
    if (at < end && rows.members[at] === node) held++;
  }
  return held / nodes.length;
}

/** Sets `overflowed` if there is another matching edge besides those that are kept. */
function* lookForMore(reader: EdgeReader, search: Search, best: BestEdges): Steps<void> {
  const { least, greatest, nodes, filters, size, keywords, needsKeyword } = search;
  // If there are no row tests, at least one of size + 1 rows is not among those that are kept.
  const limit = needsNoTest(filters) && !needsKeyword ? size + 1 : undefined;
  for (const way of waysTo(nodes, 1, 0)) {
    for (const rows of reader.readKeys({ ...boundsOf(search, way, least, greatest), limit })) {
      yield;
      if (rows === null) continue;
      const passes = rowTest(filters, rows);
      const shareOf = keywords.sharesIn(rows);
      for (let row = 0; row < rows.rows; row++) {
        if (best.has(rows.ids[row]!) || !passes(row)) continue;
        if (needsKeyword && shareOf(row) === 0) continue;
        best.overflowed = true;
        return;
      }
    }
  }
}
