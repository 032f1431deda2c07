// Normalises text to how it looks: compatibility forms, digits of all scripts, invisible
// characters, and letters that resemble Latin ones.

import { normalizeDigits } from './scan.ts';

/** Text without a match needs no folding. */
const NOT_ASCII = /[^\t\n\r -~]/;
const INVISIBLE = /[\p{DI}\p{Cf}\p{Cc}\p{Co}]/gu;
/** Characters that reverse the displayed order, which cannot be compared with stored values. */
export const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
/** Long runs of combining marks take quadratic time to normalise, and no script needs them. */
const MARKS = /(\p{M}{8})\p{M}+/gu;

/** Letters that look like those of HEDGE, STEP and RULE and have no compatibility form. */
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

/** Plain letters, ASCII digits, one minus, one apostrophe, and nothing that is invisible. */
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

/** How text looks: folded, in lower case, without accents, and with Latin for similar letters. */
export function skeleton(text: string): string {
  const lower = folded(text).toLowerCase();
  if (!NOT_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, (character) => TWIN_OF.get(character) ?? character);
}

/** The letters of the skeleton, where digits that resemble letters are read as letters. */
export function lettersOf(text: string): string {
  return skeleton(text)
    .replace(/[315|]/g, (digit) => TWIN_OF.get(digit)!)
    .replace(/[^\p{L}]/gu, '');
}

/** Text normalised for comparison: folded, in lower case, with single spaces. */
export function comparable(text: string): string {
  return folded(text).replace(/\s+/g, ' ').trim().toLowerCase();
}
