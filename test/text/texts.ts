// Random and hostile texts for the tests of words, queries and scores.

import type { Random } from '../support/random.ts';

/** Characters of every class of UAX 29 and of several scripts, some of them marks or invisible. */
export const CHARACTERS = [
  ...'aBz09_\'".,:;-+* \n\t',
  ...['é', 'ß', 'Σ', 'İ', 'ø', 'й', 'א', 'ש', 'ع', 'カ', 'か', '語', '𠀀', 'ก', '한', '½', '²', '٠', '·', '\u2019'],
  ...['\u0308', '\u0316', '\u0345', '\u3099', '\u200c', '\u200d', '\u00ad', '\ufe0f', '\u2028', '\u0085', '\u3000'],
  ...['😀', '🇦', '🏽', '\ud800', '\udc00', '…', '“', '—'],
];

/** Returns a text of up to `most` random characters of a list. */
export function randomText(random: Random, characters: readonly string[], most: number): string {
  return Array.from({ length: random.below(most + 1) }, () => characters[random.below(characters.length)]!).join('');
}

/** Texts of 65,536 UTF-16 units that are hard on what goes back, sorts or looks ahead. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'one letter': 'a'.repeat(65_536),
  'one letter that is not ASCII': 'é'.repeat(65_536),
  'combining marks': '\u0301'.repeat(65_536),
  'a letter with combining marks out of order': `a${'\u0301\u0316'.repeat(32_767)}b`,
  'apostrophes before combining marks': "a'\u0301\u0301\u0301\u0301\u0301\u0301".repeat(8192),
  'an apostrophe before combining marks': `é'${'\u0301'.repeat(65_533)}b`,
  'zero-width joiners': '\u200d'.repeat(65_536),
  'letters with joiners': 'a\u200d'.repeat(32_768),
  'lone surrogates': '\ud800'.repeat(65_536),
  'surrogates in the wrong order': '\udc00\ud800'.repeat(32_768),
  quotes: '"'.repeat(65_536),
  apostrophes: "'".repeat(65_536),
  'flag letters': '🇦'.repeat(32_768),
  'letters that NFKC makes long': 'ﷺ'.repeat(65_536),
  'one-letter words': 'a '.repeat(32_768),
  underscores: '_'.repeat(65_536),
};
