// Compares texts by code point, the order of texts everywhere in the database.

/**
 * Returns a negative number, 0 or a positive number. JavaScript's own order, by UTF-16 units, is
 * different only where a surrogate is compared with a unit above the surrogates.
 */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = length > PART ? commonParts(a, b, length) : 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isHighX = x >= 0xd800 && x <= 0xdfff;
    const isHighY = y >= 0xd800 && y <= 0xdfff;
    if (isHighX !== isHighY) return isHighX ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** Number of UTF-16 units of long texts that are compared at once until a difference is found. */
const PART = 256;

/**
 * Returns the start of the first part in which the texts differ, or of the last part if none
 * differs before it.
 */
function commonParts(a: string, b: string, length: number): number {
  let from = 0;
  while (from + PART < length && a.slice(from, from + PART) === b.slice(from, from + PART)) from += PART;
  return from;
}
