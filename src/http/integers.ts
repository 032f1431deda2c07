// Parses strict decimal integers: digits with an optional minus, nothing else, within +-(2^53-1).

const ZERO = 48;
const NINE = 57;
const MINUS = 45;

/**
 * Returns the integer that is written from `start` to `end` in `text`, or NaN if this part is not
 * one.
 */
export function parseInteger(text: string, start = 0, end = text.length): number {
  const negative = start < end && text.charCodeAt(start) === MINUS;
  const first = negative ? start + 1 : start;
  if (first >= end) return Number.NaN;
  let value = 0;
  for (let i = first; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < ZERO || code > NINE) return Number.NaN;
    value = value * 10 + (code - ZERO);
    // Below the limit every step is exact, so the first value above it is detected.
    if (value > Number.MAX_SAFE_INTEGER) return Number.NaN;
  }
  return negative && value !== 0 ? -value : value;
}
