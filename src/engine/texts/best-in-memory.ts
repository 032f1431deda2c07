// Finds the rows of memtables that may be among the k best of a search: through their text blocks,
// and from the texts of rows that no block covers, or whose block takes too long.

import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import { finishBy } from '../../schedule/steps.ts';
import type { SeenRows } from '../scan/memtable-search.ts';
import type { ScanSource, ScanView } from '../scan/scan-view.ts';
import type { SearchCondition, SearchStatistics } from '../types.ts';
import { partsIn, SEARCH_US } from './block-search.ts';
import { Judge } from './judge.ts';
import { ifMemory, joined, piecesOf } from './memtable-words.ts';
import type { TextPiece, TextPieces } from './text-pieces.ts';
import { type SeenMarks, seenDocuments, seenMarks, seenRows } from './visible-rows.ts';

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
interface FoundInMemory {
  readonly seen: SeenRows;
  readonly pieces: TextPieces | undefined;
  readonly marks: SeenMarks;
  readonly inPieces: readonly FoundInPiece[];
  /** From the texts of rows. */
  readonly judged: ScoredRows[];
}

/** Rows of a memtable with their scores. */
interface ScoredRows {
  readonly rows: Uint32Array;
  readonly scores: Float64Array;
}

/** The rows of memtables that a search may find. */
export class BestInMemory {
  readonly #source: ScanSource;
  readonly #view: ScanView;
  readonly #request: BestRequest;
  readonly #judge: Judge;
  readonly #found: FoundInMemory[] = [];

  constructor(source: ScanSource, view: ScanView, request: BestRequest) {
    this.#source = source;
    this.#view = view;
    this.#request = request;
    this.#judge = new Judge(source.columns, request.search, request.statistics);
  }

  /**
   * Finds the best rows of each memtable, and adds their scores to `best`. Yields null after steps
   * of a few milliseconds. Throws `overloaded`.
   */
  *find(best: KnownScores): Generator<null, void, void> {
    const { version, lsn, overlay } = this.#view;
    for (const { memtable } of version.memtables)
      if (memtable.rows > 0) yield* this.#findIn({ memtable, lsn, hidden: overlay?.hidden(memtable) }, best);
    const own = overlay?.memtable;
    if (own !== undefined && own.rows > 0)
      yield* this.#findIn({ memtable: own, lsn: Infinity, hidden: undefined }, best);
  }

  *#findIn(seen: SeenRows, best: KnownScores): Generator<null, void, void> {
    const { search, bounds, ranges, k } = this.#request;
    const pieces = yield* piecesOf(this.#source, this.#view, seen.memtable, search);
    const marks = yield* seenMarks(seen, bounds, ranges);
    const inPieces: FoundInPiece[] = [];
    const judged: ScoredRows[] = [];
    for (let from = 0; from < marks.rows; ) {
      const piece = pieces?.at(from);
      const to = Math.min(marks.rows, piece?.to ?? marks.rows);
      // A block may have been replaced by one that begins with rows that were searched before.
      const inPiece = piece?.from === from ? this.#askPiece(piece, marks, k + 1, best.least) : undefined;
      if (inPiece !== undefined) {
        best.addFirst(inPiece.scores);
        inPieces.push(inPiece);
        yield null;
      } else yield* this.#judgeRows(seen, marks, from, to, best, judged);
      from = to;
    }
    this.#found.push({ seen, pieces, marks, inPieces, judged });
  }

  /** Scores rows [from, to) from their texts; adds those to `into` that may be among the best. */
  *#judgeRows(
    { memtable }: SeenRows,
    marks: SeenMarks,
    from: number,
    to: number,
    best: KnownScores,
    into: ScoredRows[],
  ): Generator<null, void, void> {
    const recordsOf = (rows: Uint32Array) => memtable.recordsOf(rows);
    for (let rows = seenRows(marks, from, to); rows.length > 0; ) {
      const { judged, kept, scores } = this.#judge.some(rows, recordsOf);
      rows = rows.subarray(judged);
      const scored = atLeast({ rows: kept, scores }, best.least);
      if (scored.rows.length > 0) into.push(scored);
      best.addFirst(scored.scores.toSorted((a, b) => b - a));
      yield null;
    }
  }

  /**
   * Returns the rows of each memtable that have at least the k-th best score of all, ascending, and
   * adds their scores to `known` by id. A block that may have more rows with exactly this score
   * than it gave is asked again for more; if there are still more, its rows are read. Yields null
   * after steps of a few milliseconds. Throws `overloaded`.
   */
  *rows(best: KnownScores, known: Map<number, number>): Generator<null, Map<CoreMemtable, Uint32Array>, void> {
    const { k } = this.#request;
    const { least } = best;
    const all = new Map<CoreMemtable, Uint32Array>();
    for (const { seen, pieces, marks, inPieces, judged } of this.#found) {
      const lists: ScoredRows[] = judged.map((scored) => atLeast(scored, least));
      for (const first of inPieces) {
        const { piece } = first;
        let top: FoundInPiece | undefined = first;
        if (isCut(first, least)) {
          const isThere = pieces?.at(piece.from) === piece;
          top = isThere ? this.#askPiece(piece, marks, mostEqual(k), least) : undefined;
          yield null;
        }
        if (top === undefined || isCut(top, least)) {
          // Scores of these rows were added before, and are not added again.
          yield* this.#judgeRows(seen, marks, piece.from, piece.to, { least, addFirst() {} }, lists);
        } else lists.push(atLeast(top, least));
      }
      for (const { rows, scores } of lists)
        for (const [place, row] of rows.entries()) known.set(seen.memtable.keyOf(row).id, scores[place]!);
      all.set(seen.memtable, joined(lists.map(({ rows }) => rows)).sort());
    }
    return all;
  }

  /**
   * Returns at most `asked` of the best rows of a block, with at least the score `threshold`. If
   * finding them takes too long, or there is no memory for it, returns undefined.
   */
  #askPiece(piece: TextPiece, marks: SeenMarks, asked: number, threshold: number): FoundInPiece | undefined {
    return ifMemory(() => bestInPiece(piece, marks, this.#request, asked, threshold, this.#source.nowUs));
  }
}

/** Returns the rows with at least a score. */
function atLeast({ rows, scores }: ScoredRows, least: number): ScoredRows {
  return {
    rows: rows.filter((_, place) => scores[place]! >= least),
    scores: scores.filter((score) => score >= least),
  };
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
