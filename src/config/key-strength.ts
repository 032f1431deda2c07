// Estimates how hard a key is to guess, from its characters alone, for a warning.
//
// A random key has its length times log2(size of its alphabet) bits. Two things make it weaker:
// words of a language (about 2.5 bits a letter), and characters that a pattern gives away, which
// are a repeated stretch or a run such as `1234` (1 bit each). Chance makes random keys look
// slightly patterned too, so the lower estimate counts only when it is lower by a margin.

/** Estimates at or above this many bits are considered beyond brute force. */
export const ENOUGH_BITS = 128;

/** Random keys look slightly patterned by chance: only a greater loss counts as a pattern. */
const MARGIN_BITS = 16;
/** Bits per letter in words of a natural language. */
const BITS_A_LETTER = 2.5;
/** Bits of a character that a pattern gives away. */
const BITS_IN_PATTERN = 1;
/** Shortest stretch that is unlikely to be repeated, or to follow the alphabet, by chance. */
const PATTERN_LENGTH = 4;
/** Classes of characters and the size of each. */
const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  // A short random text with both cases may contain no digit by chance.
  [/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/, 10],
  [/[-_+/=]/, 2],
  [/[^-\w+/=]/, 30],
];

/** Bits, rounded down. The prefix `hgr_` does not count. */
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

/** At most a tenth digits, and mostly one case. */
function looksLikeWords(text: string): boolean {
  const count = (kind: RegExp) => text.match(kind)?.length ?? 0;
  const capitals = count(/[A-Z]/g);
  const letters = capitals + count(/[a-z]/g);
  return count(/\d/g) <= text.length / 10 && Math.min(capitals, letters - capitals) <= letters / 4;
}

/** Size of the alphabet that the text appears to be drawn from. */
function alphabetOf(text: string): number {
  const size = /^(?:[\da-f]+|[\dA-F]+)$/.test(text.replaceAll('-', ''))
    ? 16
    : KINDS.reduce((sum, [kind, count]) => sum + (kind.test(text) ? count : 0), 0);
  const different = new Set(text).size;
  const expected = size * (1 - (1 - 1 / size) ** text.length);
  return Math.max(1, different < expected * 0.6 ? different : size);
}

/**
 * Whether the character ends a stretch that occurred before, or a run of consecutive or equal
 * characters such as `1234`, `dcba` or `aaaa`.
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
