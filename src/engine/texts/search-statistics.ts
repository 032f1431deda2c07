// The statistics of a search over the live rows of a view, from which scores are computed.

import { encodeRanges, type ResidentSegment, type RowBitmap, type TextBlock } from '../../core/index.ts';
import { Statistics } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { SeenRows } from '../scan/memtable-search.ts';
import { deadOf, LOAD_US, type ScanSource, type ScanView } from '../scan/scan-view.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { SearchCondition, SearchStatistics } from '../types.ts';
import { countIn, liveRows, SEARCH_US } from './block-search.ts';
import { ROWS_A_STEP, WordReader } from './judge.ts';
import { ifMemory, piecesOf } from './memtable-words.ts';
import type { TextPiece } from './text-pieces.ts';
import { tagOf } from './text-tag.ts';
import { type SeenMarks, seenDocuments, seenMarks, seenRows } from './visible-rows.ts';

const NO_RANGES = encodeRanges([]);

/** Time between two pauses, in us. */
const SLICE_US = 3000;

/**
 * Returns the statistics of a search over all live rows of a view. Yields null between steps of a
 * few milliseconds. Throws `table_corrupt` or `overloaded`.
 */
export function* searchStatistics(
  source: ScanSource,
  view: ScanView,
  search: SearchCondition,
): Generator<null, SearchStatistics, void> {
  const statistics = new Statistics(search.parts);
  const reader = new WordReader(source.columns, search);
  let untilUs = source.nowUs() + SLICE_US;
  function* pause(): Generator<null, void, void> {
    if (source.nowUs() < untilUs) return;
    yield null;
    untilUs = source.nowUs() + SLICE_US;
  }
  function* add(records: Uint8Array): Generator<null, void, void> {
    for (const record of splitRecords(records)) {
      let document = reader.documentOf(record);
      while (document === undefined) {
        yield* pause();
        document = reader.documentOf(record);
      }
      statistics.add(document);
      yield* pause();
    }
  }
  const tag = tagOf(search);
  const words = wordsOf(statistics);
  for (const segment of view.version.segments) {
    while (source.residentBy(segment, source.nowUs() + LOAD_US) === undefined) yield null;
    const hasBlock = segment.facts.textTag === tag;
    if (hasBlock && words !== undefined && deadOf(view, segment).count === 0) {
      addWhole(source.resident(segment).text!, words, statistics);
      yield* pause();
      continue;
    }
    const isCounted = hasBlock && (yield* addCounted(source, view, segment, statistics, pause));
    if (!isCounted) yield* segmentRows(source, view, segment, add);
  }
  const { overlay } = view;
  const seen: SeenRows[] = view.version.memtables.map(({ memtable }) => ({
    memtable,
    lsn: view.lsn,
    hidden: overlay?.hidden(memtable),
  }));
  if (overlay?.memtable !== undefined) seen.push({ memtable: overlay.memtable, lsn: Infinity, hidden: undefined });
  for (const rows of seen) yield* memtableRows(source, view, rows, search, statistics, add);
  const { documents, averageLength } = statistics;
  return { rows: documents, averageLength, weights: statistics.idfs() };
}

/** Returns what is counted, if these are only words, which a block counts at once. */
function wordsOf({ keys }: Statistics): readonly string[] | undefined {
  return keys.some(({ isPrefix }) => isPrefix) ? undefined : keys.map(({ text }) => text);
}

/** Adds all rows of a text block. */
function addWhole(block: TextBlock, words: readonly string[], statistics: Statistics): void {
  const all = block.totals();
  statistics.addCounted(
    all.documents,
    all.words,
    words.map((text) => block.word(text).documents),
  );
}

/** Adds the rows of records, with pauses. */
type Add = (records: Uint8Array) => Generator<null, void, void>;

/**
 * Adds the live rows of a segment as its text block counts them. Returns false, and adds nothing,
 * if that takes too long.
 */
function* addCounted(
  source: ScanSource,
  view: ScanView,
  segment: SegmentFile,
  statistics: Statistics,
  pause: () => Generator<null, void, void>,
): Generator<null, boolean, void> {
  // Another request may take the memory of the segment during a pause, so each count begins anew.
  const withRows = <T>(count: (block: TextBlock, live: RowBitmap | undefined) => T): T => {
    const resident = source.resident(segment);
    const live = liveRows(resident, deadOf(view, segment), view.lsn);
    try {
      return count(resident.text!, live);
    } finally {
      live?.free();
    }
  };
  const { words, documents } = withRows((block, live) => block.totals(live));
  const counts: number[] = [];
  for (const { text, isPrefix } of statistics.keys) {
    yield* pause();
    const count = withRows((block, live) => countIn(block, text, isPrefix, live, source.nowUs));
    if (count === undefined) return false;
    counts.push(count);
  }
  statistics.addCounted(documents, words, counts);
  yield* pause();
  return true;
}

function* segmentRows(source: ScanSource, view: ScanView, segment: SegmentFile, add: Add): Generator<null, void, void> {
  const dead = deadOf(view, segment);
  const { rows } = segment.facts;
  for (let from = 0; from < rows; from += ROWS_A_STEP) {
    // Another request may have taken the memory of the segment during a pause.
    const resident: ResidentSegment = source.resident(segment);
    const some = Uint32Array.from({ length: Math.min(ROWS_A_STEP, rows - from) }, (_, place) => from + place);
    const live = resident.keptOf(some, NO_RANGES, dead, view.lsn);
    if (live.length > 0) yield* add(resident.recordsOf(live));
  }
}

/** Adds the rows that a reader sees of a memtable: by blocks, and one by one those without. */
function* memtableRows(
  source: ScanSource,
  view: ScanView,
  seen: SeenRows,
  search: SearchCondition,
  statistics: Statistics,
  add: Add,
): Generator<null, void, void> {
  const { memtable } = seen;
  const marks = yield* seenMarks(seen);
  const pieces = yield* piecesOf(source, view, memtable, search);
  for (let from = 0; from < marks.rows; ) {
    const piece = pieces?.at(from);
    // A block may have been replaced by one that begins with rows that were counted before.
    if (piece?.from === from && ifMemory(() => addPiece(piece, marks, statistics, source.nowUs)) === true) {
      from = piece.to;
      yield null;
      continue;
    }
    const to = Math.min(marks.rows, piece?.to ?? marks.rows);
    for (; from < to; from += ROWS_A_STEP) {
      const rows = seenRows(marks, from, Math.min(to, from + ROWS_A_STEP));
      if (rows.length > 0) yield* add(memtable.recordsOf(rows));
    }
    from = to;
  }
}

/** Adds the rows of a block. Returns false, and adds nothing, if that takes too long. */
function addPiece(piece: TextPiece, marks: SeenMarks, statistics: Statistics, nowUs: () => number): boolean {
  const { block } = piece;
  const untilUs = nowUs() + SEARCH_US;
  const live = seenDocuments(piece, marks);
  try {
    const counts: number[] = [];
    for (const { text, isPrefix } of statistics.keys) {
      const count = countIn(block, text, isPrefix, live, nowUs);
      if (count === undefined || nowUs() > untilUs) return false;
      counts.push(count);
    }
    const { words, documents } = block.totals(live);
    statistics.addCounted(documents, words, counts);
    return true;
  } finally {
    live?.free();
  }
}
