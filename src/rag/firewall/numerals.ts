// Parses numbers written in words or as Roman numerals: "ninety-five", "half a million", "the
// ninth", "minus two", "XIV".

import { parseRomanNumerals } from 'numeric-quantity';

export interface Numeral {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly isOrdinal: boolean;
  /** A Roman numeral states a number as digits do, whereas words also count things in passing. */
  readonly isRoman: boolean;
}

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const NTHS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const TIETHS = TENS.map((word) => word.replace(/y$/, 'ieth'));
const ORDINALS: ReadonlySet<string> = new Set([...NTHS, ...TIETHS]);
/** Words whose value is added. */
const VALUES = new Map<string, number>([
  ...[UNITS, NTHS].flatMap((words) => words.map((word, value) => [word, value] as const)),
  ...[TENS, TIETHS].flatMap((words) => words.map((word, at) => [word, 20 + 10 * at] as const)),
  ['twice', 2],
  ['thrice', 3],
  ['half', 0.5],
  ['quarter', 0.25],
]);
/** Words that multiply. */
const SCALES: ReadonlyMap<string, number> = new Map([
  ['dozen', 12],
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);

const WORD_END = '(?![\\p{L}\\p{N}_])';
const oneOf = (...words: string[]) => `(?:${words.join('|')})${WORD_END}`;
const FRACTION = oneOf('half', 'quarter');
const SCALE = oneOf('dozen', 'thousand', 'million', 'billion');
const AND = ' (?:and )?';
/** "ninety-five", and "ninety-fifth" as the end of an ordinal. */
const TWO_DIGITS = `(?:${oneOf(...TENS)}[ -]${oneOf(...UNITS.slice(1, 10))}|${oneOf(...TENS, ...UNITS)})`;
const LAST_DIGITS = `(?:${oneOf(...TENS)}[ -]${oneOf(...NTHS.slice(1, 10))}|${oneOf(...ORDINALS)})`;
const HUNDREDS = `(?:${TWO_DIGITS}[ -])?hundred${WORD_END}`;
const GROUP = `(?:${HUNDREDS}(?:${AND}${TWO_DIGITS})?|${TWO_DIGITS})(?: and a ${FRACTION})?`;
const LAST_GROUP = `(?:(?:${HUNDREDS}${AND})?${LAST_DIGITS}|${GROUP})`;
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:(?:${GROUP}[ -]|${FRACTION} (?:of )?an? )?${SCALE}(?:${AND}${GROUP}[ -]${SCALE})*(?:${AND}${LAST_GROUP})?|${LAST_GROUP}|${oneOf('twice', 'thrice')})`,
  'giu',
);
const ROMAN = /(?<![\p{L}\p{N}_.'-])(?:[VX]|[IVXLCDM]{2,15})(?![\p{L}\p{N}_.'(-]*[\p{L}\p{N}_(])/gu;
/** A scale after digits: "2.5 million". */
export const SCALE_AFTER = /\s(dozen|hundred|thousand|million|billion)(?![\p{L}\p{N}_])/iuy;
export const MINUS_BEFORE = /(?<![\p{L}])(?:minus|negative)\s$/iu;

export function scaleOf(word: string): number {
  return SCALES.get(word.toLowerCase())!;
}

/** The numerals of folded text, in order. */
export function numeralsIn(text: string): Numeral[] {
  const found: Numeral[] = [];
  for (const { 0: words, index: start } of text.matchAll(NUMBER)) {
    const sign = MINUS_BEFORE.test(text.slice(Math.max(0, start - 10), start)) ? -1 : 1;
    const all = words.toLowerCase().split(/[ -]/);
    const isOrdinal = ORDINALS.has(all.at(-1)!);
    found.push({ start, end: start + words.length, value: sign * valueOfWords(all), isOrdinal, isRoman: false });
  }
  for (const { 0: letters, index: start } of text.matchAll(ROMAN)) {
    const value = parseRomanNumerals(letters);
    if (!Number.isNaN(value))
      found.push({ start, end: start + letters.length, value, isOrdinal: false, isRoman: true });
  }
  return found.sort((a, b) => a.start - b.start);
}

function valueOfWords(words: readonly string[]): number {
  let total = 0;
  let group: number | undefined;
  for (const word of words) {
    const scale = SCALES.get(word);
    if (scale === undefined) group = (group ?? 0) + (VALUES.get(word) ?? 0);
    else if (scale === 100) group = (group ?? 1) * scale;
    else [total, group] = [total + (group ?? 1) * scale, undefined];
  }
  return total + (group ?? 0);
}
