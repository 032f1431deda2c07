// Finds the rows that may be among the k best of a search, through the text blocks that have them,
// so that the others are neither read nor scored.
//
// Each segment gives its own k + 1 best, and skips what cannot reach the k-th best score of the
// segments before it; so do the blocks over rows of memtables, whose other rows are scored one by
// one. The rows with at least the k-th best score of all are the candidates: k of them, and those
// with the same score as the last. Their scores are given with them.
//
// If the last row that a segment gave has exactly that score, others may have it too, so the
// segment is asked again for more rows. If these are not all of them, the candidates are not
// complete, and there are none. Example: 5,000 equal texts.

import { encodeRanges, type RangeSet, RowBitmap, type StepBounds, type TextBest } from '../../core/index.ts';
import { finishBy } from '../../schedule/steps.ts';
import { checkScanRequest } from '../scan/scan-request.ts';
import {
  boundsOf,
  chooseSegments,
  deadOf,
  LOAD_US,
  rowsInMemory,
  type ScanSource,
  type ScanView,
} from '../scan/scan-view.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { findMatches } from '../table/segment-matches.ts';
import type { Table } from '../table/table.ts';
import type { ScanBounds, SearchCandidates, SearchCondition, SearchStatistics } from '../types.ts';
import { type AskedRows, BestInMemory, countOfBest, isCut, mostEqual } from './best-in-memory.ts';
import { partsIn, SEARCH_US } from './block-search.ts';
import { tagOf } from './text-tag.ts';

/** Scores that are kept by id, at most some 4 MB; more have the same score as the k-th best. */
const MOST_KNOWN = 65_536;

interface Found extends AskedRows {
  readonly segment: SegmentFile;
}

/** What is searched in each segment. */
interface BestSearch {
  readonly source: ScanSource;
  readonly view: ScanView;
  readonly search: SearchCondition;
  readonly statistics: SearchStatistics;
  readonly nodes: readonly number[];
  readonly ranges: RangeSet | undefined;
  readonly bounds: StepBounds;
  readonly mostUs: number;
}

/**
 * Returns the rows that may be among the k best of those within the bounds, or
 * undefined if all that match must be read, or if finding them takes longer than `mostUs` in one
 * segment. Yields null between segments. Throws `table_corrupt` or `overloaded`.
 */
export function* bestRows(
  table: Table,
  view: ScanView,
  request: ScanBounds & { readonly search: SearchCondition },
  statistics: SearchStatistics,
  k: number,
  mostUs = SEARCH_US,
): Generator<null, SearchCandidates | undefined, void> {
  if (statistics.averageLength === 0) return undefined;
  const source: ScanSource = table;
  const { search, nodes = [], ...others } = request;
  const plain = nodes.length === 0 ? others : { ...others, nodes };
  const ranges = checkScanRequest(plain, table, undefined);
  const bounds = boundsOf(request);
  const run: BestSearch = { source, view, search, statistics, nodes, ranges, bounds, mostUs };
  const tag = tagOf(search);
  const found: Found[] = [];
  const best = new BestScores(k);
  for (const segment of chooseSegments(source, view.version, nodes, ranges, bounds)) {
    if (segment.facts.textTag !== tag) return undefined;
    const top = yield* bestOf(run, segment, k + 1, best.least);
    table.context.residency.measure(segment);
    if (top === undefined) return undefined;
    best.addFirst(top.scores);
    found.push(top);
  }
  const inBounds = { search, bounds, ranges, statistics, k };
  // The rows of nodes in memtables are few, and read as they are.
  const isRead = nodes.length > 0 && rowsInMemory(view) > 0;
  const inMemory = isRead ? undefined : new BestInMemory(source, view, inBounds);
  if (inMemory !== undefined) yield* inMemory.find(best);
  const { least } = best;
  const candidates = new Map<SegmentFile, Uint32Array>();
  const known = new Map<number, number>();
  for (const first of found) {
    let top: Found | undefined = first;
    if (isCut(first, least)) top = yield* bestOf(run, first.segment, mostEqual(k), least);
    if (top === undefined || isCut(top, least)) return undefined;
    const n = countOfBest(top, least);
    if (n === 0) continue;
    while (source.residentBy(first.segment, source.nowUs() + LOAD_US) === undefined) yield null;
    const resident = source.resident(first.segment);
    for (let place = 0; place < n; place++) known.set(resident.keyOf(top.rows[place]!).id, top.scores[place]!);
    candidates.set(first.segment, top.rows.slice(0, n).sort());
    if (known.size > MOST_KNOWN) return undefined;
  }
  const memtables = inMemory && (yield* inMemory.rows(best, known));
  if (known.size > MOST_KNOWN) return undefined;
  return { segments: candidates, memtables, scores: memtables && known };
}

/**
 * Returns the best rows of a segment: at most `asked`, with at least the score `threshold`. If
 * finding them takes too long, returns undefined. Yields null while the segment is loaded, and
 * after the search.
 */
function* bestOf(
  { source, view, search, statistics, nodes, ranges, bounds, mostUs }: BestSearch,
  segment: SegmentFile,
  asked: number,
  threshold: number,
): Generator<null, Found | undefined, void> {
  while (source.residentBy(segment, source.nowUs() + LOAD_US) === undefined) yield null;
  const resident = source.resident(segment);
  const block = resident.text!;
  const dead = deadOf(view, segment);
  const isWhole = ranges === undefined && nodes.length === 0 && dead.count === 0 && isInside(segment, bounds);
  const query = block.query(partsIn(block, search.parts));
  let allowed: RowBitmap | undefined;
  let top: { readonly value: TextBest } | undefined;
  try {
    if (!isWhole) {
      allowed = new RowBitmap(resident.core, block.documents);
      const all = { nodes, ranges: ranges ?? NO_RANGES, source, request: {} };
      allowed.setRows(findMatches(segment, resident, view, bounds, all).rows);
    }
    const untilUs = source.nowUs() + mostUs;
    if (finishBy(query.prepare(), source.nowUs, untilUs) === undefined) return undefined;
    query.weigh(statistics.weights, statistics.averageLength);
    top = finishBy(
      query.top(asked, () => threshold, allowed),
      source.nowUs,
      untilUs,
    );
  } finally {
    query.free();
    allowed?.free();
  }
  yield null;
  return top && { segment, asked, ...top.value };
}

const NO_RANGES = encodeRanges([]);

function isInside(
  { facts }: SegmentFile,
  { lowTs, endTs }: { readonly lowTs: number; readonly endTs: number },
): boolean {
  return facts.timeMin >= lowTs && facts.timeMax <= endTs;
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

  /** Adds the first k of descending scores. */
  addFirst(scores: Float64Array): void {
    const n = Math.min(this.#k, scores.length);
    for (let place = 0; place < n && scores[place]! > this.least; place++) this.#add(scores[place]!);
  }

  #add(score: number): void {
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
