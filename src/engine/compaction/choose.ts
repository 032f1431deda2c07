// Chooses which segments a compaction rewrites. The input consists of figures only and the result
// is a plain value, so tests can check the choice without files.
//
// Segments are disjoint and in key order. Every new row (from the memtables) falls into the range
// of exactly one segment: from that segment's first key up to the next segment's first key (the
// first range also includes all lower keys, the last all higher keys). A segment is rewritten if it
// has new rows, dead rows or expired rows, or if it lacks a sort order that an index needs.
// Otherwise its file is kept. The result is a list of stretches: ranges [from, to) of the list of
// segments, each of which is rewritten.
//
//   segments   A: 100 rows  |  B: 20 rows, 5 dead  |  C: 90 rows     (maxRows = 100)
//   new rows         0      |           0          |   30, all after C's last key
//   stretches              [B]: 15 rows             [after C]: 30 rows
//
// Two refinements keep the number of files low and writes cheap. (1) Rows that are inserted in time
// order all fall after the last key. If the last segment needs no other change and is more than
// half full (in rows or bytes), it is kept and only the new rows are written: as a stretch that
// contains no segment. (2) A stretch with a small result (under a quarter of `maxRows`) is extended
// by the segment to its left if both together have at most `maxRows` rows. Adjacent stretches are
// joined under the same condition.

import { assert } from '../../assert.ts';
import type { RowKey } from '../types.ts';

/** Figures of a segment that the choice depends on. */
export interface SegmentFigures {
  rows: number;
  /** File size in bytes. */
  bytes?: number;
  /** Number of rows that are dead at the compaction's LSN. */
  dead: number;
  /** Whether the segment lacks a sort order that one of the table's indexes needs. */
  stale: boolean;
  first: RowKey;
  last: RowKey;
}

export interface ChooseInput {
  segments: readonly SegmentFigures[];
  /**
   * Number of new rows per segment: those with keys from its first key (for the first segment, from
   * the lowest key) up to the next segment's first key.
   */
  newRows: readonly number[];
  /** How many of the last segment's new rows have keys above its last key. */
  newRowsBehind: number;
  /** Total number of new rows; used only if there is no segment. */
  totalNewRows: number;
  /** Rows with a smaller time expire (TTL). If it is -Infinity, no rows expire. */
  cutoffTs: number;
  maxRows: number;
  /**
   * Maximum total size in bytes of the records in a new segment. Its file is about as large, or
   * smaller.
   */
  maxBytes?: number;
}

/**
 * A run of neighbouring segments, possibly none, that is rewritten as new files: the input's
 * segments with indexes [from, to).
 */
export interface Stretch {
  from: number;
  to: number;
  /** Key range [lower, upper) of the new rows to merge in. An undefined bound is no limit. */
  lower: RowKey | undefined;
  upper: RowKey | undefined;
  /**
   * Whether to fill all files but the last one completely, which suits rows that arrive in time
   * order. If false, the last two files get equally many rows, where possible.
   */
  append: boolean;
}

/**
 * Returns the stretches to rewrite, in key order; all other segments are kept. How much is
 * rewritten depends on what changed, not on the size of the table.
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
 * Extends stretches with a small result by the segment to their left, and joins adjacent stretches;
 * each only if the result has at most `maxRows` rows.
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
