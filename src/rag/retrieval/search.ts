// Finds the best edges of a question without reading all: newest first, and only as long as what is left can still be better.
//
// Windows grow towards the past. When the heap is full, an edge of a later window can come before its worst one only with more nodes or a weight that make up
// for its age: the engine is asked for those alone, and when nothing is enough the search ends. What is left out could not have been among the best.

import type { RangeCondition } from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { EdgeOrder } from '../question/question.ts';
import { BestEdges } from './best-edges.ts';
import type { EdgeReader, EdgeRows } from './edge-rows.ts';
import { WEIGHT } from './edge-rows.ts';
import type { KeywordMatch } from './keyword-match.ts';
import { type RowTest, rowTest, type SplitFilters } from './row-test.ts';
import { leastTime, leastWeight, type ScoreScale, scoreOf } from './score.ts';
import { timeEnds } from './time-ends.ts';
import { type Way, waysTo } from './ways.ts';

/** What is looked for, checked and complete. */
export interface Search {
  /** Least and greatest time of edges that may match. */
  readonly least: number;
  readonly greatest: number;
  readonly nodes: readonly number[];
  readonly filters: SplitFilters;
  readonly keywords: KeywordMatch;
  readonly hasKeywords: boolean;
  /** Edges without any of the keywords are left out. */
  readonly needsKeyword: boolean;
  readonly order: EdgeOrder;
  /** So many edges are kept. */
  readonly size: number;
  readonly scale: ScoreScale;
}

/** The best edges; `overflowed` is exact. A step is some ms at most. */
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
  /** About; with several nodes those of each are counted. */
  readonly rows: number;
}

/** A window of fewer rows is looked at in one piece. */
const FEW_ROWS = 4096;

/** False: what lies behind the window cannot be among the best. */
function* searchWindow(
  reader: EdgeReader,
  search: Search,
  rarest: readonly number[],
  { startTs, endTs, rows }: Window,
  best: BestEdges,
): Steps<boolean> {
  // The older an edge, the more nodes it must hold: in pieces, as few rows as can be are looked at.
  for (let high = endTs, low = startTs; high >= startTs; high = low - 1) {
    const { looks, enoughSince } = looksFor(search, best, high);
    if (looks.length === 0) return false;
    low = rows < FEW_ROWS || search.order === 'oldest' ? startTs : Math.max(startTs, Math.min(high, enoughSince));
    for (const { held, weight } of looks) {
      const where: RangeCondition[] = [...search.filters.where];
      if (weight !== Number.NEGATIVE_INFINITY) where.push({ column: 'weight', low: weight });
      for (const way of waysTo(rarest, held, rows)) {
        for (const found of reader.readKeys(boundsOf(way, where, low, high))) {
          if (found !== null) offerRows(found, search, best);
          yield;
        }
      }
    }
  }
  return true;
}

/** Edges that may still be among the best: those that hold so many nodes, and have so much weight. */
interface Look {
  readonly held: number;
  readonly weight: number;
}

const ANY: Look = { held: 1, weight: Number.NEGATIVE_INFINITY };

/** What to look for up to a time; nothing: the search has ended. `enoughSince`: for older edges more is asked of those that need no weight. */
function looksFor(search: Search, best: BestEdges, endTs: number): { looks: Look[]; enoughSince: number } {
  const { order, scale, nodes, hasKeywords } = search;
  if (!best.isFull) return { looks: [ANY], enoughSince: Number.NEGATIVE_INFINITY };
  if (order !== 'score') return { looks: [], enoughSince: Number.NEGATIVE_INFINITY };
  const most = Math.max(1, nodes.length);
  const { score } = best.worst!;
  const keywords = hasKeywords ? 1 : 0;
  const shareOf = (held: number) => (nodes.length === 0 ? 0 : held / most);
  const weightOf = (held: number) => leastWeight(scale, score, shareOf(held), keywords, endTs);
  // The more nodes, the less weight is needed.
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

function boundsOf(way: Way, where: readonly RangeCondition[], startTs: number, endTs: number) {
  return {
    startTs,
    endTs,
    nodes: way.length === 0 ? undefined : way,
    where: where.length === 0 ? undefined : where,
  };
}

/** The first window holds some times as many edges as are wanted, at most about; every next one may hold so many times as many. */
const FIRST_TIMES = 4;
const FIRST_ROWS = 256;
const GROWTH = 4;

/** Windows that cover the time of the search, the one to look at first in front, each with its rows, about. Undefined: some ms went by. */
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
    // Edges may stand close in a part of the time, and wide apart in the others.
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
    // Over the gap to the next edge.
    const left = yield* timeEnds(reader, low, high);
    if (left === undefined) return;
    [low, high] = [left.least, left.greatest];
  }
}

/** Ways whose rows are estimated in a step. */
const STEP_WAYS = 4;

/** The rows that the ways find in a window, about. */
function* estimated(
  { table, snapshot }: EdgeReader,
  { filters }: Search,
  ways: readonly Way[],
  startTs: number,
  endTs: number,
): Generator<undefined, number, void> {
  let rows = 0;
  for (const [place, way] of ways.entries()) {
    rows += table.estimate(boundsOf(way, filters.where, startTs, endTs), snapshot).rows;
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
  // Newest first: the later ones are turned away without a look at the heap.
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

/** The share of the named nodes that an edge holds; every edge that is read holds one. */
function memberShare(rows: EdgeRows, row: number, nodes: readonly number[]): number {
  if (nodes.length < 2) return nodes.length;
  let held = 0;
  let at = rows.offsets[row]!;
  const end = rows.offsets[row + 1]!;
  // Both ascend.
  for (const node of nodes) {
    while (at < end && rows.members[at]! < node) at++;
    if (at < end && rows.members[at] === node) held++;
  }
  return held / nodes.length;
}

/** Looks for one more edge that matches, where nothing that was read was turned away. */
function* lookForMore(
  reader: EdgeReader,
  { least, greatest, nodes, filters, size, keywords, needsKeyword }: Search,
  best: BestEdges,
): Steps<void> {
  // Of so many rows one at least is not among those that are kept, when none is left out here.
  const limit = filters.looked.length === 0 && !needsKeyword ? size + 1 : undefined;
  for (const way of waysTo(nodes, 1, 0)) {
    for (const rows of reader.readKeys({ ...boundsOf(way, filters.where, least, greatest), limit })) {
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
