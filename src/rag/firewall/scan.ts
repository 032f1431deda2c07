// Matches patterns at an offset in a text, parses numerals, and blanks out parts of a text without
// moving the rest.

export { normalizeDigits, parseRomanNumerals } from 'numeric-quantity';

/** Matches a sticky pattern at an offset. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function blank(text: string): string {
  return ' '.repeat(text.length);
}

/** Replaces ranges of a text, which are in order and do not overlap, with blanks. */
export function blanked(text: string, ranges: readonly { start: number; end: number }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    parts.push(text.slice(at, start), ' '.repeat(end - start));
    at = end;
  }
  return parts.join('') + text.slice(at);
}
