// Chooses what a compaction rewrites, from figures alone, so that tests can check the plan as a
// plain value.
//
// Segments are disjoint and in key order, and every new row (from the memtables) falls into the key
// range of exactly one segment: from its first key up to the next segment's first key. A segment is
// rewritten if it has new rows, dead rows, expired rows, or lacks an order that an index needs.
// Otherwise its file is kept. A rewritten segment is a stretch [from, to) of the list of segments.
//
//   segments   A: 100 rows  |  B: 20 rows, 5 dead  |  C: 90 rows     (maxRows = 100)
//   new rows         0      |           0          |   30, all after C's last key
//   stretches              [B]: 15 rows             [after C]: 30 rows
//
// Two refinements keep the number of files low and writes cheap. Rows that come in time order all
// fall after the last key: if the last segment is intact and more than half full, it is kept and
// only the new rows are written. A stretch with a small result (under a quarter of `maxRows`) takes
// in its left neighbour if both fit into one file, and stretches that touch are joined if they fit.

import { assert } from '../../assert.ts';
import type { RowKey } from '../types.ts';

/** Figures of a segment that the choice depends on. */
export interface SegmentFigures {
  rows: number;
  /** File size in bytes. */
  bytes?: number;
  /** Rows that are dead at the compaction's LSN. */
  dead: number;
  /** Lacks an order that one of the table's indexes needs. */
  stale: boolean;
  first: RowKey;
  last: RowKey;
}

export interface ChooseInput {
  segments: readonly SegmentFigures[];
  /**
   * New rows per segment: keys from its first key (for the first segment: from the start) up to the
   * next segment's first key.
   */
  newRows: readonly number[];
  /** Of the last segment's new rows: how many come after its last key. */
  newRowsBehind: number;
  /** Number of new rows; used if there is no segment. */
  totalNewRows: number;
  /** Rows with a smaller time expire (TTL); -Infinity: none. */
  cutoffTs: number;
  maxRows: number;
  /** Maximum bytes of records in a new segment; its file is about as large, or smaller. */
  maxBytes?: number;
}

/**
 * A run of neighbouring segments that becomes new files. `from` and `to` index the input's
 * segments: [from, to).
 */
export interface Stretch {
  from: number;
  to: number;
  /** Key range [lower, upper) of the new rows to merge in; undefined: unbounded. */
  lower: RowKey | undefined;
  upper: RowKey | undefined;
  /**
   * Fill files completely, with the remainder in the last one: for rows that arrive in time order.
   * Otherwise split into equal parts.
   */
  append: boolean;
}

/**
 * The stretches to rewrite, in key order; all other segments are kept. The cost depends on what
 * changed, not on the size of the table.
 */
export function chooseStretches(input: ChooseInput): Stretch[] {
  const { segments, newRows, maxRows } = input;
  assert(newRows.length === segments.length, 'each segment has a count of new rows');
  if (segments.length === 0) {
    return input.totalNewRows > 0 ? [{ from: 0, to: 0, lower: undefined, upper: undefined, append: true }] : [];
  }
  const stretches: Stretch[] = [];
  const last = segments.length - 1;
  for (let place = 0; place <= last; place++) {
    const segment = segments[place]!;
    const expired = segment.first.eventTs < input.cutoffTs;
    const isWhole = segment.dead === 0 && !segment.stale && !expired;
    if (newRows[place] === 0 && isWhole) continue;
    const onlyBehind = place === last && newRows[place] === input.newRowsBehind && isWhole;
    const isHalfFull = segment.rows > maxRows / 2 || (segment.bytes ?? 0) > (input.maxBytes ?? Infinity) / 2;
    if (onlyBehind && isHalfFull) {
      stretches.push({ from: place + 1, to: place + 1, lower: after(segment.last), upper: undefined, append: true });
      continue;
    }
    stretches.push({
      from: place,
      to: place + 1,
      lower: place === 0 ? undefined : segment.first,
      upper: place === last ? undefined : segments[place + 1]!.first,
      append: place === last,
    });
  }
  const chosen = joinSmall(stretches, input);
  for (const [index, { from, to }] of chosen.entries()) {
    assert(from <= to && to <= segments.length, 'a stretch is one of segments that are there');
    assert(index === 0 || chosen[index - 1]!.to <= from, 'stretches are in key order and disjoint');
  }
  return chosen;
}

function after(key: RowKey): RowKey {
  return { eventTs: key.eventTs, id: key.id + 1 };
}

/**
 * Extends a stretch with a small result by a small left neighbour, and joins stretches that touch
 * if the result fits into one file.
 */
function joinSmall(stretches: Stretch[], input: ChooseInput): Stretch[] {
  const joined: Stretch[] = [];
  for (const stretch of stretches) {
    const before = joined[joined.length - 1];
    if (
      before !== undefined &&
      before.to === stretch.from &&
      before.from < before.to &&
      rowsOf(before, input) + rowsOf(stretch, input) <= input.maxRows
    ) {
      before.to = stretch.to;
      before.upper = stretch.upper;
      before.append = stretch.append;
      continue;
    }
    const grown = { ...stretch };
    if (grown.from < grown.to && rowsOf(grown, input) < input.maxRows / 4) {
      const place = grown.from - 1;
      const taken = before !== undefined && before.to > place;
      if (place >= 0 && !taken && input.segments[place]!.rows + rowsOf(grown, input) <= input.maxRows) {
        grown.from = place;
        grown.lower = place === 0 ? undefined : input.segments[place]!.first;
      }
    }
    joined.push(grown);
  }
  return joined;
}

function rowsOf(stretch: Stretch, input: ChooseInput): number {
  let rows = 0;
  for (let place = stretch.from; place < stretch.to; place++) {
    rows += input.segments[place]!.rows - input.segments[place]!.dead + input.newRows[place]!;
  }
  return rows;
}
