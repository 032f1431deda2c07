// Order of texts by code point; JavaScript's own is by UTF-16 unit, which puts U+10000 and above before U+E000.

/** Less than 0, 0 or more than 0. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return weightOf(a) - weightOf(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others. */
function weightOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
