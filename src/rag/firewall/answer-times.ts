// Finds dates and times of day in a sentence, in the usual forms of many languages, as intervals of
// seconds.

import { DAY_SECONDS, dayStart, wholeMonth } from '../question/calendar.ts';
import { type Bound, boundBefore, PAIR } from './comparators.ts';
import { monthOf } from './month-names.ts';

/**
 * An interval in seconds, `high` excluded: since 1970 for an instant, since midnight for a time of
 * day.
 */
export interface Stretch {
  low: number;
  high: number;
}

export interface TimeToken {
  start: number;
  end: number;
  kind: 'instant' | 'clock';
  /** More than one if the order of day and month, or the year, is ambiguous. */
  readings: Stretch[];
  bound: Bound;
  /** The other end, for `between`. */
  other?: TimeToken;
}

interface Clock {
  low: number;
  high: number;
  /** Seconds to subtract to get UTC. */
  shift: number;
  end: number;
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

/** Dates in digits with their possible readings; undefined if the match is not a date. */
const FORMS: readonly Form[] = [
  [
    /(?<!\d)(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z?(?![\dA-Z])/gi,
    ([, y, m, d, hour, minute, second]) => [seconds(Date.UTC(+y!, +m! - 1, +d!, +hour!, +minute!, +second!) / 1000)],
  ],
  [/(?<![\d.,:/-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/g, ([, y, , m, d]) => [day(+y!, +m!, +d!)]],
  [
    /(?<![\d.,:/-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d:])/g,
    ([, a, , b, y]) => {
      const year = y!.length === 2 ? 2000 + Number(y) : Number(y);
      return [day(year, +b!, +a!), day(year, +a!, +b!)];
    },
  ],
  [/(?<![\d.,:/-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\d-])/g, ([, y, m]) => [month(+y!, +m!)]],
  [
    /(?:(\d{4})\s*[年년]\s*)?(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日号號일])?/gu,
    ([, y, m, d], years) => (y === undefined ? years : [+y]).map((year) => dayOrMonth(year, +m!, d)),
  ],
  [
    /\bq([1-4])\s*(?:of\s*)?(\d{4})\b/gi,
    ([, q, y]) => [{ low: month(+y!, 3 * +q! - 2)!.low, high: month(+y!, 3 * +q!)!.high }],
  ],
  [
    /(?<=\b(?:since|after|before|until|till|by|in|during|year|en|seit|im jahr|desde|в)\s)(\d{4})(?![\d.,:/-]*\d|\p{L}|\s*\p{L}*(?:nodes|members|events))/giu,
    ([, y]) => [{ low: month(+y!, 1)!.low, high: month(+y!, 12)!.high }],
  ],
  [
    /(?<![\d.,])\d{9,11}(?![\d]|[.,]\d)/g,
    ({ 0: epoch, index, input }) =>
      boundBefore(input, index) !== 'equal' ||
      PAIR.test(input.slice(Math.max(0, index - 6), index).replace(/^.*\d/, ''))
        ? [seconds(+epoch)]
        : undefined,
  ],
];

/**
 * The times in `text` (folded), in order and without overlaps. `years`: the years that a date
 * without one may mean.
 */
export function timesIn(text: string, years: readonly number[]): TimeToken[] {
  if (!/\d|january|february|march|april|may|june|july|august|september|october|november|december/i.test(text))
    return [];
  const found: TimeToken[] = [];
  const add = (start: number, end: number, readings: Readings) => {
    const known = readings.filter((reading) => reading !== undefined);
    const isDay = known.length > 0 && known.every(({ low, high }) => high - low === DAY_SECONDS);
    const clock = isDay ? clockAfter(text, end) : undefined;
    const exact = clock === undefined ? known : known.map(({ low }) => ofDay(low, clock));
    found.push({ start, end: clock?.end ?? end, kind: 'instant', readings: exact, bound: 'equal' });
  };
  for (const [form, read] of FORMS) {
    for (const match of text.matchAll(form)) {
      const readings = read(match, years);
      if (readings !== undefined) add(match.index, match.index + match[0].length, readings);
    }
  }
  for (const m of text.matchAll(MONTH_WORD)) namedMonth(text, m.index, m[0], years, add);
  for (const { index: start } of text.matchAll(CLOCK_START)) {
    const clock = clockAt(text, start);
    if (clock !== undefined)
      found.push({ start, end: clock.end, kind: 'clock', readings: [ofDay(0, clock)], bound: 'equal' });
  }
  return withBounds(text, found);
}

function ofDay(start: number, { low, high, shift }: Clock): Stretch {
  return { low: start + low - shift, high: start + high - shift };
}

function seconds(low: number): Stretch {
  return { low, high: low + 1 };
}

function day(year: number, monthNumber: number, dayNumber: number): Stretch | undefined {
  const low = dayStart(year, monthNumber, dayNumber);
  return low === undefined ? undefined : { low, high: low + DAY_SECONDS };
}

function month(year: number, number: number): Stretch | undefined {
  const whole = wholeMonth(year, number);
  return whole && { low: whole.first, high: whole.last + 1 };
}

function dayOrMonth(year: number, number: number, dayNumber: string | undefined): Stretch | undefined {
  return dayNumber === undefined ? month(year, number) : day(year, number, +dayNumber);
}

const BEFORE_MONTH = /\b(?:in|during|of|early|late|mid|since|until|till|before|after|last)[\s-]$/i;

/**
 * A month name with a day or a year next to it; an English one may also stand alone after a
 * preposition.
 */
function namedMonth(
  text: string,
  at: number,
  word: string,
  years: readonly number[],
  add: (start: number, end: number, readings: Readings) => void,
): void {
  const number = monthOf(word.toLowerCase());
  if (number === undefined) return;
  const wordEnd = at + word.length;
  const ahead = text.slice(wordEnd, wordEnd + 24);
  const before = /(?<![\d.,:])(\d{1,2})(?:st|nd|rd|th|er|\.|º|ª|°|-?го)?\s*(?:(?:of|de|di|del|-)\s*)?$/iu.exec(
    text.slice(Math.max(0, at - 14), at),
  );
  const after = /^\.?\s*(\d{1,2})(?:st|nd|rd|th)?(?![\d:])/i.exec(ahead);
  const dayNumber = before?.[1] ?? after?.[1];
  const rest = before === null && after !== null ? ahead.slice(after[0].length) : ahead;
  const year = /^\.?,?[\s-]*(?:(?:of|de|del|г)\s+)?(\d{4})(?!\d)/i.exec(rest);
  const isAlone = dayNumber === undefined && year === null;
  if (isAlone && !(/^[A-Z][a-z]+$/.test(word) && BEFORE_MONTH.test(text.slice(Math.max(0, at - 8), at)))) return;
  const start = before === null ? at : at - before[0].length;
  const end = wordEnd + (ahead.length - rest.length) + (year?.[0].length ?? 0);
  add(
    start,
    end,
    (year === null ? years : [+year[1]!]).map((value) => dayOrMonth(value, number, dayNumber)),
  );
}

function clockAfter(text: string, end: number): Clock | undefined {
  BEFORE_CLOCK.lastIndex = end;
  return BEFORE_CLOCK.test(text) ? clockAt(text, BEFORE_CLOCK.lastIndex) : undefined;
}

function clockAt(text: string, at: number): Clock | undefined {
  for (const form of CLOCK_FORMS) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (match === null) continue;
    let hour = Number(match[1]);
    const half = match[4]?.toLowerCase();
    if (hour > 24 || (half && (hour === 0 || hour > 12))) return undefined;
    if (half) hour = (hour % 12) + (half === 'p' ? 12 : 0);
    const low = hour * 3600 + Number(match[2] || 0) * 60 + Number(match[3] || 0);
    const length = match[3] ? 1 : match[2] ? 60 : 3600;
    return { low, high: low + length, shift: shiftOf(match[5]), end: form.lastIndex };
  }
  return undefined;
}

function shiftOf(zone: string | undefined): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  return match === null ? 0 : (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 3600 + Number(match[3]) * 60);
}

/** In order and with their bounds; of two that overlap, the earlier and longer one is kept. */
function withBounds(text: string, found: TimeToken[]): TimeToken[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const tokens: TimeToken[] = [];
  for (const token of found) {
    const last = tokens.at(-1);
    if (last !== undefined && token.start < last.end) continue;
    token.bound = boundBefore(text, token.start);
    const gap = last === undefined ? '' : text.slice(last.end, token.start);
    if (
      last !== undefined &&
      gap.length < 16 &&
      last.kind === token.kind &&
      last.bound === 'between' &&
      PAIR.test(gap)
    ) {
      last.other = token;
      token.other = last;
      token.bound = 'between';
    }
    tokens.push(token);
  }
  for (const token of tokens) {
    // "from A" without an end means "since A"; an "and" that closes no pair bounds nothing.
    if (token.bound === 'between' && token.other === undefined) token.bound = 'since';
  }
  return tokens;
}
