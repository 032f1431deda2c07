// The order of texts wherever the contract orders them: by code point.

/**
 * Less than 0, 0 or more than 0. UTF-16 order differs from it only where a surrogate meets a unit
 * above the surrogates.
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

/** Letters that are compared at once while long texts do not differ. */
const PART = 256;

/** Where the first part begins in which the texts differ, or the last one. */
function commonParts(a: string, b: string, length: number): number {
  let from = 0;
  while (from + PART < length && a.slice(from, from + PART) === b.slice(from, from + PART)) from += PART;
  return from;
}
