// Finds dates and times of day in a sentence, in the usual forms of many languages, and returns
// them as intervals of seconds.

import { finish, type Steps } from '../../schedule/steps.ts';
import { DAY_SECONDS, dayOf, type Stretch, wholeMonth, wholeYear, zoneSeconds } from '../question/calendar.ts';
import { type Bound, boundBefore, PAIR } from './comparators.ts';
import { comparable } from './lookalikes.ts';
import { matchAt } from './scan.ts';

export interface TimeToken {
  start: number;
  end: number;
  kind: 'instant' | 'clock';
  /**
   * The possible intervals, in seconds since 1970 for an `instant`, or since midnight for a
   * `clock`. There are several if the year, or the order of day and month, is ambiguous.
   */
  readings: Stretch[];
  bound: Bound;
  /** The other end of the period, if the bound is `between`. */
  other?: TimeToken;
}

const ZONE = '\\s*(z\\b|utc|gmt|[+-]\\d{2}:?\\d{2}(?!\\d))?';
const CLOCK_FORMS = [
  new RegExp(`(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,]\\d{1,9})?)?(?!\\d)(?:\\s*([ap])\\.?m\\b\\.?)?${ZONE}`, 'iy'),
  new RegExp(`(\\d{1,2})\\s?h\\s?(\\d{2})(?:\\s?min\\s?(\\d{2}))?(?![\\p{L}\\d])()${ZONE}`, 'iuy'),
  /(\d{1,2})\s*[时時点點시]\s*(?:(\d{1,2})\s*[分분]\s*(?:(\d{1,2})\s*[秒초])?)?()()/iuy,
  new RegExp(`(\\d{1,2})()()\\s*([ap])\\.?m\\b\\.?${ZONE}`, 'iy'),
  /(\d{1,2})(?:\s*uhr(?:\s*(\d{2})(?!\d))?)()()()/iy,
];
const BEFORE_CLOCK = /(?:\s*[t,]\s*|\s+)?(?:(?:at|um|à|a las|alle|в|om|às|の|klo|kl)\.?\s+)?/iy;
const CLOCK_START = /(?<![\d.,:/-])\d{1,2}(?=:\d{2}|\s?h\s?\d{2}|\s*[时時点點시]|\s*[ap]\.?m\b|\s*uhr)/giu;
const MONTH_WORD = /[\p{L}\p{M}]{2,15}/gu;

type Readings = readonly (Stretch | undefined)[];
type Form = readonly [RegExp, (match: RegExpExecArray, years: readonly number[]) => Readings | undefined];

/**
 * Forms of dates in digits. Each is a pattern, and a function that returns the possible readings of
 * a match, or undefined if the match is not a date.
 */
const FORMS: readonly Form[] = [
  [
    /(?<!\d)(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z?(?![\dA-Z])/gi,
    ([, y, m, d, hour, minute, second]) => [secondAt(Date.UTC(+y!, +m! - 1, +d!, +hour!, +minute!, +second!) / 1000)],
  ],
  [/(?<![\d.,:/-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/g, ([, y, , m, d]) => [dayOf(+y!, +m!, +d!)]],
  [
    /(?<![\d.,:/-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d:])/g,
    ([, a, , b, y]) => {
      const year = y!.length === 2 ? 2000 + Number(y) : Number(y);
      return [dayOf(year, +b!, +a!), dayOf(year, +a!, +b!)];
    },
  ],
  [/(?<![\d.,:/-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\d-])/g, ([, y, m]) => [wholeMonth(+y!, +m!)]],
  [
    /(?:(\d{4})\s*[年년]\s*)?(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日号號일])?/gu,
    ([, y, m, d], years) => (y === undefined ? years : [+y]).map((year) => dayOrMonth(year, +m!, d)),
  ],
  [
    /\bq([1-4])\s*(?:of\s*)?(\d{4})\b/gi,
    ([, q, y]) => [{ first: wholeMonth(+y!, 3 * +q! - 2)!.first, last: wholeMonth(+y!, 3 * +q!)!.last }],
  ],
  [
    /(?<=\b(?:since|after|before|until|till|by|in|during|year|en|seit|im jahr|desde|в)\s)(\d{4})(?![\d.,:/-]*\d|\p{L}|\s*\p{L}*(?:nodes|members|events))/giu,
    ([, y]) => [wholeYear(+y!)],
  ],
  [
    /(?<![\d.,])\d{9,11}(?![\d]|[.,]\d)/g,
    ({ 0: epoch, index, input }) =>
      boundBefore(input, index) !== 'equal' ||
      PAIR.test(input.slice(Math.max(0, index - 6), index).replace(/^.*\d/, ''))
        ? [secondAt(+epoch)]
        : undefined,
  ],
];

/**
 * Returns the times in folded text, in order. A date without a year is read once for each of
 * `years`.
 */
export function timesIn(text: string, years: readonly number[]): TimeToken[] {
  const found = Array.from(datesIn(text, years), ({ start, end, readings }): TimeToken => {
    const known = readings.filter((reading) => reading !== undefined);
    const isDay = known.length > 0 && known.every(({ first, last }) => last - first === DAY_SECONDS - 1);
    const clock = isDay ? clockAt(text, end + matchAt(BEFORE_CLOCK, text, end)![0].length) : undefined;
    const exact = clock === undefined ? known : known.map(({ first }) => moved(clock, first));
    return { start, end: clock?.end ?? end, kind: 'instant', readings: exact, bound: 'equal' };
  });
  for (const { index: start } of text.matchAll(CLOCK_START)) {
    const clock = clockAt(text, start);
    if (clock !== undefined) found.push({ start, end: clock.end, kind: 'clock', readings: [clock], bound: 'equal' });
  }
  return withBounds(text, found);
}

interface Dated {
  start: number;
  end: number;
  readings: Readings;
}

function* datesIn(text: string, years: readonly number[]): Generator<Dated> {
  for (const [form, read] of FORMS) {
    for (const match of text.matchAll(form)) {
      const readings = read(match, years);
      if (readings !== undefined) yield { start: match.index, end: match.index + match[0].length, readings };
    }
  }
  for (const { 0: word, index } of text.matchAll(MONTH_WORD)) {
    const number = monthOf(word.toLowerCase());
    const dated = number === undefined ? undefined : namedMonth(text, index, word, number, years);
    if (dated !== undefined) yield dated;
  }
}

function secondAt(ts: number): Stretch {
  return { first: ts, last: ts };
}

function moved({ first, last }: Stretch, seconds: number): Stretch {
  return { first: first + seconds, last: last + seconds };
}

function dayOrMonth(year: number, month: number, day: string | undefined): Stretch | undefined {
  return day === undefined ? wholeMonth(year, month) : dayOf(year, month, +day);
}

const DAY_BEFORE = /(?<![\d.,:])(\d{1,2})(?:st|nd|rd|th|er|\.|º|ª|°|-?го)?\s*(?:(?:of|de|di|del|-)\s*)?$/iu;
const BEFORE_MONTH = /\b(?:in|during|of|early|late|mid|since|until|till|before|after|last)[\s-]$/i;

/** Reads the name of a month next to a day or a year, or an English one after a preposition. */
function namedMonth(
  text: string,
  at: number,
  word: string,
  month: number,
  years: readonly number[],
): Dated | undefined {
  const wordEnd = at + word.length;
  const ahead = text.slice(wordEnd, wordEnd + 24);
  const before = DAY_BEFORE.exec(text.slice(Math.max(0, at - 14), at));
  const after = before === null ? /^\.?\s*(\d{1,2})(?:st|nd|rd|th)?(?![\d:])/i.exec(ahead) : null;
  const day = (before ?? after)?.[1];
  const rest = ahead.slice(after?.[0].length ?? 0);
  const year = /^\.?,?[\s-]*(?:(?:of|de|del|г)\s+)?(\d{4})(?!\d)/i.exec(rest);
  const isAlone = day === undefined && year === null;
  // In "nodes 1 and 2 may meet", a verb follows.
  if (word === 'may' && before !== null && year === null && VERB_AFTER.test(ahead) && !AFTER_MONTH.test(ahead))
    return undefined;
  if (isAlone && !isMonthAlone(word, text.slice(Math.max(0, at - 8), at), ahead)) return undefined;
  return {
    start: at - (before?.[0].length ?? 0),
    end: wordEnd + (ahead.length - rest.length) + (year?.[0].length ?? 0),
    readings: (year === null ? years : [+year[1]!]).map((value) => dayOrMonth(value, month, day)),
  };
}

const PLAIN_MONTH = /^(?:january|february|april|june|july|september|october|november|december)$/;
const VERB_AFTER = /^\s+[a-z]+/;
const DURING = /\b(?:in|during)\s$/i;
/** Matches what may follow "in may" and "in march" if they are months. */
const AFTER_MONTH = /^\s*(?:$|[.,;:!?()[\]]|(?:and|or|on|at|by|with|when|while|but|because|as)\b)/i;

/**
 * Returns whether a name without day and year is a month. In lower case, `may`, `march` and
 * `august` are ordinary words too, and foreign names (`mars`) are not read.
 */
function isMonthAlone(word: string, before: string, after: string): boolean {
  if (!BEFORE_MONTH.test(before)) return false;
  if (/^[A-Z][a-z]+$/.test(word)) return true;
  const lower = word.toLowerCase();
  if (PLAIN_MONTH.test(lower)) return true;
  return /^(?:may|march|august)$/.test(lower) && DURING.test(before) && AFTER_MONTH.test(after);
}

function clockAt(text: string, at: number): (Stretch & { end: number }) | undefined {
  for (const form of CLOCK_FORMS) {
    const match = matchAt(form, text, at);
    if (match === null) continue;
    let hour = Number(match[1]);
    const half = match[4]?.toLowerCase();
    if (hour > 24 || (half && (hour === 0 || hour > 12))) return undefined;
    if (half) hour = (hour % 12) + (half === 'p' ? 12 : 0);
    const low = hour * 3600 + Number(match[2] || 0) * 60 + Number(match[3] || 0) - (zoneSeconds(match[5]) ?? 0);
    const length = match[3] ? 1 : match[2] ? 60 : 3600;
    return { first: low, last: low + length - 1, end: form.lastIndex };
  }
  return undefined;
}

/**
 * Returns the times in order and with their bounds. If two times overlap, the one that starts first
 * is kept; if both start at the same place, the longer one.
 */
function withBounds(text: string, found: TimeToken[]): TimeToken[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const tokens: TimeToken[] = [];
  for (const token of found) {
    const last = tokens.at(-1);
    if (last !== undefined && token.start < last.end) continue;
    token.bound = boundBefore(text, token.start);
    const gap = text.slice(last?.end, token.start);
    if (last?.bound === 'between' && last.kind === token.kind && gap.length < 16 && PAIR.test(gap)) {
      last.other = token;
      token.other = last;
      token.bound = 'between';
    }
    tokens.push(token);
  }
  for (const token of tokens) {
    // "from A" without an end means "since A".
    if (token.bound === 'between' && token.other === undefined) token.bound = 'since';
  }
  return tokens;
}

/** Widely spoken languages. The names of their months come from the platform (`Intl`). */
const LANGUAGES =
  'en de fr es pt it nl sv da nb fi pl cs sk hu ro bg uk ru el tr ar ar-LB fa he hi bn mr ta te ur id ms vi th sw ca hr sr sl lt lv et'.split(
    ' ',
  );

let months: Map<string, number> | undefined;
let loadingMonths: Steps<void> | undefined;

/**
 * Loads the names of months, one language a step, because the platform needs milliseconds for each.
 * If this has not been done or is not complete, `monthOf` loads all of the rest at once.
 */
export function* loadMonths(): Steps<void> {
  while (months === undefined) {
    loadingMonths ??= readMonths();
    if (loadingMonths.next().done === true) loadingMonths = undefined;
    else yield;
  }
}

function* readMonths(): Steps<void> {
  const names: [string, number][] = [];
  // The platform makes a list of locales for each kind of format: 11 ms for the first list that it
  // makes, 3 ms for each of the others. It loads further data when dates are first formatted.
  Intl.Collator.supportedLocalesOf('en');
  yield;
  Intl.NumberFormat.supportedLocalesOf('en');
  yield;
  Intl.DateTimeFormat.supportedLocalesOf('en');
  yield;
  const first = new Intl.DateTimeFormat('en', { timeZone: 'UTC' });
  yield;
  first.format(0);
  yield;
  for (const language of LANGUAGES) {
    names.push(...namesOfMonths(language));
    yield;
  }
  // The first language that has a name decides what it means.
  months = new Map([...names.reverse(), ['sept', 9]]);
}

/**
 * Returns the number, 1 to 12, of the month with this name, or undefined if no month has this name.
 * `word` must be normalised by `comparable`.
 */
export function monthOf(word: string): number | undefined {
  finish(loadMonths());
  return months!.get(word.replace(/\.$/, ''));
}

function namesOfMonths(language: string): [string, number][] {
  // Many languages inflect the name of a month next to its day, so both forms are included.
  const forms = (['long', 'short'] as const).flatMap((month) => [
    { month },
    { month, day: 'numeric', year: 'numeric' } as const,
  ]);
  return forms.flatMap((form) => {
    const format = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC', calendar: 'gregory' });
    return Array.from({ length: 12 }, (_, index): [string, number] => {
      const parts = format.formatToParts(Date.UTC(2023, index, 14));
      return [comparable(parts.find(({ type }) => type === 'month')?.value ?? '').replace(/\.$/, ''), index + 1];
    }).filter(([name]) => /^[\p{L}\p{M}]{2,}$/u.test(name));
  });
}
