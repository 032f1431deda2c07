// Folds words, so that those that differ only in case, width or diacritics are one term.
//
// Two steps, because stemmers need diacritics (`é` in French, umlauts in German): `foldCase` gives
// NFKC without case, `foldDiacritics` drops the diacritics of a word or of its stem.
//
// The terms of an index must be the same on every version of Node. NFKC and the case of an assigned
// character never change (https://www.unicode.org/policies/stability_policy.html), but a version of
// Unicode adds characters, and an older Node does not know these. A word has none that Unicode 16
// does not know: to word-classes.ts they are no letters. Those that came after Unicode 14 and that
// folding would change (Garay, Todhri, ...) are in LATE and stay as they are: the oldest Node that
// we support has Unicode 15. No rule here asks for a property of the running Node otherwise.

/** Maximum bytes of a term in UTF-8. A longer one is cut at a code point. */
export const MAX_TERM_BYTES = 255;

/**
 * UTF-16 units of a word that are looked at. It bounds the sorting of combining marks in NFKC,
 * which takes time quadratic in their number; a term is shorter.
 */
const MAX_WORD_UNITS = 1024;

/**
 * Invisible characters (Default_Ignorable_Code_Point): soft hyphen, joiners, variation selectors,
 * ...
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: the class is meant to hold single joiners and selectors
  /[\u00AD\u034F\u061C\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFE00-\uFE0F\uFEFF\u{E0000}-\u{E0FFF}]/gu;

const LATE_RANGES =
  '\\u0897\\u1C89\\u1C8A\\uA7CB-\\uA7CD\\uA7DA-\\uA7DC\\u{105C0}-\\u{105FF}\\u{10D40}-\\u{10D8F}' +
  '\\u{10EC0}-\\u{10EFF}\\u{11380}-\\u{113FF}\\u{11F00}-\\u{11F5F}\\u{16100}-\\u{1613F}\\u{16D40}-\\u{16D7F}' +
  '\\u{1CC00}-\\u{1CCFF}\\u{1E030}-\\u{1E08F}\\u{1E4D0}-\\u{1E4FF}\\u{1E5D0}-\\u{1E5FF}';
const LATE = new RegExp(`[${LATE_RANGES}]`, 'u');
const NOT_LATE = new RegExp(`[^${LATE_RANGES}]+`, 'gu');

/**
 * Diacritics: the combining marks of Latin, Greek and Cyrillic, Hebrew points, Arabic and Syriac
 * vowel signs. Marks of other scripts make another letter (Japanese, Thai, Devanagari, ...) and
 * stay.
 */
const DIACRITICS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: the class is meant to hold single marks
  /[\u0300-\u036F\u0483-\u0487\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED\u0711\u0730-\u074A\u1AB0-\u1ACE\u1DC0-\u1DFF\u20D0-\u20F0\uFE20-\uFE2F]/gu;

/** Letters with a stroke, and ligatures, which Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', æ: 'ae', œ: 'oe' };
const WITH_PLAIN = /[øłđħŧæœ]/g;

/**
 * Returns a word in NFKC and without case: ß as ss, final sigma as sigma, dotted İ as i (with a dot
 * as a diacritic), dotless ı as it is. Also drops what is invisible and the spaces to which NFKC
 * takes some characters apart, and writes the typographic apostrophe as `'`.
 */
export function foldCase(word: string): string {
  const short = word.length > MAX_WORD_UNITS ? cutUnits(word, MAX_WORD_UNITS) : word;
  if (isAscii(short)) return short.toLowerCase();
  const visible = short.replace(INVISIBLE, '').replaceAll('\u2019', "'");
  if (!LATE.test(visible)) return foldKnown(visible);
  return visible.replace(NOT_LATE, foldKnown);
}

/** Returns a word of `foldCase` without its diacritics. */
export function foldDiacritics(word: string): string {
  if (isAscii(word)) return word;
  if (!LATE.test(word)) return plainOf(word);
  return word.replace(NOT_LATE, plainOf);
}

/**
 * Returns the longest part of a term, from its beginning, of whole code points and at most 255
 * bytes.
 */
export function cutTerm(term: string): string {
  if (term.length * 3 <= MAX_TERM_BYTES) return term;
  let bytes = 0;
  for (let at = 0; at < term.length; ) {
    const codePoint = term.codePointAt(at)!;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > MAX_TERM_BYTES) return term.slice(0, at);
    at += codePoint > 0xffff ? 2 : 1;
  }
  return term;
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) >= 0x80) return false;
  }
  return true;
}

/** Returns the first `units` UTF-16 units, or one less where that would divide a surrogate pair. */
function cutUnits(word: string, units: number): string {
  return word.slice(0, word.codePointAt(units - 1)! > 0xffff ? units - 1 : units);
}

function foldKnown(part: string): string {
  // NFKC again: a letter may become one that composes with the mark after it.
  return part
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ')
    .replaceAll(' ', '')
    .normalize('NFKC');
}

function plainOf(part: string): string {
  const bare = part.normalize('NFD').replace(DIACRITICS, '').normalize('NFC');
  return bare.replace(WITH_PLAIN, (letter) => PLAIN[letter]!);
}
