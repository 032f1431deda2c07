// How hard a key looks to guess: an estimate from its characters alone, for a warning.

/** As an answer to `apparentBits`, what an attacker cannot try out. */
export const ENOUGH_BITS = 128;

/** Chance makes random keys look poorer than they are: only what is lower by more is taken for a pattern. */
const MARGIN_BITS = 16;
/** Words of a language, letter by letter. */
const BITS_A_LETTER = 2.5;
/** A character that a pattern gives away. */
const BITS_IN_PATTERN = 1;
/** Shortest stretch of characters that is not there twice, or in the order of the alphabet, by chance. */
const PATTERN_LENGTH = 4;
/** Kinds of characters, how many there are of each. */
const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  // A short text in both cases may have none by chance.
  [/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/, 10],
  [/[-_+/=]/, 2],
  [/[^-\w+/=]/, 30],
];

/** Bits, rounded down. The prefix `hgr_` counts for nothing. */
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

/** Hardly a digit, and few capitals, or few others. */
function looksLikeWords(text: string): boolean {
  const count = (kind: RegExp) => text.match(kind)?.length ?? 0;
  const capitals = count(/[A-Z]/g);
  const letters = capitals + count(/[a-z]/g);
  return count(/\d/g) <= text.length / 10 && Math.min(capitals, letters - capitals) <= letters / 4;
}

/** How many different characters the text could have been made of. */
function alphabetOf(text: string): number {
  const size = /^(?:[\da-f]+|[\dA-F]+)$/.test(text.replaceAll('-', ''))
    ? 16
    : KINDS.reduce((sum, [kind, count]) => sum + (kind.test(text) ? count : 0), 0);
  const different = new Set(text).size;
  const expected = size * (1 - (1 - 1 / size) ** text.length);
  return Math.max(1, different < expected * 0.6 ? different : size);
}

/** It ends a stretch that was there before, or one of characters that follow each other, as in `1234`, `dcba` or `aaaa`. */
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
