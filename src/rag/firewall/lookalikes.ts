// Normalises texts so that texts that look the same become equal. It replaces compatibility forms,
// digits of all scripts, and letters that resemble Latin letters, and drops invisible characters.

import { normalizeDigits } from './scan.ts';

/** Matches a character that may need folding. */
const NOT_ASCII = /[^\t\n\r -~]/;
/** Line breaks are control characters too, but they separate words. */
const INVISIBLE = /[\p{DI}\p{Cf}\p{Co}]|[^\n\r\P{Cc}]/gu;
/** Characters that reverse the displayed order, so that a text cannot be compared as it looks. */
export const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
/**
 * Matches more than 8 combining marks in a row. These take quadratic time to normalise, and no
 * script needs them.
 */
const MARKS = /(\p{M}{8})\p{M}+/gu;

/** Characters that look like a letter in HEDGE, STEP or RULE. */
const LATIN_TWINS: Readonly<Record<string, string>> = {
  h: 'нһηհḥʜᏂꓧԋ',
  e: 'еєεҽəеᴇꓰℯ℮ɛ3',
  d: 'ԁɗđᴅꓓðժ',
  g: 'ɡɢԍցꓖǥ',
  s: 'ѕꜱꓢ5ʂ',
  t: 'тτᴛꓔŧ',
  p: 'рρᴘꓑþ',
  r: 'гʀꓣɍяᴦ',
  u: 'υսᴜꓴʋц',
  l: 'ӏʟꓡɭ1|ıІі',
};
const TWIN_OF = new Map(
  Object.entries(LATIN_TWINS).flatMap(([letter, twins]) => [...twins].map((twin) => [twin.toLowerCase(), letter])),
);

/**
 * Folds text: compatibility forms become plain letters, digits become ASCII, all minus signs and
 * apostrophes become the same, and invisible characters are dropped.
 */
export function folded(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  const plain = text
    .replace(MARKS, '$1')
    .replace(/(?<=\p{L})[²³]/gu, '') // the exponent of a unit is not a number
    .normalize('NFKC')
    .replace(/[\t\u0085\u2028\u2029]/g, ' ')
    .replace(INVISIBLE, '')
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',')
    .replace(/\u066a/g, '%')
    .replace(/[\u2010\u2212]/g, '-')
    .replace(/[\u2019\u02bc]/g, "'");
  return normalizeDigits(plain);
}

/** Folds text, puts it in lower case, drops accents, and replaces letters that look like Latin. */
export function skeleton(text: string): string {
  const lower = folded(text).toLowerCase();
  if (!NOT_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, (character) => TWIN_OF.get(character) ?? character);
}

/** Returns the letters of the skeleton. Digits that resemble letters are read as letters. */
export function lettersOf(text: string): string {
  return skeleton(text)
    .replace(/[315|]/g, (digit) => TWIN_OF.get(digit)!)
    .replace(/[^\p{L}]/gu, '');
}

/** Normalises text for comparison: folded, in lower case, with single spaces. */
export function comparable(text: string): string {
  return folded(text).replace(/\s+/g, ' ').trim().toLowerCase();
}
