// Which rows of a memtable a reader sees, as sets of documents of its text blocks.

import { type CoreMemtable, encodeRanges, type RangeSet, RowBitmap, type StepBounds } from '../../core/index.ts';
import type { SeenRows } from '../scan/memtable-search.ts';
import type { TextPiece } from './text-pieces.ts';

/** Which of the first `rows` rows are seen. Later rows are not. */
export interface SeenMarks {
  readonly rows: number;
  /** By row: 1 if it is seen; undefined if all are. */
  readonly marks: Uint8Array | undefined;
}

const NO_RANGES = encodeRanges([]);

/**
 * Returns which rows are visible, within the bounds and in all ranges. Yields null after steps of a
 * few milliseconds at most.
 */
export function* seenMarks(
  { memtable, lsn, hidden }: SeenRows,
  { lowTs, endTs }: Pick<StepBounds, 'lowTs' | 'endTs'> = { lowTs: -Infinity, endTs: Infinity },
  ranges: RangeSet = NO_RANGES,
): Generator<null, SeenMarks, void> {
  const count = memtable.rows;
  const isWhole = lowTs === -Infinity && endTs === Infinity && ranges.ranges.length === 0 && (hidden?.size ?? 0) === 0;
  if (isWhole && memtable.deadRows === 0) return { rows: rowsUpTo(memtable, lsn), marks: undefined };
  const marks = new Uint8Array(count);
  let seen = 0;
  let low = { eventTs: lowTs, id: -Infinity };
  for (;;) {
    // Positions shift as rows are inserted, keys do not.
    const to = memtable.seek(endTs, Infinity);
    const { rows, next } = memtable.visibleRows(memtable.seek(low.eventTs, low.id), to, lsn);
    for (const row of ranges.ranges.length === 0 ? rows : memtable.filter(rows, ranges)) {
      if (hidden?.has(row) === true) continue;
      marks[row] = 1;
      seen++;
    }
    if (next >= to) return { rows: count, marks: seen === count ? undefined : marks };
    low = memtable.keyAt(next);
    yield null;
  }
}

/**
 * Returns how many rows of a memtable without dead rows a snapshot at `lsn` sees: the first ones,
 * since LSNs ascend from row to row.
 */
function rowsUpTo(memtable: CoreMemtable, lsn: number): number {
  memtable.sort();
  let low = 0;
  let high = memtable.rows;
  while (low < high) {
    // The last row first: nearly always all are seen.
    const middle = high === memtable.rows ? high - 1 : (low + high) >>> 1;
    const { eventTs, id } = memtable.keyOf(middle);
    if (memtable.findAt(eventTs, id, lsn) === middle) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the documents of a block whose rows are seen; undefined if all are. The caller frees it.
 * Throws `overloaded`.
 */
export function seenDocuments({ core, block, from, to }: TextPiece, seen: SeenMarks): RowBitmap | undefined {
  if (seen.marks === undefined && to <= seen.rows) return undefined;
  const rows = seenRows(seen, from, to).map((row) => row - from);
  if (rows.length === to - from) return undefined;
  const documents = new RowBitmap(core, block.documents);
  try {
    documents.setRows(rows);
    return documents;
  } catch (error) {
    documents.free();
    throw error;
  }
}

/** Returns the rows of a stretch [from, to) that are seen. */
export function seenRows({ rows, marks }: SeenMarks, from: number, to: number): Uint32Array {
  const end = Math.min(rows, to);
  const list = new Uint32Array(Math.max(0, end - from));
  let count = 0;
  for (let row = from; row < end; row++) if (marks === undefined || marks[row] === 1) list[count++] = row;
  return list.subarray(0, count);
}
