// What a compaction rewrites: chosen from figures alone, a plain value that tests can look at.

import { assert } from '../../assert.ts';
import type { RowKey } from '../types.ts';

/** A segment as the choice sees it. */
export interface SegmentFigures {
  rows: number;
  /** Of the file. */
  bytes?: number;
  /** Rows that are dead at the compaction's LSN. */
  dead: number;
  /** It lacks an order that the table's indexes ask for. */
  stale: boolean;
  first: RowKey;
  last: RowKey;
}

export interface ChooseInput {
  segments: readonly SegmentFigures[];
  /** Per segment: new rows with a key from its first key (the first segment: from the start) to the next segment's first key. */
  newRows: readonly number[];
  /** Of the last segment's new rows: how many lie behind its last key. */
  newRowsBehind: number;
  /** New rows when there is no segment. */
  totalNewRows: number;
  /** Rows with a smaller time go (TTL); -Infinity: none. */
  cutoffTs: number;
  maxRows: number;
  /** Bytes of the records of a new segment, at most; a file has about as many, or fewer. */
  maxBytes?: number;
}

/** A stretch of neighbouring segments that becomes new files. Segments are places in the input; [from, to). */
export interface Stretch {
  from: number;
  to: number;
  /** New rows in [lower, upper) go in; undefined: no bound. */
  lower: RowKey | undefined;
  upper: RowKey | undefined;
  /** Cut full files first, the rest last: for rows that come in time order. Otherwise in equal parts. */
  append: boolean;
}

/** The stretches to rewrite, in key order. Segments outside them stay as they are. Cost follows what changed, not the table. */
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

/** Draws a small neighbour into a stretch whose outcome is small, and joins stretches that touch when both fit in one file. */
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
