// The statistics of a search over the live rows of a view, from which scores are computed.

import {
  type CoreMemtable,
  encodeRanges,
  type ResidentSegment,
  type RowBitmap,
  type TextBlock,
  textsOf,
} from '../../core/index.ts';
import type { PropertyValue } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { analyzerOf, documentOf, Statistics } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import { deadOf, LOAD_US, type ScanSource, type ScanView } from '../scan/scan-view.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { SearchCondition, SearchStatistics } from '../types.ts';
import { countIn, liveRows } from './block-search.ts';
import { tagOf } from './text-tag.ts';

const NO_RANGES = encodeRanges([]);

/** The table whose rows are read. */
interface TextSource extends ScanSource {
  readonly columns: ColumnSet;
}

/** Rows that are copied at once. A text may have 64 KB. */
const ROWS_A_STEP = 32;
/** Time between two pauses, in us. */
const SLICE_US = 3000;

/**
 * Returns the statistics of a search over all live rows of a view. Yields null between steps of a
 * few milliseconds. Throws `table_corrupt` or `overloaded`.
 */
export function* searchStatistics(
  source: TextSource,
  view: ScanView,
  { columns, language, parts }: SearchCondition,
): Generator<null, SearchStatistics, void> {
  const statistics = new Statistics(parts);
  const analyzer = analyzerOf(language);
  const read = columns.map((id) => ({ id, missing: textOf(source.columns.withId(id)?.default) }));
  let untilUs = source.nowUs() + SLICE_US;
  function* pause(): Generator<null, void, void> {
    if (source.nowUs() < untilUs) return;
    yield null;
    untilUs = source.nowUs() + SLICE_US;
  }
  function* add(records: Uint8Array): Generator<null, void, void> {
    for (const record of splitRecords(records)) {
      statistics.add(documentOf(analyzer, textsOf(record, 0, read)));
      yield* pause();
    }
  }
  const tag = tagOf({ columns, language });
  for (const segment of view.version.segments) {
    while (source.residentBy(segment, source.nowUs() + LOAD_US) === undefined) yield null;
    const isCounted = segment.facts.textTag === tag && (yield* addCounted(source, view, segment, statistics, pause));
    if (!isCounted) yield* segmentRows(source, view, segment, add);
  }
  for (const { memtable } of view.version.memtables)
    yield* memtableRows(memtable, view.lsn, view.overlay?.hidden(memtable), add);
  if (view.overlay?.memtable !== undefined) yield* memtableRows(view.overlay.memtable, Infinity, undefined, add);
  const { documents, averageLength } = statistics;
  return { rows: documents, averageLength, weights: statistics.idfs() };
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

function textOf(value: PropertyValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
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

function* memtableRows(
  memtable: CoreMemtable,
  lsn: number,
  hidden: ReadonlySet<number> | undefined,
  add: Add,
): Generator<null, void, void> {
  let key = { eventTs: -Infinity, id: -Infinity };
  while (true) {
    // Positions shift as rows are inserted, keys do not.
    const from = memtable.seek(key.eventTs, key.id);
    const to = memtable.seek(Infinity, Infinity);
    if (from >= to) return;
    const { rows, next } = memtable.visibleRows(from, to, lsn, ROWS_A_STEP);
    const live = hidden === undefined || hidden.size === 0 ? rows : rows.filter((row) => !hidden.has(row));
    const records = live.length > 0 ? memtable.recordsOf(live) : undefined;
    // The next key before the pauses of `add`, which come after the records were copied.
    const nextKey = next < to ? memtable.keyAt(next) : undefined;
    if (records !== undefined) yield* add(records);
    if (nextKey === undefined) return;
    key = nextKey;
  }
}
