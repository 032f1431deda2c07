// Finds the numbers in a sentence. They may be digits in the usual groupings, percentages, Roman
// numerals, or words such as "ninety-five", "half a million" and "minus two".

import type { Steps } from '../../schedule/steps.ts';
import { matchAt, parseRomanNumerals } from './scan.ts';

export interface NumberToken {
  start: number;
  end: number;
  /**
   * The possible values: `1,234` is 1234 or 1.234. `half` is half a unit of the last decimal: the
   * most by which a rounded number may differ from the exact one.
   */
  readings: { value: number; half: number }[];
  /**
   * How many of the readings, the first ones, a text may mean: of `55,000` only thousands, of
   * `12km` only 12.
   */
  usual: number;
  /** What is directly behind the digits, as in "12km", in lower case; empty if nothing is. */
  glued: string;
  /** The individual numbers, if the token may be a list of numbers: `3,9,14`. */
  parts: NumberToken[];
  percent: boolean;
  /** Whether the number is a word, such as `two` or `twice`. Roman numerals are not words. */
  word: boolean;
  ordinal: boolean;
}

const list = (words: string) => words.split(' ');
const UNITS = list(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
);
const NTHS = list(
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth',
);
const TENS = list('twenty thirty forty fifty sixty seventy eighty ninety');
const TIETHS = TENS.map((word) => word.replace(/y$/, 'ieth'));
const ORDINALS: ReadonlySet<string> = new Set([...NTHS, ...TIETHS]);
/** Values of words that are added up. */
const VALUES = new Map<string, number>([
  ...[UNITS, NTHS].flatMap((words) => words.map((word, value) => [word, value] as const)),
  ...[TENS, TIETHS].flatMap((words) => words.map((word, at) => [word, 20 + 10 * at] as const)),
  ...Object.entries({ twice: 2, thrice: 3, half: 0.5, quarter: 0.25 }),
]);
/** Values of words by which a number is multiplied. */
const SCALES = new Map(
  Object.entries({ dozen: 12, hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }),
);
/** Abbreviated scales, which follow digits. */
const SHORT_SCALES = new Map(Object.entries({ bn: 1e9, mn: 1e6, mio: 1e6, mrd: 1e9, tn: 1e12 }));

const oneOf = (...words: string[]) => `(?:${words.join('|')})`;
/**
 * Matches the end of a word. It is needed at the end of a number and where a word is only looked
 * at. Elsewhere a space or hyphen follows. V8 takes 28 ms to compile it behind every word.
 */
const END = '(?![\\p{L}\\p{N}_])';
const FRACTION = oneOf('half', 'quarter');
const SCALE = oneOf(...SCALES.keys());
const CARDINAL = `${oneOf(...SCALES.keys(), ...TENS, ...UNITS)}(?: and a ${FRACTION})?`;
/** Matches what joins the words of a number, as in "ninety-five" and "two hundred and six". */
const JOIN = `(?:(?<=${oneOf(...TENS)})[ -](?=${oneOf(...UNITS.slice(1, 10), ...NTHS.slice(1, 10))}${END})|(?<=${SCALE}) (?:and )?)`;
/**
 * Matches a number in words, in a text whose ASCII letters are small (`withSmallLetters`). V8 takes
 * three times as long to compile it if the expression itself ignores case.
 */
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:(?:${FRACTION} (?:of )?an? (?=${SCALE}))?${CARDINAL}(?:(?:[ -](?=${SCALE})|${JOIN})${CARDINAL})*(?:${JOIN}${oneOf(...ORDINALS)})?|${oneOf(...ORDINALS, 'twice', 'thrice')})${END}`,
  'gu',
);
const ROMAN = /(?<![\p{L}\p{N}_.'-])(?:[VX]|[IVXLCDM]{2,15})(?![\p{L}\p{N}_.'(-]*[\p{L}\p{N}_(])/gu;
const DIGITS =
  /(?<![\p{L}\p{N}.])\.\d+|\d{1,3}(?: \d{3})+(?![\d.,])|\d+(?:[.,_']\d+)*(?:e[-+]?\d{1,3}(?![\p{L}\d]))?/giu;
const MINUS_WORD = /(?<!\p{L})(?:minus|negative)\s$/iu;
const MINUS = new RegExp(`${MINUS_WORD.source}|(?<![\\p{L}\\p{N})\\].])-[$€£¥]?$`, 'iu');
const PERCENT = /\s*(?:%|per ?cent\b|prozent\b|pour cent\b|por ?ciento\b|процент|パーセント|в процентах)/iuy;
/** Matches a scale after digits, as in "2.5 million" and "3bn". */
const SCALE_AFTER = new RegExp(
  `(?:\\s(${[...SCALES.keys()].join('|')})|\\s?(${[...SHORT_SCALES.keys()].join('|')}))(?![\\p{L}\\p{N}_])`,
  'iuy',
);
/** Matches a unit directly behind digits. Words of scripts without blanks are none. */
const GLUED = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+/uy;
const SUFFIX = /(?:(k)(?=m?\b)|(st|nd|rd|th)\b)?/iy;

/**
 * Uses each expression once, in steps. V8 compiles an expression at its first use, and to faster
 * code at its second; the longest one takes 2 ms.
 */
export function* prepareNumbers(): Steps<void> {
  for (const expression of [NUMBER, ROMAN, DIGITS, MINUS_WORD, MINUS, PERCENT, SCALE_AFTER, SUFFIX, GLUED]) {
    ''.search(expression);
    yield;
  }
}

/** Puts ASCII letters into lower case, which, unlike `toLowerCase`, never changes the length. */
function withSmallLetters(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Returns the numbers in `text`, in order. `text` must be folded (see lookalikes.ts), and its tags
 * and times must be blanked out.
 */
export function numbersOf(text: string): NumberToken[] {
  const tokens: NumberToken[] = [];
  for (const { 0: raw, index } of text.matchAll(DIGITS)) {
    if (text[index + raw.length] !== '\u20e3') tokens.push(digitToken(text, index, raw)); // 1\u20e3 marks a list item
  }
  const add = (start: number, { length }: string, value: number, word: boolean, ordinal: boolean) => {
    const end = start + length;
    if (Number.isNaN(value) || tokens.some((token) => token.start < end && start < token.end)) return; // "million" in "2.5 million"
    const percent = matchAt(PERCENT, text, end) !== null;
    tokens.push({ start, end, readings: [{ value, half: 0 }], usual: 1, glued: '', parts: [], percent, word, ordinal });
  };
  for (const { 0: words, index } of withSmallLetters(text).matchAll(NUMBER)) {
    const all = words.split(/[ -]/);
    add(index, words, signBefore(MINUS_WORD, text, index) * valueOfWords(all), true, ORDINALS.has(all.at(-1)!));
  }
  for (const { 0: letters, index } of text.matchAll(ROMAN))
    add(index, letters, parseRomanNumerals(letters), false, false);
  return tokens.sort((a, b) => a.start - b.start);
}

function signBefore(minus: RegExp, text: string, start: number): number {
  return minus.test(text.slice(Math.max(0, start - 10), start)) ? -1 : 1;
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

function digitToken(text: string, start: number, raw: string): NumberToken {
  const end = start + raw.length;
  const [, kilo, ordinal] = matchAt(SUFFIX, text, end)!;
  const scale = matchAt(SCALE_AFTER, text, end);
  const factor = scale === null ? 1 : factorOf((scale[1] ?? scale[2])!.toLowerCase());
  const sign = signBefore(MINUS, text, start);
  const isKilo = kilo !== undefined && text[end + 1]?.toLowerCase() !== 'm';
  const plain = readingsOf(raw);
  const readings = plain.flatMap((digits) => {
    const value = sign * Number(digits) * factor;
    const half = halfUnit(digits) * factor;
    const thousands = kilo === undefined ? [] : [{ value: value * 1000, half: half * 1000 || 500 }];
    // 10k is 10,000; 12km is 12 km or 12,000 m.
    return isKilo ? thousands : [{ value, half }, ...thousands];
  });
  return {
    start,
    end: end + (isKilo ? 1 : 0) + (scale?.[0].length ?? 0),
    readings,
    usual: kilo !== undefined && !isKilo ? 1 : THOUSANDS.test(raw) ? readings.length / plain.length : readings.length,
    glued: isKilo || ordinal !== undefined || scale !== null ? '' : gluedTo(text, end),
    parts: partsOf(text, start, raw),
    percent: matchAt(PERCENT, text, end) !== null,
    word: false,
    ordinal: ordinal !== undefined,
  };
}

function factorOf(scale: string): number {
  return SCALES.get(scale) ?? SHORT_SCALES.get(scale)!;
}

function gluedTo(text: string, end: number): string {
  return matchAt(GLUED, text, end)?.[0].toLowerCase() ?? '';
}

function partsOf(text: string, start: number, raw: string): NumberToken[] {
  if (!/[ ,]/.test(raw)) return [];
  return Array.from(raw.matchAll(/[^ ,]+/g), ({ 0: part, index }) => {
    const from = start + index;
    return digitToken(text.slice(0, from + part.length), from, part);
  });
}

/**
 * Pairs of a sign that may separate groups of three digits, and a pattern for the whole part and
 * the decimals.
 */
const GROUPINGS = [',', '.', '_', "'", ' '].map(
  (sign) =>
    [sign, new RegExp(`^(\\d{1,3}(?:[${sign}]\\d{3})+|\\d+)(?:[${sign === '.' ? ',' : '.'}](\\d+))?$`)] as const,
);

/** Matches what is thousands in English, and a number with three decimals elsewhere. */
const THOUSANDS = /^\d{1,3},\d{3}$/;

/** Returns the numbers, in JavaScript notation, that digits with separators may mean. */
function readingsOf(raw: string): string[] {
  if (/^\d+(?:$|(?:\.\d+)?e)/i.test(raw)) return [raw];
  if (raw.startsWith('.')) return [`0${raw}`];
  const readings = GROUPINGS.flatMap(([sign, pattern]) => {
    const match = pattern.exec(raw);
    return match === null ? [] : match[1]!.replaceAll(sign, '') + (match[2] === undefined ? '' : `.${match[2]}`);
  });
  return [...new Set(readings)];
}

/** Returns half a unit of the last decimal, or 0 for a whole number, which counts as exact. */
function halfUnit(plain: string): number {
  const [, decimals, exponent] = /^\d+(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(plain)!;
  if (decimals === undefined && exponent === undefined) return 0;
  return 0.5 * 10 ** (Number(exponent ?? 0) - (decimals?.length ?? 0));
}
