// Reads numerals and patterns at an offset of a text, and blanks parts of it out without moving the
// rest.

export { normalizeDigits, parseRomanNumerals } from 'numeric-quantity';

/** The match of a sticky pattern at an offset. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function blank(text: string): string {
  return ' '.repeat(text.length);
}

/** `text` with ranges, in order and without overlaps, replaced by blanks. */
export function blanked(text: string, ranges: readonly { start: number; end: number }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    parts.push(text.slice(at, start), ' '.repeat(end - start));
    at = end;
  }
  return parts.join('') + text.slice(at);
}
