// Finds the rows that may be among the k best of a search, through the text blocks that have them,
// so that the others are neither read nor scored.
//
// Each segment gives its own k best, and skips what cannot reach the k-th best score of the
// segments before it; so do the blocks over rows of memtables. The rows with at least the k-th best
// score of all are the candidates. They are scored again when they are read, with the rows that no
// block covers. If a segment has more rows with
// exactly that score than it gave, the candidates are not complete, and there are none.

import { encodeRanges, RowBitmap } from '../../core/index.ts';
import { finishBy } from '../../schedule/steps.ts';
import { checkScanRequest } from '../scan/scan-request.ts';
import { boundsOf, chooseSegments, deadOf, LOAD_US, type ScanSource, type ScanView } from '../scan/scan-view.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { findMatches } from '../table/segment-matches.ts';
import type { Table } from '../table/table.ts';
import type { ScanBounds, SearchCandidates, SearchCondition, SearchStatistics } from '../types.ts';
import { bestInMemory, markedBest } from './best-in-memory.ts';
import { partsIn, SEARCH_US } from './block-search.ts';
import { tagOf } from './text-tag.ts';

interface Found {
  readonly segment: SegmentFile;
  readonly rows: Uint32Array;
  readonly scores: Float64Array;
}

/**
 * Returns the rows that may be among the k best of those within the bounds, or
 * undefined if all that match must be read, or if finding them takes too long. Yields null between
 * segments. Throws `table_corrupt`
 * or `overloaded`.
 */
export function* bestRows(
  table: Table,
  view: ScanView,
  request: ScanBounds & { readonly search: SearchCondition },
  statistics: SearchStatistics,
  k: number,
): Generator<null, SearchCandidates | undefined, void> {
  const { weights, averageLength } = statistics;
  if (averageLength === 0) return undefined;
  const source: ScanSource = table;
  const { search, nodes = [], ...others } = request;
  const plain = nodes.length === 0 ? others : { ...others, nodes };
  const ranges = checkScanRequest(plain, table, undefined);
  const bounds = boundsOf(request);
  const tag = tagOf(search);
  const found: Found[] = [];
  const best = new BestScores(k);
  for (const segment of chooseSegments(source, view.version, nodes, ranges, bounds)) {
    if (segment.facts.textTag !== tag) return undefined;
    while (source.residentBy(segment, source.nowUs() + LOAD_US) === undefined) yield null;
    const resident = source.resident(segment);
    const block = resident.text!;
    const dead = deadOf(view, segment);
    const isWhole = ranges === undefined && nodes.length === 0 && dead.count === 0 && isInside(segment, bounds);
    const query = block.query(partsIn(block, search.parts));
    let allowed: RowBitmap | undefined;
    try {
      if (!isWhole) allowed = new RowBitmap(resident.core, block.documents);
      if (allowed !== undefined) {
        const all = { nodes, ranges: ranges ?? NO_RANGES, source, request: {} };
        allowed.setRows(findMatches(segment, resident, view, bounds, all).rows);
      }
      const untilUs = source.nowUs() + SEARCH_US;
      if (finishBy(query.prepare(), source.nowUs, untilUs) === undefined) return undefined;
      query.weigh(weights, averageLength);
      const top = finishBy(
        query.top(k, () => best.least, allowed),
        source.nowUs,
        untilUs,
      );
      if (top === undefined) return undefined;
      const { rows, scores } = top.value;
      for (const score of scores) best.add(score);
      found.push({ segment, rows, scores });
    } finally {
      query.free();
      allowed?.free();
    }
    yield null;
  }
  const inBounds = { search, bounds, ranges, statistics, k };
  // The rows of nodes in memtables are few, and read as they are.
  const inMemory = nodes.length > 0 ? [] : yield* bestInMemory(source, view, inBounds, best);
  const segments = candidatesOf(found, best.least, k);
  if (segments === undefined) return undefined;
  const marked = inMemory.map((one) => [one.memtable, markedBest(one, inBounds, best.least, source.nowUs)] as const);
  return { segments, memtables: new Map(marked) };
}

const NO_RANGES = encodeRanges([]);

function isInside(
  { facts }: SegmentFile,
  { lowTs, endTs }: { readonly lowTs: number; readonly endTs: number },
): boolean {
  return facts.timeMin >= lowTs && facts.timeMax <= endTs;
}

function candidatesOf(found: readonly Found[], least: number, k: number): SearchCandidates['segments'] | undefined {
  const candidates = new Map<SegmentFile, Uint32Array>();
  for (const { segment, rows, scores } of found) {
    if (rows.length === k && scores[k - 1] === least) return undefined;
    candidates.set(segment, rows.filter((_, place) => scores[place]! >= least).sort());
  }
  return candidates;
}

/** The k best scores so far, descending. */
class BestScores {
  readonly #k: number;
  readonly #scores: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  /** The k-th best score; -Infinity if there are fewer. */
  get least(): number {
    return this.#scores.length < this.#k ? Number.NEGATIVE_INFINITY : this.#scores[this.#k - 1]!;
  }

  add(score: number): void {
    if (score <= this.least) return;
    let low = 0;
    let high = this.#scores.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#scores[middle]! >= score) low = middle + 1;
      else high = middle;
    }
    this.#scores.splice(low, 0, score);
    if (this.#scores.length > this.#k) this.#scores.pop();
  }
}
