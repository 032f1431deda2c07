// Ranges of numeric columns in the encoding of the core (assembly/README.md): they define the rows
// that a filter keeps.

import type { ColumnFacts } from './segment-facts.ts';

/**
 * Selects the rows whose value in a numeric column lies between two bounds. Null lies in no range.
 */
export interface NumericRange {
  column: number;
  /** -Infinity for no bound. Never NaN. */
  low: number;
  high: number;
  /** Whether the bound itself is excluded. */
  lowOpen: boolean;
  highOpen: boolean;
  /** Value for rows that do not have the column; NaN means null. */
  missing: number;
}

/**
 * Ranges that must all hold, encoded for the core. Uploaded once per instance, cached by object
 * identity.
 */
export interface RangeSet {
  readonly ranges: readonly NumericRange[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const RANGE_BYTES = 32;
const LOW_OPEN = 1;
const HIGH_OPEN = 2;

/** The open bounds as flags of the core. */
export function rangeFlags({ lowOpen, highOpen }: NumericRange): number {
  return (lowOpen ? LOW_OPEN : 0) | (highOpen ? HIGH_OPEN : 0);
}

export function encodeRanges(ranges: readonly NumericRange[]): RangeSet {
  const bytes = new Uint8Array(ranges.length * RANGE_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [index, range] of ranges.entries()) {
    const at = index * RANGE_BYTES;
    view.setFloat64(at, range.low, true);
    view.setFloat64(at + 8, range.high, true);
    view.setFloat64(at + 16, range.missing, true);
    view.setUint32(at + 24, range.column, true);
    view.setUint32(at + 28, rangeFlags(range), true);
  }
  return { ranges, bytes };
}

/** Whether no value can lie in the range. */
export function isEmptyRange({ low, high, lowOpen, highOpen }: NumericRange): boolean {
  return low > high || (low === high && (lowOpen || highOpen));
}

/**
 * Whether a segment with these columns may contain rows in all ranges. If it lacks a column, every
 * row has its default, or null.
 */
export function mayHold(columns: readonly ColumnFacts[], { ranges }: RangeSet): boolean {
  return ranges.every((range) => {
    const column = columns.find(({ id }) => id === range.column);
    return column === undefined ? holds(range, range.missing) : !column.allNull;
  });
}

function holds({ low, high, lowOpen, highOpen }: NumericRange, value: number): boolean {
  return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
}
