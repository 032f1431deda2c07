// Estimates from the characters of a key how hard it is to guess. Weak keys cause a warning.
//
// A random key of n characters has n * log2(size of its alphabet) bits. A character is worth less
// in two cases: in words of a language (about 2.5 bits), and where a pattern predicts it (1 bit). A
// pattern is a repeated stretch, or a run such as `1234`. By chance, random keys look slightly
// patterned too, so these deductions are ignored if they do not exceed a margin.

/** Estimates at or above this many bits are considered beyond brute force. */
export const ENOUGH_BITS = 128;

/** Deductions up to this many bits are ignored: random keys look slightly patterned by chance. */
const MARGIN_BITS = 16;
/** Bits per letter in words of a natural language. */
const BITS_A_LETTER = 2.5;
/** Bits per character that a pattern predicts. */
const BITS_IN_PATTERN = 1;
/** A stretch of this length is unlikely to be a repetition, or a run such as `abcd`, by chance. */
const PATTERN_LENGTH = 4;
/** Classes of characters and the size of each. */
const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  // Digits count if both cases occur: a short random text may contain no digit by chance.
  [/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/, 10],
  [/[-_+/=]/, 2],
  [/[^-\w+/=]/, 30],
];

/** Returns the estimate in bits, rounded down. The prefix `hgr_` does not count. */
export function apparentBits(key: string): number {
  const text = key.replace(/^hgr_/, '');
  const each = Math.log2(alphabetOf(text));
  const most = text.length * each;
  const usual = looksLikeWords(text) ? Math.min(each, BITS_A_LETTER) : each;
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    found += isInPattern(text, at) ? BITS_IN_PATTERN : usual;
  }
  return Math.floor(most - found > MARGIN_BITS ? found : most);
}

/** Returns true if at most a tenth of the text is digits and most letters have the same case. */
function looksLikeWords(text: string): boolean {
  const count = (kind: RegExp) => text.match(kind)?.length ?? 0;
  const capitals = count(/[A-Z]/g);
  const letters = capitals + count(/[a-z]/g);
  return count(/\d/g) <= text.length / 10 && Math.min(capitals, letters - capitals) <= letters / 4;
}

/** Returns the size of the alphabet from which the text appears to be drawn. */
function alphabetOf(text: string): number {
  const size = /^(?:[\da-f]+|[\dA-F]+)$/.test(text.replaceAll('-', ''))
    ? 16
    : KINDS.reduce((sum, [kind, count]) => sum + (kind.test(text) ? count : 0), 0);
  const different = new Set(text).size;
  const expected = size * (1 - (1 - 1 / size) ** text.length);
  return Math.max(1, different < expected * 0.6 ? different : size);
}

/**
 * Returns true if the character at `at` ends a stretch that occurred before, or a run of
 * consecutive or equal characters such as `1234`, `dcba` or `aaaa`.
 */
function isInPattern(text: string, at: number): boolean {
  const start = at - PATTERN_LENGTH + 1;
  if (start < 0) return false;
  const stretch = text.slice(start, at + 1);
  if (text.indexOf(stretch) < start) return true;
  const step = stretch.charCodeAt(1) - stretch.charCodeAt(0);
  return (
    Math.abs(step) <= 1 &&
    [...stretch].every((_, i) => i === 0 || stretch.charCodeAt(i) - stretch.charCodeAt(i - 1) === step)
  );
}
