// Text as it looks: compatibility forms, digits of all scripts, invisible characters and letters that pass for Latin ones.

/** Marks one tag or masked piece; never stands in folded text. */
const NOT_ASCII = /[^\t\n\r -~]/;
const INVISIBLE =
  /\u034f|[\p{Cf}\p{Cc}\p{Co}\u115f\u1160\u17b4\u17b5\u3164\uffa0]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;
/** Characters that turn the order of what is shown around: no stored value can be compared with what they show. */
export const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
/** A run of marks takes quadratic time to normalise; no script needs as many. */
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

/** Compatibility forms as plain ones, digits of any script as ASCII, no invisible characters, one kind of minus and apostrophe. */
export function folded(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  return text
    .replace(MARKS, '$1')
    .replace(/(?<=\p{L})[²³]/gu, '') // a unit's power is no number
    .normalize('NFKC')
    .replace(/[\t\u0085\u2028\u2029]/g, ' ')
    .replace(INVISIBLE, '')
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',')
    .replace(/\u066a/g, '%')
    .replace(/[\u2010\u2011\u2212\ufe63]/g, '-')
    .replace(/[\u2019\u02bc]/g, "'")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ');
}

/** Every script's digits are ten in a row, from a code ending in 0 or in 6. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  if (code < 0x80) return digit;
  const zero = /\p{Nd}/u.test(String.fromCodePoint(code & ~15)) ? code & ~15 : (code & ~15) + 6;
  return String(code - zero);
}

/** What a reader takes folded text for: lower case, without accents, twins of Latin letters as those. Same for all that look the same. */
export function skeleton(text: string): string {
  const lower = folded(text).toLowerCase();
  if (!NOT_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, (character) => TWIN_OF.get(character) ?? character);
}

/** The skeleton with digits that pass for letters read as letters, and nothing but letters left. */
export function lettersOf(text: string): string {
  return skeleton(text)
    .replace(/[315|]/g, (digit) => TWIN_OF.get(digit)!)
    .replace(/[^\p{L}]/gu, '');
}

/** Text for comparing: folded, one space between words, lower case. */
export function comparable(text: string): string {
  return folded(text).replace(/\s+/g, ' ').trim().toLowerCase();
}
