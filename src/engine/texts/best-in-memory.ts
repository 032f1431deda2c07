// Finds the rows of memtables that may be among the k best of a search, through their text blocks.

import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import { finishBy } from '../../schedule/steps.ts';
import type { SeenRows } from '../scan/memtable-search.ts';
import type { ScanSource, ScanView } from '../scan/scan-view.ts';
import type { MarkedRows, SearchCondition, SearchStatistics } from '../types.ts';
import { matchingRows, partsIn, SEARCH_US } from './block-search.ts';
import { ifMemory, joined, piecesOf } from './memtable-words.ts';
import type { TextPiece, TextPieces } from './text-pieces.ts';
import { type SeenMarks, seenDocuments, seenMarks } from './visible-rows.ts';

/** The k best scores that are known so far. */
export interface KnownScores {
  /** The k-th best score; -Infinity if there are fewer. */
  readonly least: number;
  /** Adds the first k of descending scores. */
  addFirst(scores: Float64Array): void;
}

export interface BestRequest {
  readonly search: SearchCondition;
  readonly bounds: StepBounds;
  /** Undefined if there are none. */
  readonly ranges: RangeSet | undefined;
  readonly statistics: SearchStatistics;
  readonly k: number;
}

/** The best rows of one block; `rows` are numbers of the memtable. */
interface FoundInPiece extends AskedRows {
  readonly piece: TextPiece;
}

/** What a block gave: its best rows, best first. */
export interface AskedRows {
  /** How many rows were asked for. */
  readonly asked: number;
  readonly rows: Uint32Array;
  readonly scores: Float64Array;
}

/** Returns how many rows are asked for if many may have the k-th best score. */
export function mostEqual(k: number): number {
  return 2 * k + 4096;
}

/** Returns whether a block may have more rows with the least score than it gave. */
export function isCut({ asked, rows, scores }: AskedRows, least: number): boolean {
  return rows.length === asked && scores[asked - 1] === least;
}

/** Returns how many rows have at least the least score. */
export function countOfBest({ rows, scores }: AskedRows, least: number): number {
  let n = 0;
  while (n < rows.length && scores[n]! >= least) n++;
  return n;
}

/** What was found in one memtable. */
export interface FoundInMemory {
  readonly memtable: CoreMemtable;
  readonly pieces: TextPieces;
  readonly marks: SeenMarks;
  readonly found: readonly FoundInPiece[];
  readonly unknown: MarkedRows['unknown'];
}

/**
 * Adds the scores of the best rows of each memtable to `best`, and returns these rows. Memtables
 * without blocks are left out. Yields null between blocks.
 */
export function* bestInMemory(
  source: ScanSource,
  view: ScanView,
  request: BestRequest,
  best: KnownScores,
): Generator<null, FoundInMemory[], void> {
  const all: FoundInMemory[] = [];
  for (const { memtable } of view.version.memtables) {
    const pieces = yield* piecesOf(source, view, memtable, request.search);
    if (pieces === undefined || pieces.covered === 0) continue;
    const hidden = view.overlay?.hidden(memtable);
    all.push(yield* bestOf(source, { memtable, lsn: view.lsn, hidden }, pieces, request, best));
  }
  return all;
}

function* bestOf(
  { nowUs }: ScanSource,
  seen: SeenRows,
  pieces: TextPieces,
  request: BestRequest,
  best: KnownScores,
): Generator<null, FoundInMemory, void> {
  const { memtable } = seen;
  const marks = yield* seenMarks(seen, request.bounds, request.ranges);
  const found: FoundInPiece[] = [];
  const unknown: { from: number; to: number }[] = [];
  for (let from = 0; from < marks.rows; ) {
    const piece = pieces.at(from);
    const to = Math.min(marks.rows, piece?.to ?? marks.rows);
    // A block may have been replaced by one that begins with rows that were searched before.
    const asked = request.k + 1;
    const inPiece =
      piece?.from === from ? ifMemory(() => bestInPiece(piece, marks, request, asked, best.least, nowUs)) : undefined;
    if (inPiece === undefined) unknown.push({ from, to });
    else {
      best.addFirst(inPiece.scores);
      found.push(inPiece);
    }
    from = to;
    yield null;
  }
  return { memtable, pieces, marks, found, unknown };
}

/**
 * Returns at most `asked` of the best rows of a block, with at least the score `threshold`. If
 * finding them takes too long, returns undefined.
 */
function bestInPiece(
  piece: TextPiece,
  marks: SeenMarks,
  { search, statistics }: BestRequest,
  asked: number,
  threshold: number,
  nowUs: () => number,
): FoundInPiece | undefined {
  const { block } = piece;
  const query = block.query(partsIn(block, search.parts));
  let allowed: ReturnType<typeof seenDocuments>;
  try {
    allowed = seenDocuments(piece, marks);
    const untilUs = nowUs() + SEARCH_US;
    if (finishBy(query.prepare(), nowUs, untilUs) === undefined) return undefined;
    query.weigh(statistics.weights, statistics.averageLength);
    const top = finishBy(
      query.top(asked, () => threshold, allowed),
      nowUs,
      untilUs,
    );
    if (top === undefined) return undefined;
    const { rows, scores } = top.value;
    return { piece, asked, rows: rows.map((row) => row + piece.from), scores };
  } finally {
    query.free();
    allowed?.free();
  }
}

/** Rows of a memtable that may be among the best. */
export interface MarkedBest extends MarkedRows {
  /** Whether the scores of all these rows are known. */
  readonly areScored: boolean;
}

/**
 * Returns the rows of a memtable that have at least the k-th best score of all, and adds their
 * scores to `known` by id. A block that may have more rows with exactly this score than it gave is
 * asked again for more; if these are still not all, it gives all that match, without scores. Yields
 * null after each block that was asked again.
 */
export function* markedBest(
  { memtable, pieces, marks, found, unknown }: FoundInMemory,
  request: BestRequest,
  least: number,
  nowUs: () => number,
  known: Map<number, number>,
): Generator<null, MarkedBest, void> {
  const lists: Uint32Array[] = [];
  const open = [...unknown];
  let areScored = unknown.length === 0;
  for (const first of found) {
    const { piece } = first;
    const isThere = () => pieces.at(piece.from) === piece;
    let top: FoundInPiece | undefined = first;
    if (isCut(first, least)) {
      const more = () => bestInPiece(piece, marks, request, mostEqual(request.k), least, nowUs);
      top = isThere() ? ifMemory(more) : undefined;
      yield null;
    }
    if (top !== undefined && !isCut(top, least)) {
      const n = countOfBest(top, least);
      for (let place = 0; place < n; place++) known.set(memtable.keyOf(top.rows[place]!).id, top.scores[place]!);
      lists.push(top.rows.slice(0, n).sort());
      continue;
    }
    areScored = false;
    const matching = isThere() ? ifMemory(() => matchingRows(piece, request.search.parts, nowUs)) : undefined;
    if (matching === undefined) open.push({ from: piece.from, to: piece.to });
    else lists.push(matching.map((row) => row + piece.from));
    yield null;
  }
  return { found: joined(lists), unknown: open.sort((a, b) => a.from - b.from), areScored };
}
