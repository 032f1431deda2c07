// Lists the rows of a memtable that match a search, for the cursor of a scan: the text blocks tell
// which rows may match, the memtable which of them are alive and where they are in key order, and
// rows that no block covers are judged from their texts.

import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import { Judge, ROWS_A_STEP } from '../texts/judge.ts';
import { joined, markedRows } from '../texts/memtable-words.ts';
import type { MarkedRows, RowKey, SearchCandidates, SearchCondition } from '../types.ts';
import { before, type ScanSource, type ScanView } from './scan-view.ts';

/** The rows that a reader sees of a memtable. */
export interface SeenRows {
  readonly memtable: CoreMemtable;
  readonly lsn: number;
  readonly hidden: ReadonlySet<number> | undefined;
}

/** Up to this many rows are looked up one by one; more, by reading the keys of all rows. */
const FEW_ROWS = 1024;
/** Up to this many rows that other conditions leave are judged without asking text blocks. */
const FEW_LISTED = 32;
const NO_ROWS = new Uint32Array(0);
const ALL: MarkedRows = { found: NO_ROWS, unknown: [{ from: 0, to: Infinity }] };
const FOUND = 1;
const UNKNOWN = 2;

/**
 * Returns the visible rows within the bounds that match the search and all ranges, in key order;
 * of `listed`, if it is given, which has visible rows within the bounds in key order. Stops after
 * `limit` + 1 rows. Yields null after steps of a few milliseconds at most. Throws `overloaded`.
 */
export function* searchMemtable(
  source: ScanSource,
  view: ScanView,
  seen: SeenRows,
  search: SearchCondition,
  bounds: StepBounds,
  ranges: RangeSet,
  limit: number,
  listed?: Uint32Array,
): Generator<null, Uint32Array, void> {
  const { memtable } = seen;
  // The bounds of a scan move with its rows.
  const within = { lowTs: bounds.lowTs, lowId: bounds.lowId, endTs: bounds.endTs };
  const candidates = search.candidates?.memtables;
  const isFew = candidates === undefined && listed !== undefined && listed.length <= FEW_LISTED;
  const marked = isFew ? ALL : (markedIn(memtable, candidates) ?? (yield* markedRows(source, view, memtable, search)));
  const marks = new Uint8Array(memtable.rows);
  for (const { from, to } of marked.unknown) marks.fill(UNKNOWN, from, to);
  for (const row of marked.found) marks[row] = FOUND;
  const rows = listed?.filter((row) => marks[row] !== 0) ?? (yield* liveRows(seen, marked, marks, within, ranges));
  if (marked.unknown.length === 0) return rows;
  return yield* judged(memtable, rows, marks, new Judge(source.columns, search), limit);
}

/** Returns the candidates of a memtable; undefined if all of its rows may be some. */
function markedIn(memtable: CoreMemtable, candidates: SearchCandidates['memtables']): MarkedRows | undefined {
  return candidates && { found: candidates.get(memtable) ?? NO_ROWS, unknown: [] };
}

type Within = Pick<StepBounds, 'lowTs' | 'lowId' | 'endTs'>;

/** Returns the marked rows that are visible, within the bounds and in all ranges, in key order. */
function* liveRows(
  seen: SeenRows,
  { found, unknown }: MarkedRows,
  marks: Uint8Array,
  within: Within,
  ranges: RangeSet,
): Generator<null, Uint32Array, void> {
  const { memtable, lsn, hidden } = seen;
  const count = unknown.reduce((sum, { from, to }) => sum + to - from, found.length);
  if (count <= FEW_ROWS) {
    const stretches = unknown.map(({ from, to }) =>
      Uint32Array.from({ length: to - from }, (_, place) => from + place),
    );
    const few = fewRows(seen, joined([found, ...stretches]), within);
    yield null;
    return memtable.filter(few, ranges);
  }
  const lists: Uint32Array[] = [];
  let low: RowKey = { eventTs: within.lowTs, id: within.lowId };
  for (;;) {
    // Positions shift as rows are inserted, keys do not.
    const to = memtable.seek(within.endTs, Infinity);
    const { rows, next } = memtable.visibleRows(memtable.seek(low.eventTs, low.id), to, lsn);
    lists.push(
      memtable.filter(
        rows.filter((row) => marks[row] !== 0 && hidden?.has(row) !== true),
        ranges,
      ),
    );
    if (next >= to) return joined(lists);
    low = memtable.keyAt(next);
    yield null;
  }
}

/** Returns those of some rows that are visible and within the bounds, in key order. */
function fewRows({ memtable, lsn, hidden }: SeenRows, rows: Uint32Array, within: Within): Uint32Array {
  const kept: { readonly row: number; readonly key: RowKey }[] = [];
  const low = { eventTs: within.lowTs, id: within.lowId };
  for (const row of rows) {
    const key = memtable.keyOf(row);
    if (key.eventTs > within.endTs || before(key, low) || hidden?.has(row) === true) continue;
    if (memtable.findAt(key.eventTs, key.id, lsn) === row) kept.push({ row, key });
  }
  kept.sort((a, b) => (before(a.key, b.key) ? -1 : 1));
  return Uint32Array.from(kept, ({ row }) => row);
}

/** Returns the rows without those that are unknown and do not match, up to the limit. */
function* judged(
  memtable: CoreMemtable,
  rows: Uint32Array,
  marks: Uint8Array,
  judge: Judge,
  limit: number,
): Generator<null, Uint32Array, void> {
  const lists: Uint32Array[] = [];
  let count = 0;
  const recordsOf = (list: Uint32Array) => memtable.recordsOf(list);
  for (let at = 0; at < rows.length && count <= limit; at += ROWS_A_STEP) {
    const some = rows.subarray(at, at + ROWS_A_STEP);
    for (let unknown = some.filter((row) => marks[row] === UNKNOWN); unknown.length > 0; ) {
      const { judged, kept } = judge.some(unknown, recordsOf);
      for (const row of kept) marks[row] = FOUND;
      unknown = unknown.subarray(judged);
      yield null;
    }
    const found = some.filter((row) => marks[row] === FOUND);
    lists.push(found);
    count += found.length;
  }
  return joined(lists);
}
