// Finds dates and times of day in a sentence, in the usual forms of many languages, as stretches of seconds.

import { type Bound, boundBefore, PAIR } from './comparators.ts';
import { monthOf } from './month-names.ts';

/** Seconds, `high` not included: since 1970 for an instant, since midnight for a clock time. */
export interface Stretch {
  low: number;
  high: number;
}

export interface TimeToken {
  start: number;
  end: number;
  kind: 'instant' | 'clock';
  /** More than one where the order of day and month, or the year, is open. */
  readings: Stretch[];
  bound: Bound;
  /** The other end when it is `between`. */
  other?: TimeToken;
}

interface Clock {
  low: number;
  high: number;
  /** Seconds to take off for UTC. */
  shift: number;
  end: number;
}

const DAY = 86_400;
const ZONE = '\\s*(z\\b|utc|gmt|[+-]\\d{2}:?\\d{2}(?!\\d))?';
const CLOCK_FORMS = [
  new RegExp(`(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,]\\d{1,9})?)?(?!\\d)(?:\\s*([ap])\\.?m\\b\\.?)?${ZONE}`, 'iy'),
  new RegExp(`(\\d{1,2})\\s?h\\s?(\\d{2})(?:\\s?min\\s?(\\d{2}))?(?![\\p{L}\\d])()${ZONE}`, 'iuy'),
  /(\d{1,2})\s*[时時点點시]\s*(?:(\d{1,2})\s*[分분]\s*(?:(\d{1,2})\s*[秒초])?)?()()/iuy,
  new RegExp(`(\\d{1,2})()()\\s*([ap])\\.?m\\b\\.?${ZONE}`, 'iy'),
  /(\d{1,2})(?:\s*uhr(?:\s*(\d{2})(?!\d))?)()()()/iy,
];
const BEFORE_CLOCK = /(?:\s*[t,]\s*|\s+)?(?:(?:at|um|à|a las|alle|в|om|às|の|klo|kl)\.?\s+)?/iy;
const YEAR_FIRST = /(?<![\d.,:/-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/g;
const COMPACT = /(?<!\d)(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z?(?![\dA-Z])/gi;
const YEAR_LAST = /(?<![\d.,:/-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d:])/g;
const YEAR_MONTH = /(?<![\d.,:/-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\d-])/g;
const SIGNS = /(?:(\d{4})\s*[年년]\s*)?(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日号號일])?/gu;
const QUARTER = /\bq([1-4])\s*(?:of\s*)?(\d{4})\b/gi;
const YEAR =
  /(?<=\b(?:since|after|before|until|till|by|in|during|year|en|seit|im jahr|desde|в)\s)(\d{4})(?![\d.,:/-]*\d|\p{L}|\s*\p{L}*(?:nodes|members|events))/giu;
const EPOCH = /(?<![\d.,])\d{9,11}(?![\d]|[.,]\d)/g;
const CLOCK_START = /(?<![\d.,:/-])\d{1,2}(?=:\d{2}|\s?h\s?\d{2}|\s*[时時点點시]|\s*[ap]\.?m\b|\s*uhr)/giu;
const MONTH_WORD = /[\p{L}\p{M}]{2,15}/gu;

/** Times of `text` (folded), in order, not overlapping. `years`: those a date without a year may mean. */
export function timesIn(text: string, years: readonly number[]): TimeToken[] {
  if (!/\d|january|february|march|april|may|june|july|august|september|october|november|december/i.test(text))
    return [];
  const found: TimeToken[] = [];
  const add = (start: number, end: number, readings: (Stretch | undefined)[]) => {
    const known = readings.filter((reading) => reading !== undefined);
    const isDay = known.length > 0 && known.every(({ low, high }) => high - low === DAY);
    const clock = isDay ? clockAfter(text, end) : undefined;
    const exact =
      clock === undefined
        ? known
        : known.map(({ low }) => ({ low: low + clock.low - clock.shift, high: low + clock.high - clock.shift }));
    found.push({ start, end: clock?.end ?? end, kind: 'instant', readings: exact, bound: 'equal' });
  };
  for (const m of text.matchAll(COMPACT)) addSecond(found, m);
  for (const m of text.matchAll(YEAR_FIRST)) add(m.index, m.index + m[0].length, [day(+m[1]!, +m[3]!, +m[4]!)]);
  for (const m of text.matchAll(YEAR_LAST)) {
    const year = m[4]!.length === 2 ? 2000 + Number(m[4]) : Number(m[4]);
    add(m.index, m.index + m[0].length, [day(year, +m[3]!, +m[1]!), day(year, +m[1]!, +m[3]!)]);
  }
  for (const m of text.matchAll(YEAR_MONTH)) add(m.index, m.index + m[0].length, [month(+m[1]!, +m[2]!)]);
  for (const m of text.matchAll(SIGNS)) {
    const of = (year: number) => (m[3] === undefined ? month(year, +m[2]!) : day(year, +m[2]!, +m[3]));
    add(m.index, m.index + m[0].length, m[1] === undefined ? years.map(of) : [of(+m[1])]);
  }
  for (const m of text.matchAll(QUARTER)) {
    const first = month(+m[2]!, 3 * +m[1]! - 2);
    add(m.index, m.index + m[0].length, [first && { low: first.low, high: month(+m[2]!, 3 * +m[1]!)!.high }]);
  }
  for (const m of text.matchAll(MONTH_WORD)) namedMonth(text, m.index, m[0], years, add);
  for (const m of text.matchAll(YEAR))
    add(m.index, m.index + 4, [{ low: Date.UTC(+m[1]!, 0) / 1000, high: Date.UTC(+m[1]! + 1, 0) / 1000 }]);
  for (const m of text.matchAll(EPOCH)) {
    if (
      boundBefore(text, m.index) !== 'equal' ||
      PAIR.test(text.slice(Math.max(0, m.index - 6), m.index).replace(/^.*\d/, ''))
    ) {
      add(m.index, m.index + m[0].length, [{ low: +m[0], high: +m[0] + 1 }]);
    }
  }
  for (const m of text.matchAll(CLOCK_START)) {
    const clock = clockAt(text, m.index);
    if (clock !== undefined) {
      const low = clock.low - clock.shift;
      found.push({
        start: m.index,
        end: clock.end,
        kind: 'clock',
        readings: [{ low, high: low + clock.high - clock.low }],
        bound: 'equal',
      });
    }
  }
  return withBounds(text, found);
}

function addSecond(found: TimeToken[], m: RegExpExecArray): void {
  const low = Date.UTC(+m[1]!, +m[2]! - 1, +m[3]!, +m[4]!, +m[5]!, +m[6]!) / 1000;
  found.push({
    start: m.index,
    end: m.index + m[0].length,
    kind: 'instant',
    readings: [{ low, high: low + 1 }],
    bound: 'equal',
  });
}

function day(year: number, monthNumber: number, dayNumber: number): Stretch | undefined {
  const low = Date.UTC(year, monthNumber - 1, dayNumber);
  if (new Date(low).getUTCMonth() !== monthNumber - 1 || dayNumber === 0) return undefined;
  return { low: low / 1000, high: low / 1000 + DAY };
}

function month(year: number, number: number): Stretch | undefined {
  if (number < 1 || number > 12) return undefined;
  return { low: Date.UTC(year, number - 1) / 1000, high: Date.UTC(year, number) / 1000 };
}

/** A day or a year beside the name of a month; in English the name alone after a preposition. */
function namedMonth(
  text: string,
  at: number,
  word: string,
  years: readonly number[],
  add: (start: number, end: number, readings: (Stretch | undefined)[]) => void,
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
  if (dayNumber === undefined && year === null) {
    if (
      !/^[A-Z][a-z]+$/.test(word) ||
      !/\b(?:in|during|of|early|late|mid|since|until|till|before|after|last)[\s-]$/i.test(
        text.slice(Math.max(0, at - 8), at),
      )
    )
      return;
  }
  const start = before === null ? at : at - before[0].length;
  const end = wordEnd + (ahead.length - rest.length) + (year?.[0].length ?? 0);
  const of = (value: number) => (dayNumber === undefined ? month(value, number) : day(value, number, +dayNumber));
  add(start, end, year === null ? years.map(of) : [of(+year[1]!)]);
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

/** In order, the earlier and longer of two that overlap, with their bounds. */
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
    // "from A" without an end is "since A"; an "and" that opened nothing bounds nothing.
    if (token.bound === 'between' && token.other === undefined) token.bound = 'since';
  }
  return tokens;
}
