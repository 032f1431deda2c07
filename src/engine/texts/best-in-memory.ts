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
  add(score: number): void;
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
interface FoundInPiece {
  readonly piece: TextPiece;
  readonly rows: Uint32Array;
  readonly scores: Float64Array;
}

/** What was found in one memtable. */
export interface FoundInMemory {
  readonly memtable: CoreMemtable;
  readonly pieces: TextPieces;
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
    const inPiece = piece?.from === from ? ifMemory(() => bestInPiece(piece, marks, request, best, nowUs)) : undefined;
    if (inPiece === undefined) unknown.push({ from, to });
    else found.push(inPiece);
    from = to;
    yield null;
  }
  return { memtable, pieces, found, unknown };
}

/** Returns undefined if finding the best takes too long. */
function bestInPiece(
  piece: TextPiece,
  marks: SeenMarks,
  { search, statistics, k }: BestRequest,
  best: KnownScores,
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
      query.top(k, () => best.least, allowed),
      nowUs,
      untilUs,
    );
    if (top === undefined) return undefined;
    const { rows, scores } = top.value;
    for (const score of scores) best.add(score);
    return { piece, rows: rows.map((row) => row + piece.from), scores };
  } finally {
    query.free();
    allowed?.free();
  }
}

/**
 * Returns the rows of a memtable that have at least the k-th best score of all. A block that has
 * more rows with exactly this score than it gave gives all that match.
 */
export function markedBest(
  { pieces, found, unknown }: FoundInMemory,
  { search, k }: BestRequest,
  least: number,
  nowUs: () => number,
): MarkedRows {
  const lists: Uint32Array[] = [];
  const open = [...unknown];
  for (const { piece, rows, scores } of found) {
    if (rows.length < k || scores[k - 1] !== least) {
      lists.push(rows.filter((_, place) => scores[place]! >= least).sort());
      continue;
    }
    const isThere = pieces.at(piece.from) === piece;
    const matching = isThere ? ifMemory(() => matchingRows(piece, search.parts, nowUs)) : undefined;
    if (matching === undefined) open.push({ from: piece.from, to: piece.to });
    else lists.push(matching.map((row) => row + piece.from));
  }
  return { found: joined(lists), unknown: open.sort((a, b) => a.from - b.from) };
}
