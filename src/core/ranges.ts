// Ranges of numeric columns and of ids, and conditions on roles and texts, encoded for the core
// (assembly/README.md). They define which rows a filter keeps.

import type { SegmentFacts } from './segment-facts.ts';

/** The column of a range of ids (HG_RANGE_ID). */
export const ID_RANGE = 0xffffffff;
/** The column of a condition that a node has a role (HG_RANGE_ROLE). */
export const ROLE_RANGE = 0xfffffffe;

/**
 * Selects the rows whose value in a numeric column is between two bounds. A null is in no range
 * unless `nullIsIn` is true.
 */
export interface NumericRange {
  /** The id of a column, ID_RANGE or ROLE_RANGE. */
  column: number;
  /** Lower bound; -Infinity if there is none. Never NaN. */
  low: number;
  high: number;
  /** Whether the lower bound itself is excluded. */
  lowOpen: boolean;
  highOpen: boolean;
  /** Value for rows that do not have the column; NaN means null. */
  missing: number;
  /**
   * Whether a null is in the range, as it is above every lower bound in a column of ends, where it
   * means infinity. Then `high` is Infinity and `lowOpen` is true.
   */
  nullIsIn?: true;
  /**
   * UTF-8 of a text: the condition is that the value of a text column is this text. Then the bounds
   * are 0, and `missing` is 1 if rows that do not have the column match, otherwise 0.
   */
  text?: Uint8Array;
}

/**
 * Ranges, encoded for the core. A row matches if it is in all of them. The ranges are uploaded once
 * per instance, so do not change them: an upload is recognised by the identity of this object.
 */
export interface RangeSet {
  readonly ranges: readonly NumericRange[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const RANGE_BYTES = 32;
const LOW_OPEN = 1;
const HIGH_OPEN = 2;
const NULL_IN = 8;
const TEXT = 16;

/** Returns the range of ends above a time: those of the intervals that go on after it. */
export function endsAfter(column: number, time: number): NumericRange {
  return {
    column,
    low: time,
    high: Number.POSITIVE_INFINITY,
    lowOpen: true,
    highOpen: false,
    missing: Number.NaN,
    nullIsIn: true,
  };
}

/** Returns the core's flags for a range: open bounds, whether nulls are in it, and a text. */
export function rangeFlags({ lowOpen, highOpen, nullIsIn, text }: NumericRange): number {
  if (text !== undefined) return TEXT;
  return (lowOpen ? LOW_OPEN : 0) | (highOpen ? HIGH_OPEN : 0) | (nullIsIn ? NULL_IN : 0);
}

/** Encodes ranges, followed by the texts of those that have one. */
export function encodeRanges(ranges: readonly NumericRange[]): RangeSet {
  let end = ranges.length * RANGE_BYTES;
  let length = end;
  for (const { text } of ranges) if (text !== undefined) length += text.length;
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  for (const [index, range] of ranges.entries()) {
    const at = index * RANGE_BYTES;
    const { text } = range;
    view.setFloat64(at, text === undefined ? range.low : end - at, true);
    view.setFloat64(at + 8, text === undefined ? range.high : text.length, true);
    view.setFloat64(at + 16, range.missing, true);
    view.setUint32(at + 24, range.column, true);
    view.setUint32(at + 28, rangeFlags(range), true);
    if (text === undefined) continue;
    bytes.set(text, end);
    end += text.length;
  }
  return { ranges, bytes };
}

/**
 * Returns the condition that a node is a member and has a role of `mask`. The lookup of a request
 * with this condition must have the node among its nodes.
 */
export function roleRange(node: number, mask: number): NumericRange {
  return { column: ROLE_RANGE, low: node, high: node, lowOpen: false, highOpen: false, missing: mask };
}

const encoder = new TextEncoder();

/**
 * Returns the condition that a text column contains `text`, which must be well-formed. `missing` is
 * the value of rows that do not have the column.
 */
export function textRange(column: number, text: string, missing: unknown): NumericRange {
  return {
    column,
    low: 0,
    high: 0,
    lowOpen: false,
    highOpen: false,
    missing: missing === text ? 1 : 0,
    text: encoder.encode(text),
  };
}

/** Returns whether no value can be in the range. */
export function isEmptyRange({ low, high, lowOpen, highOpen }: NumericRange): boolean {
  return low > high || (low === high && (lowOpen || highOpen));
}

/**
 * Returns whether a segment may contain rows that are in all ranges. If the segment does not have a
 * column, every row has the column's default, or null.
 */
export function mayHold(facts: SegmentFacts, { ranges }: RangeSet): boolean {
  return ranges.every((range) => {
    if (range.column === ID_RANGE) return idShare(facts, range) > 0;
    if (range.column === ROLE_RANGE) return facts.hasRoles;
    const column = facts.columns.find(({ id }) => id === range.column);
    if (range.nullIsIn) {
      const { interval } = facts;
      return interval === undefined || interval.column !== range.column || interval.greatestEnd > range.low;
    }
    if (column !== undefined) return !column.allNull;
    return range.text === undefined ? holds(range, range.missing) : range.missing === 1;
  });
}

/**
 * Returns the share of the ids between a segment's least and greatest that are in a range of ids, 0
 * to 1. It is 0 only if no row of the segment is in the range.
 */
export function idShare({ idMin, idMax }: SegmentFacts, { low, high, lowOpen, highOpen }: NumericRange): number {
  const first = Math.max(idMin, lowOpen ? Math.floor(low) + 1 : Math.ceil(low));
  const last = Math.min(idMax, highOpen ? Math.ceil(high) - 1 : Math.floor(high));
  return Math.max(0, last - first + 1) / (idMax - idMin + 1);
}

function holds({ low, high, lowOpen, highOpen }: NumericRange, value: number): boolean {
  return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
}
