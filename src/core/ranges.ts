// Ranges of numeric columns as the core reads them (assembly/README.md): which rows a filter keeps.

import type { ColumnFacts } from './segment-facts.ts';

/** Rows whose value of a numeric column lies between two bounds. Null lies in none. */
export interface NumericRange {
  column: number;
  /** -Infinity: no bound. Never NaN. */
  low: number;
  high: number;
  /** The bound itself does not count. */
  lowOpen: boolean;
  highOpen: boolean;
  /** The value of rows that do not have the column; NaN: null. */
  missing: number;
}

/** Ranges that all must hold, as bytes for the core. Uploaded once per instance by identity. */
export interface RangeSet {
  readonly ranges: readonly NumericRange[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const RANGE_BYTES = 32;
const LOW_OPEN = 1;
const HIGH_OPEN = 2;

/** Which bounds are open, as the core's flags. */
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

/** Whether a segment with these columns may hold rows in all ranges. One that does not have a column has its default, or null, in every row. */
export function mayHold(columns: readonly ColumnFacts[], { ranges }: RangeSet): boolean {
  return ranges.every((range) => {
    const column = columns.find(({ id }) => id === range.column);
    return column === undefined ? holds(range, range.missing) : !column.allNull;
  });
}

function holds({ low, high, lowOpen, highOpen }: NumericRange, value: number): boolean {
  return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
}
