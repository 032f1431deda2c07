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

const LETTER = /[\p{L}\p{M}\p{N}_]/u;

/** Returns where a text contains `part` as whole words, from an offset on, or -1. */
export function wholeAt(text: string, part: string, from: number): number {
  const isSplit = (at: number) => LETTER.test(text[at - 1] ?? ' ') && LETTER.test(text[at] ?? ' ');
  for (let at = text.indexOf(part, from); at >= 0; at = text.indexOf(part, at + 1))
    if (!isSplit(at) && !isSplit(at + part.length)) return at;
  return -1;
}
