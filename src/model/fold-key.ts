// Folds texts so that a key and a text in a question that differ only by case, Unicode form, blanks
// or the form of their dashes and quotation marks become equal.

const SIGNS: readonly [RegExp, string][] = [
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  [/[\u2018\u2019\u201a\u201b\u2032\u00b4`]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2264\u2a7d]/g, '<='],
  [/[\u2265\u2a7e]/g, '>='],
  [/\u2260/g, '!='],
  [/[\s\p{Cc}\u200b\u2060\ufeff]+/gu, ' '],
];
/** Matches a text that only its case may distinguish from its folded form. */
const PLAIN = /^(?! )(?:[!-_a-~]| (?! |$))*$/;

/** Normalises dashes, quotation marks, comparison signs and blanks. */
export function tidied(text: string): string {
  return SIGNS.reduce((tidy, [pattern, plain]) => tidy.replace(pattern, plain), text.normalize('NFC'));
}

/** Returns the folded form: tidied, in lower case and in NFC, without blanks at both ends. */
export function foldKey(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  // A lower-case sigma has another form at the end of a word.
  return tidied(text).toLowerCase().replace(/ς/g, 'σ').normalize('NFC').trim();
}
