// Numbers written in words or in Roman numerals: "ninety-five", "half a million", "the ninth", "minus two", "XIV".

import { parseRomanNumerals } from 'numeric-quantity';

export interface Numeral {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly isOrdinal: boolean;
  /** Roman ones repeat a number as digits do; words also count things in passing. */
  readonly isRoman: boolean;
}

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const NTH =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth';
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety';
const SCALES: readonly [string, number][] = [
  ['dozen', 12],
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
];
const FRACTIONS = new Map([
  ['half', 0.5],
  ['quarter', 0.25],
]);

const SMALL = new Map<string, { value: number; isOrdinal: boolean }>([
  ...UNITS.split(' ').map((word, value) => [word, { value, isOrdinal: false }] as const),
  ...NTH.split(' ').map((word, value) => [word, { value, isOrdinal: true }] as const),
  ...TENS.split(' ').flatMap((word, at) => [
    [word, { value: 20 + 10 * at, isOrdinal: false }] as const,
    [word.replace(/y$/, 'ieth'), { value: 20 + 10 * at, isOrdinal: true }] as const,
  ]),
  ['twice', { value: 2, isOrdinal: false }],
  ['thrice', { value: 3, isOrdinal: false }],
]);
const SCALE = new Map<string, number>(SCALES);
const WORD = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:${[...SMALL.keys(), ...SCALE.keys(), ...FRACTIONS.keys()].join('|')})(?![\\p{L}\\p{N}_])`,
  'giu',
);
const ROMAN = /(?<![\p{L}\p{N}_.'-])(?:[VX]|[IVXLCDM]{2,15})(?![\p{L}\p{N}_.'(-]*[\p{L}\p{N}_(])/gu;
/** Digits may be followed by one: "2.5 million". */
export const SCALE_AFTER = /\s(dozen|hundred|thousand|million|billion)(?![\p{L}\p{N}_])/iuy;
export const MINUS_BEFORE = /(?<![\p{L}])(?:minus|negative)\s$/iu;

export function scaleOf(word: string): number {
  return SCALE.get(word.toLowerCase())!;
}

/** Of folded text, in order. */
export function numeralsIn(text: string): Numeral[] {
  const found: Numeral[] = [];
  let run: Run | undefined;
  const close = () => {
    if (run !== undefined && !run.isFraction) found.push(run.numeral(text));
    run = undefined;
  };
  for (const match of text.matchAll(WORD)) {
    const word = match[0].toLowerCase();
    if (run === undefined || !run.takes(word, text.slice(run.end, match.index))) {
      close();
      run = new Run(word, match.index);
    }
    run.end = match.index + word.length;
  }
  close();
  for (const match of text.matchAll(ROMAN)) {
    const value = parseRomanNumerals(match[0]);
    const end = match.index + match[0].length;
    if (!Number.isNaN(value)) found.push({ start: match.index, end, value, isOrdinal: false, isRoman: true });
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Words that make one number together. */
class Run {
  readonly start: number;
  end = 0;
  #total = 0;
  /** Undefined after a scale. */
  #current: number | undefined;
  #isOrdinal = false;
  /** A fraction alone counts nothing. */
  isFraction = false;

  constructor(word: string, start: number) {
    this.start = start;
    const scale = SCALE.get(word);
    const fraction = FRACTIONS.get(word);
    if (scale !== undefined) this.#total = scale;
    else if (fraction !== undefined) [this.#current, this.isFraction] = [fraction, true];
    else this.#addSmall(word);
  }

  /** Whether a word that follows belongs to the number; then it is added. */
  takes(word: string, gap: string): boolean {
    if (this.#isOrdinal) return false;
    const scale = SCALE.get(word);
    if (scale !== undefined) {
      if (!(this.isFraction ? /^ (?:of )?an? $/ : /^[ -]$/).test(gap)) return false;
      if (this.#current === undefined) return false;
      if (scale === 100) this.#current *= 100;
      else [this.#total, this.#current] = [this.#total + this.#current * scale, undefined];
      this.isFraction = false;
      return true;
    }
    const fraction = FRACTIONS.get(word);
    if (fraction !== undefined) {
      if (gap !== ' and a ' || this.#current === undefined || this.isFraction) return false;
      this.#current += fraction;
      return true;
    }
    if (this.isFraction || word === 'twice' || word === 'thrice') return false;
    const { value } = SMALL.get(word)!;
    const isRest = this.#current === undefined || (this.#current >= 100 && this.#current % 100 === 0);
    const isUnit = value > 0 && value < 10 && this.#current !== undefined;
    const completesTen = isUnit && this.#current! % 10 === 0 && this.#current! % 100 >= 20;
    if (!(completesTen ? /^[ -]$/ : isRest ? /^ (?:and )?$/ : /^$/).test(gap)) return false;
    this.#addSmall(word);
    return true;
  }

  #addSmall(word: string): void {
    const { value, isOrdinal } = SMALL.get(word)!;
    this.#current = (this.#current ?? 0) + value;
    this.#isOrdinal = isOrdinal;
  }

  numeral(text: string): Numeral {
    const minus = MINUS_BEFORE.test(text.slice(Math.max(0, this.start - 10), this.start)) ? -1 : 1;
    const value = minus * (this.#total + (this.#current ?? 0));
    return { start: this.start, end: this.end, value, isOrdinal: this.#isOrdinal, isRoman: false };
  }
}
