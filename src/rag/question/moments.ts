// Recognises one moment in a text: a date, a time, an epoch second, a year, "yesterday", "3 days
// ago", "5 March 2024".

import {
  around,
  before,
  DAY_SECONDS,
  dayStart,
  type Stretch,
  startOfDay,
  unitOf,
  wholeDay,
  wholeMonth,
  wholeYear,
  zoneSeconds,
} from './calendar.ts';
import { countAt, freeWord, isWord, phraseAt, phrases, type Reading, type Word } from './words.ts';
import { writtenDate } from './written-dates.ts';

/**
 * A moment in a text. `first` and `last` are used if the moment is the bound of a window. A time of
 * day is a single second; if it is written without seconds, its `span` is the whole minute.
 */
export interface Moment extends Stretch {
  readonly kind: 'moment';
  /** The interval that the moment denotes when it is not used as a bound. */
  readonly span: Stretch;
  /** Index of the word after the moment. */
  readonly end: number;
  /**
   * Whether the moment is recognised anywhere. If false, it is recognised only after a word like
   * `since`.
   */
  readonly alone: boolean;
  /**
   * Whether the year or week is not stated. The latest year or week that has begun is assumed, but
   * another moment next to this one may show that a different one is meant.
   */
  readonly isOpen?: boolean;
}

/** A text that looks like a moment but is not valid. */
export interface NoMoment {
  readonly kind: 'none';
  readonly reason: string;
  readonly end: number;
}

/**
 * The words before a moment: none (`alone`), a word like `in` (`during`), a word like `since`
 * (`after`), or a word after which every integer is an epoch second (`seconds`).
 */
export type Place = 'alone' | 'during' | 'after' | 'seconds';

const SECONDS_WORDS = [
  'event_ts',
  'timestamp',
  'timestamps',
  'ts',
  'time',
  'times',
  'epoch',
  'epochs',
  'unix',
  'second',
  'seconds',
];
const LEADING = ['the', 'year', 'years', 'date', 'dates', 'day', 'month', 'week'];

/** Returns whether the words at an index show that the next value is in epoch seconds. */
export function saysSeconds(reading: Reading, at: number): boolean {
  return (
    isWord(reading, at, ...SECONDS_WORDS) || (isWord(reading, at, 'the') && isWord(reading, at + 1, ...SECONDS_WORDS))
  );
}

export function momentAt(reading: Reading, at: number, nowTs: number, place: Place): Moment | NoMoment | undefined {
  let begin = at;
  let meant = place;
  let isYear = false;
  if (place !== 'alone') {
    for (let steps = 0; steps < 3; steps++) {
      if (phraseAt(reading, begin, BEFORE_YESTERDAY) > 0) break;
      if (isWord(reading, begin, ...SECONDS_WORDS)) meant = 'seconds';
      else if (!isWord(reading, begin, ...LEADING)) break;
      isYear ||= isWord(reading, begin, 'year', 'years');
      begin++;
    }
  }
  const word = freeWord(reading, begin);
  if (word === undefined) return undefined;
  if (word.kind === 'date') return dateMoment(reading, begin, word);
  if (word.kind === 'time') return clockOfDay(reading, begin, nowTs);
  const named = namedDay(reading, begin, nowTs, meant);
  if (named !== undefined) return named;
  const ago = agoMoment(reading, begin, nowTs);
  if (ago !== undefined) return ago;
  const written = writtenMoment(reading, begin, nowTs, meant);
  if (written !== undefined) return written;
  return word.kind === 'number' ? numberMoment(reading, begin, word, isYear ? 'after' : meant, isYear) : undefined;
}

function moment(stretch: Stretch, end: number, alone: boolean, span: Stretch = stretch): Moment {
  return { kind: 'moment', first: stretch.first, last: stretch.last, span, end, alone };
}

function none(reason: string, end: number): NoMoment {
  return { kind: 'none', reason, end };
}

const DATE = /^(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:[tT ](.+))?$/u;
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)? ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?)?$/i;

function dateMoment(reading: Reading, at: number, word: Word): Moment | NoMoment {
  const [, year, month, day, clock] = DATE.exec(word.text)!;
  const end = at + 1;
  if (day === undefined) {
    const stretch = Number(month) >= 1 && Number(month) <= 12 ? wholeMonth(Number(year), Number(month)) : undefined;
    return stretch === undefined ? none('There is no such month.', end) : moment(stretch, end, true);
  }
  const first = dayStart(Number(year), Number(month), Number(day));
  if (first === undefined) return none('There is no such day.', end);
  if (clock !== undefined) return clockMoment(first, clock, end);
  return withClock(reading, first, end);
}

/** Reads the time of day that may follow a day. */
function withClock(reading: Reading, first: number, end: number): Moment | NoMoment {
  const at = isWord(reading, end, 'at') || freeWord(reading, end)?.text === ',' ? end + 1 : end;
  const time = freeWord(reading, at);
  if (time?.kind !== 'time') return moment(wholeDay(first), end, true);
  const half = isWord(reading, at + 1, 'am', 'pm') ? freeWord(reading, at + 1)!.lower : '';
  return clockMoment(first, time.text, half === '' ? at + 1 : at + 2, half);
}

/** Reads a time of day that its day follows: "10:00 on 2024-01-01". */
function clockOfDay(reading: Reading, at: number, nowTs: number): Moment | NoMoment | undefined {
  const next = isWord(reading, at + 1, 'am', 'pm') ? at + 2 : at + 1;
  if (!isWord(reading, next, 'on', 'of')) return undefined;
  const day = freeWord(reading, next + 1)?.kind === 'time' ? undefined : momentAt(reading, next + 1, nowTs, 'during');
  if (day?.kind !== 'moment' || day.last - day.first !== DAY_SECONDS - 1) return undefined;
  const clock = timeOfDay(reading, at, day.first);
  return { ...clock, end: day.end };
}

/** Reads the time of day at an index, where a word of the kind `time` is, on the given day. */
export function timeOfDay(reading: Reading, at: number, dayStart: number): Moment | NoMoment {
  return withClock(reading, dayStart, at);
}

function clockMoment(first: number, clock: string, end: number, half = ''): Moment | NoMoment {
  const parts = CLOCK.exec(clock.trim());
  if (parts === null) return none('There is no such time of day.', end);
  const [, hours, minutes, seconds, zone] = parts;
  let hour = Number(hours);
  if (half !== '' && (hour < 1 || hour > 12)) return none('There is no such time of day.', end);
  if (half !== '') hour = (hour % 12) + (half === 'pm' ? 12 : 0);
  const isEnd = hour === 24 && Number(minutes) === 0 && Number(seconds ?? 0) === 0;
  if ((hour > 23 && !isEnd) || Number(minutes) > 59 || Number(seconds ?? 0) > 59)
    return none('There is no such time of day.', end);
  const offset = zoneSeconds(zone);
  if (offset === undefined) return none('There is no such time zone.', end);
  const instant = first + hour * 3600 + Number(minutes) * 60 + Number(seconds ?? 0) - offset;
  return moment({ first: instant, last: instant }, end, true, spanOf(instant, seconds === undefined));
}

function spanOf(instant: number, isMinute: boolean): Stretch {
  return { first: instant, last: isMinute ? instant + 59 : instant };
}

export const BEFORE_YESTERDAY = phrases('day before yesterday');
const RELATIVE = ['last', 'past', 'previous', 'this', 'current'];

function namedDay(reading: Reading, at: number, nowTs: number, place: Place): Moment | NoMoment | undefined {
  const today = startOfDay(nowTs);
  if (isWord(reading, at, 'now') && place !== 'alone') return moment({ first: nowTs, last: nowTs }, at + 1, false);
  if (phraseAt(reading, at, BEFORE_YESTERDAY) > 0) return withClock(reading, today - 2 * DAY_SECONDS, at + 3);
  if (isWord(reading, at, 'today')) return withClock(reading, today, at + 1);
  if (isWord(reading, at, 'yesterday')) return withClock(reading, today - DAY_SECONDS, at + 1);
  if (isWord(reading, at, 'tomorrow')) return withClock(reading, today + DAY_SECONDS, at + 1);
  if (place === 'alone' || !isWord(reading, at, ...RELATIVE)) return undefined;
  const unit = unitOf(freeWord(reading, at + 1)?.lower ?? '');
  if (unit === undefined) return undefined;
  if (isWord(reading, at, 'this', 'current')) return moment(around(nowTs, unit), at + 2, false);
  const first = before(nowTs, 1, unit);
  return first === undefined ? undefined : moment({ first, last: nowTs }, at + 2, false);
}

/**
 * Reads "3 days ago". The `span` of the moment is the whole day for days and longer units. For
 * shorter units, `span` is one unit that begins at that time.
 */
function agoMoment(reading: Reading, at: number, nowTs: number): Moment | NoMoment | undefined {
  const count = isWord(reading, at, 'a', 'an') ? { value: 1, end: at + 1 } : countAt(reading, at);
  const unit = count && unitOf(freeWord(reading, count.end)?.lower ?? '');
  if (count === undefined || unit === undefined || !isWord(reading, count.end + 1, 'ago')) return undefined;
  const end = count.end + 2;
  const instant = Number.isInteger(count.value) ? before(nowTs, count.value, unit) : undefined;
  if (instant === undefined) return none('The number is not whole or is too large.', end);
  const isShort = unit === 'second' || unit === 'minute' || unit === 'hour';
  const seconds = unit === 'second' ? 1 : unit === 'minute' ? 60 : 3600;
  const span = isShort ? { first: instant, last: instant + seconds - 1 } : wholeDay(startOfDay(instant));
  return { kind: 'moment', first: instant, last: instant, span, end, alone: true };
}

const MONTH =
  /^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)$/;
const WEEKDAY = /^(mon(day)?|tue(s(day)?)?|wed(nesday)?|thu(rs?(day)?)?|fri(day)?|sat(urday)?|sun(day)?)$/;
const MOST_DATE_WORDS = 14;

/** Reads a date that contains the name of a month or a weekday. */
function writtenMoment(reading: Reading, from: number, nowTs: number, place: Place): Moment | NoMoment | undefined {
  const at = isWord(reading, from, 'the') ? from + 1 : from;
  const end = endOfDateWords(reading, at);
  const words = reading.words.slice(at, end);
  const hasMonth = words.some(({ lower }) => MONTH.test(lower));
  if (!hasMonth && !words.some(({ lower }) => WEEKDAY.test(lower))) return undefined;
  // A name alone is a date only after a word like `since`, because May, March, June and Sun have
  // other meanings too.
  if (place === 'alone' && !words.some(({ kind }) => kind === 'number') && !isWord(reading, at, 'last', 'this', 'next'))
    return undefined;
  if (reading.writtenDatesLeft-- <= 0) return undefined;
  const begin = words[0]!.start;
  const date = writtenDate(reading.text.slice(begin, words.at(-1)!.end), nowTs);
  if (date === undefined) return hasMonth && words.length > 1 ? none('There is no such day.', end) : undefined;
  let next = at;
  while (next < end && reading.words[next]!.end <= begin + date.end) next++;
  if (date.stretch === undefined || (!date.hasDay && isDayNumber(freeWord(reading, next)) && next < end))
    return none('There is no such day.', Math.max(next, end));
  const { isOpen } = date;
  if (!date.hasTime) return { ...moment(date.stretch, next, date.hasDay || words.length > 1), isOpen };
  const isMinute = !/\d:\d{2}:\d{2}/.test(reading.text.slice(begin, begin + date.end));
  return { ...moment(date.stretch, next, true, spanOf(date.stretch.first, isMinute)), isOpen };
}

/** Returns the end of the words, from an index on, that may belong to one written date. */
function endOfDateWords(reading: Reading, at: number): number {
  let end = at;
  while (end - at < MOST_DATE_WORDS && isDateWord(reading, at, end)) end++;
  while (end > at && /^(,|\.|of|the|at|on)$/.test(reading.words[end - 1]!.lower)) end--;
  return end;
}

function isDateWord(reading: Reading, begin: number, at: number): boolean {
  const word = freeWord(reading, at);
  if (word === undefined) return false;
  if (word.kind === 'time') return at > begin;
  if (word.kind === 'word') {
    if (MONTH.test(word.lower) || WEEKDAY.test(word.lower)) return true;
    if (at === begin)
      return /^(last|this|next)$/.test(word.lower) && WEEKDAY.test(freeWord(reading, at + 1)?.lower ?? '');
    return /^(of|the|at|on|am|pm|utc|gmt|st|nd|rd|th)$/.test(word.lower);
  }
  if (word.kind === 'sign') return at > begin && (word.text === ',' || word.text === '.');
  if (word.kind !== 'number' || !/^\d+$/.test(word.text)) return false;
  if (/^(am|pm)$/.test(freeWord(reading, at + 1)?.lower ?? '')) return at > begin;
  if (word.text.length === 4) return at > begin;
  return word.text.length <= 2 && isBesideMonth(reading, begin, at);
}

/** Returns whether a number that may be a day is next to the name of a month. */
function isBesideMonth(reading: Reading, begin: number, at: number): boolean {
  const skip = (place: number, step: 1 | -1): number => {
    let next = place + step;
    for (let steps = 0; steps < 3 && /^(st|nd|rd|th|of|the|\.)$/.test(freeWord(reading, next)?.lower ?? ''); steps++)
      next += step;
    return next;
  };
  const behind = skip(at, 1);
  if (MONTH.test(freeWord(reading, behind)?.lower ?? '')) return true;
  const ahead = skip(at, -1);
  return ahead >= begin && MONTH.test(freeWord(reading, ahead)?.lower ?? '');
}

function isDayNumber(word: Word | undefined): boolean {
  return word?.kind === 'number' && /^\d{1,2}$/.test(word.text);
}

/** Minimum number of digits in an epoch second after a word like `in`. */
const DIGITS_DURING = 5;
/** Minimum number of digits in an epoch second that stands alone. */
const DIGITS_ALONE = 9;
/** Maximum number of digits in an epoch second. */
const MOST_DIGITS = 11;
/**
 * Words that are not counted by a number before them. After `since`, a shorter number before such a
 * word is also read as an epoch second.
 */
const COUNTS_NOTHING =
  /^(and|or|to|until|till|before|after|since|in|on|at|of|for|with|where|which|that|having|node|nodes|top|latest|oldest|newest|first|last|by)$/;

function isShortSecond(next: Word | undefined): boolean {
  return next === undefined || next.kind !== 'word' || COUNTS_NOTHING.test(next.lower);
}

function numberMoment(
  reading: Reading,
  at: number,
  word: Word,
  place: Place,
  isYear: boolean,
): Moment | NoMoment | undefined {
  const end = at + 1;
  const next = freeWord(reading, end);
  // A number in 3pm, 5th or 24h is not a moment.
  if (next?.kind === 'word' && next.glued) return undefined;
  if (place === 'seconds' && /^[+-]?\d+$/.test(word.text)) {
    const ts = Number(word.text);
    return Number.isSafeInteger(ts)
      ? moment({ first: ts + 0, last: ts + 0 }, end, true)
      : none('An epoch second is an integer of at most 2^53-1.', end);
  }
  if (!/^\d+$/.test(word.text) || unitOf(next?.lower ?? '') !== undefined) return undefined;
  const digits = word.text.length;
  const value = Number(word.text);
  const isAfter = place !== 'alone';
  if (isAfter && digits === 4 && (isYear || (value >= 1900 && value < 2200)))
    return moment(wholeYear(value), end, false);
  if (isAfter && digits === 8) {
    const first = dayStart(Math.floor(value / 10_000), Math.floor(value / 100) % 100, value % 100);
    if (first !== undefined && value >= 19_000_000 && value < 22_000_000) return withClock(reading, first, end);
  }
  if (digits > MOST_DIGITS && digits <= 16 && (isAfter || digits === 13))
    return none('Times are whole epoch seconds, not milliseconds.', end);
  if (digits > MOST_DIGITS || digits < (isAfter ? DIGITS_DURING : DIGITS_ALONE))
    if (digits > MOST_DIGITS || place !== 'after' || !isShortSecond(next)) return undefined;
  return moment({ first: value, last: value }, end, digits >= DIGITS_ALONE);
}
