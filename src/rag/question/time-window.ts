// Recognises the time window in a text, such as "between A and B", "since A", "last 3 days" and "in
// March 2024". If there are several such parts, the window is their intersection. A part with two
// ends that does not overlap the window so far is put aside.

import type { Steps } from '../../schedule/steps.ts';
import { around, before, DAY_SECONDS, dayStart, unitOf, wholeDay } from './calendar.ts';
import { clockRange } from './clock-range.ts';
import { BEFORE_YESTERDAY, type Moment, momentAt, type NoMoment, type Place, saysSeconds } from './moments.ts';
import type { QuestionWindow } from './question.ts';
import {
  countAt,
  freeWord,
  isWord,
  type Phrases,
  phraseAt,
  phrases,
  putAside,
  type Reading,
  take,
  writtenAt,
} from './words.ts';

interface Bounds {
  start: number | null;
  end: number | null;
}

/** The time window that a text states. */
export interface SaidWindow {
  readonly window: QuestionWindow | null;
  /** The window without the parts that are relative or have no year. */
  readonly fixed: QuestionWindow | null;
  /** The parts that are relative or have no year, as written. */
  readonly relative: readonly string[];
}

/**
 * Seconds by which "now" is moved back to find out whether a part depends on it. At that time,
 * every part that is relative or has no year denotes another time.
 */
const OTHER_NOW_SECONDS = 3 * 366 * 86_400 + 12_345;

/** Number of words that are looked at in one step. */
const WORDS_A_STEP = 64;

/**
 * Reads all parts and marks their words as taken. Parts that are relative or have no year are
 * resolved against `nowTs`. A step ends after some words, and after each part: a written date takes
 * a millisecond or more.
 */
export function* readWindow(reading: Reading, nowTs: number): Steps<SaidWindow> {
  let window: Bounds | null = null;
  let fixed: Bounds | null = null;
  const relative: string[] = [];
  // Phrases such as "since A" take precedence over moments that stand alone.
  for (const readAt of [phraseBounds, loneBounds]) {
    for (let at = 0; at < reading.words.length; at++) {
      if (at % WORDS_A_STEP === WORDS_A_STEP - 1) yield undefined;
      if (freeWord(reading, at) === undefined) continue;
      const { writtenDatesLeft } = reading;
      const found = readAt(reading, at, nowTs);
      if (found !== undefined || reading.writtenDatesLeft !== writtenDatesLeft) yield undefined;
      if (found === undefined) continue;
      if ('reason' in found) {
        putAside(reading, at, found.end, found.reason);
        continue;
      }
      const joined: Bounds = window === null ? found : joinedBounds(window, found);
      const isWhole = found.start !== null && found.end !== null;
      if (window !== null && isWhole && isEmpty(joined) && !isEmpty(window)) {
        putAside(reading, at, found.stop, 'A question has one window of time; the first one counts.');
        continue;
      }
      window = joined;
      if (isRelative(reading, readAt, at, nowTs, found)) relative.push(writtenAt(reading, at, found.stop));
      else fixed = fixed === null ? found : joinedBounds(fixed, found);
      take(reading, at, found.stop);
    }
  }
  return { window: asWindow(window), fixed: asWindow(fixed), relative };
}

function asWindow(bounds: Bounds | null): QuestionWindow | null {
  return bounds === null ? null : { start_ts: bounds.start, end_ts: bounds.end };
}

/** Returns whether a part would mean another time if the question was asked at another time. */
function isRelative(
  reading: Reading,
  readAt: typeof phraseBounds,
  at: number,
  nowTs: number,
  { start, end }: Bounds,
): boolean {
  const { writtenDatesLeft } = reading;
  reading.writtenDatesLeft = Math.max(2, writtenDatesLeft);
  const other = readAt(reading, at, nowTs - OTHER_NOW_SECONDS);
  reading.writtenDatesLeft = writtenDatesLeft;
  return other === undefined || 'reason' in other || other.start !== start || other.end !== end;
}

interface Found extends Bounds {
  /** Index of the word after the part. */
  readonly stop: number;
}

type Part = Found | NoMoment | undefined;

function joinedBounds(a: Bounds, b: Bounds): Bounds {
  return {
    start: a.start === null ? b.start : b.start === null ? a.start : Math.max(a.start, b.start),
    end: a.end === null ? b.end : b.end === null ? a.end : Math.min(a.end, b.end),
  };
}

function isEmpty({ start, end }: Bounds): boolean {
  return start !== null && end !== null && start > end;
}

const SINCE = phrases(
  'since',
  'on or after',
  'at or after',
  'starting on',
  'starting from',
  'starting at',
  'starting in',
  'starting',
  'beginning',
  'no earlier than',
  'not before',
);
const AFTER = phrases('after', 'later than', 'newer than');
const BEFORE = phrases('before', 'prior to', 'earlier than', 'older than');
const UNTIL = phrases(
  'on or before',
  'at or before',
  'until',
  'till',
  'up to',
  'up until',
  'through',
  'no later than',
  'not later than',
  'not after',
  'ending',
  'by',
);
const DURING = phrases('on', 'in', 'during', 'at', 'for', 'of', 'within', 'from', 'the year', 'year');
const TO = phrases('to', 'until', 'till', 'through', 'thru', 'up to', '-', '..', '...', '/');
const BETWEEN = [...phrases('and', '&'), ...TO];
const ONWARDS = phrases('onwards', 'onward', 'on', 'and later', 'or later');
const CURRENT = phrases('this', 'current');
/** Words that may not refer to a time, as in `by 3` and `up to 3`. */
const WEAK = ['by', 'up', 'through', 'ending'];
const TIMES = ['event_ts', 'timestamp', 'ts', 'time'];

function phraseBounds(reading: Reading, at: number, nowTs: number): Part {
  return (
    compared(reading, at, nowTs) ??
    weekOf(reading, at, nowTs) ??
    clockRange(reading, at, nowTs) ??
    between(reading, at, nowTs) ??
    fromTo(reading, at, nowTs) ??
    lastUnits(reading, at, nowTs) ??
    oneSided(reading, at, nowTs)
  );
}

/** Reads `event_ts >= A` and `event_ts between A and B`. */
function compared(reading: Reading, at: number, nowTs: number): Part {
  if (!isWord(reading, at, ...TIMES)) return undefined;
  let sign = at + 1;
  if (isWord(reading, sign, 'is', 'was')) sign++;
  const range = between(reading, sign, nowTs, 'seconds');
  if (range !== undefined) return range;
  const op = freeWord(reading, sign)?.text;
  if (op === undefined || !['=', '==', ':', '<', '<=', '>', '>='].includes(op)) return undefined;
  const found = momentAt(reading, sign + 1, nowTs, 'seconds');
  if (found === undefined)
    return { kind: 'none', reason: 'A time is compared with a date or with an epoch second.', end: sign + 1 };
  if (found.kind === 'none') return found;
  const { first, last, end: stop } = found;
  if (op === '<') return { start: null, end: first - 1, stop };
  if (op === '<=') return { start: null, end: last, stop };
  if (op === '>') return { start: last + 1, end: null, stop };
  if (op === '>=') return { start: first, end: null, stop };
  return { start: found.span.first, end: found.span.last, stop };
}

function between(reading: Reading, at: number, nowTs: number, place: Place = 'after'): Part {
  if (!isWord(reading, at, 'between')) return undefined;
  return range(reading, at + 1, nowTs, BETWEEN, place);
}

/**
 * Returns whether a range such as "1000 and 2000" is in epoch seconds. Two numbers are, if only one
 * of them looks like a year and at least one has fewer than five digits.
 */
function isMixed(reading: Reading, at: number, end: number, links: Phrases, nowTs: number): boolean {
  const next = end + phraseAt(reading, end, links);
  const [from, to] = [freeWord(reading, at), freeWord(reading, next)];
  if (end !== at + 1 || from?.kind !== 'number' || to?.kind !== 'number') return false;
  // A date such as 5 March 2001 begins with a number too.
  if (momentAt(reading, next, nowTs, 'after')?.end !== next + 1) return false;
  return isYear(from.text) !== isYear(to.text) && Math.min(from.text.length, to.text.length) < 5;
}

function isYear(text: string): boolean {
  return /^(19|20|21)\d\d$/.test(text);
}

const ORDINALS = ['st', 'nd', 'rd', 'th'];
const WEEK_OF = phrases(
  'week of',
  'week from',
  'week beginning',
  'week beginning on',
  'week starting',
  'week starting on',
);

/** Reads "the week of 1 April 2024", which is from Monday to Sunday. */
function weekOf(reading: Reading, at: number, nowTs: number): Part {
  const words = phraseAt(reading, at, WEEK_OF);
  if (words === 0) return undefined;
  const found = momentAt(reading, at + words, nowTs, 'after');
  if (found === undefined || found.kind === 'none') return found;
  const { first, last } = around(found.first, 'week');
  return { start: first, end: last, stop: found.end };
}

/** Reads a number that can be a day of a month. `end` is the index after it. */
function bareDay(reading: Reading, at: number): { day: number; end: number } | undefined {
  const word = freeWord(reading, at);
  const day = Number(word?.text);
  if (word?.kind !== 'number' || !/^\d{1,2}$/.test(word.text) || day < 1 || day > 31) return undefined;
  return { day, end: isWord(reading, at + 1, ...ORDINALS) ? at + 2 : at + 1 };
}

/**
 * Reads "1 to 7 April 2024" and "April 1 to 7, 2024", in which one of the two days has no month.
 */
function daysOfMonth(reading: Reading, at: number, nowTs: number, links: Phrases, place: Place): Part {
  const first = bareDay(reading, at);
  if (first !== undefined) {
    const link = phraseAt(reading, first.end, links);
    const to = link === 0 ? undefined : oneDay(momentAt(reading, first.end + link, nowTs, place));
    if (to === undefined || bareDay(reading, first.end + link)?.end === to.end) return undefined;
    return daysBetween(to, undefined, first.day, to.day, to.end);
  }
  const from = oneDay(momentAt(reading, at, nowTs, place));
  const link = from === undefined ? 0 : phraseAt(reading, from.end, links);
  const last = link === 0 ? undefined : bareDay(reading, from!.end + link);
  if (last === undefined || momentAt(reading, from!.end + link, nowTs, 'alone') !== undefined) return undefined;
  const comma = freeWord(reading, last.end)?.text === ',' ? last.end + 1 : last.end;
  const year = freeWord(reading, comma);
  const isWritten = year?.kind === 'number' && isYear(year.text);
  return daysBetween(
    from!,
    isWritten ? Number(year.text) : undefined,
    from!.day,
    last.day,
    isWritten ? comma + 1 : last.end,
  );
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly end: number;
}

/** Returns the day that contains a moment, or undefined if the moment is longer than a day. */
function oneDay(found: Moment | NoMoment | undefined): Day | undefined {
  if (found?.kind !== 'moment' || found.last - found.first >= DAY_SECONDS) return undefined;
  const date = new Date(found.first * 1000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), end: found.end };
}

function daysBetween({ year, month }: Day, written: number | undefined, from: number, to: number, stop: number): Part {
  const [a, b] = [dayStart(written ?? year, month, from), dayStart(written ?? year, month, to)];
  if (a === undefined || b === undefined) return { kind: 'none', reason: 'There is no such day.', end: stop };
  return { start: Math.min(a, b), end: wholeDay(Math.max(a, b)).last, stop };
}

/**
 * Reads two moments joined by a word such as `to`. If they are in the wrong order, they are
 * swapped.
 */
function range(reading: Reading, at: number, nowTs: number, links: Phrases, place: Place): Part {
  const days = place === 'seconds' ? undefined : daysOfMonth(reading, at, nowTs, links, place);
  if (days !== undefined) return days;
  const from = momentAt(reading, at, nowTs, place);
  if (from === undefined) return undefined;
  if (place === 'after' && isMixed(reading, at, from.end, links, nowTs))
    return range(reading, at, nowTs, links, 'seconds');
  const link = phraseAt(reading, from.end, links);
  if (link === 0) return undefined;
  const to = momentAt(
    reading,
    from.end + link,
    nowTs,
    place === 'alone' ? 'after' : saysSeconds(reading, at) ? 'seconds' : place,
  );
  if (to === undefined) return undefined;
  const wrong = [from, to].find((each) => each.kind === 'none') as NoMoment | undefined;
  if (wrong !== undefined) return { ...wrong, end: to.end };
  const b = to as Moment;
  // In "from January to March 2024", January is in 2024. In "from Monday to Friday", Monday is
  // before Friday.
  const again = (from as Moment).isOpen === true ? momentAt(reading, at, b.last, place) : from;
  const a = again?.kind === 'moment' ? again : (from as Moment);
  return { start: Math.min(a.first, b.first), end: Math.max(a.last, b.last), stop: to.end };
}

function fromTo(reading: Reading, at: number, nowTs: number): Part {
  if (!isWord(reading, at, 'from', 'since')) return undefined;
  const whole = range(reading, at + 1, nowTs, TO, 'after');
  if (whole !== undefined) return whole;
  const found = momentAt(reading, at + 1, nowTs, 'after');
  if (found === undefined || found.kind === 'none') return found;
  const onwards = phraseAt(reading, found.end, ONWARDS);
  // "from yesterday" and "from 2024-01-05" mean that day only, unless "onwards" follows.
  if (isWord(reading, at, 'since') || onwards > 0) return { start: found.first, end: null, stop: found.end + onwards };
  return { start: found.span.first, end: found.span.last, stop: found.end };
}

const LAST = phrases(
  'in the last',
  'in the past',
  'within the last',
  'during the last',
  'over the last',
  'for the last',
  'the last',
  'last',
  'past',
  'previous',
  'recent',
);

/**
 * Reads "last 3 days", "past hour" and "last 24h", which end now, and "this week", which also
 * includes the rest of the week.
 */
function lastUnits(reading: Reading, at: number, nowTs: number): Part {
  const current = phraseAt(reading, at, CURRENT);
  if (current > 0) {
    const unit = unitOf(freeWord(reading, at + current)?.lower ?? '');
    if (unit === undefined || (freeWord(reading, at + current)!.lower.length < 4 && unit !== 'day')) return undefined;
    const { first, last } = around(nowTs, unit);
    return { start: first, end: last, stop: at + current + 1 };
  }
  const last = phraseAt(reading, at, LAST);
  if (last === 0) return undefined;
  const count = countAt(reading, at + last) ?? { value: 1, end: at + last };
  const unit = unitOf(freeWord(reading, count.end)?.lower ?? '');
  if (unit === undefined) return undefined;
  const stop = count.end + 1;
  const start = Number.isInteger(count.value) ? before(nowTs, count.value, unit) : undefined;
  if (start === undefined) return { kind: 'none', reason: 'The number is not whole or is too large.', end: stop };
  return { start, end: nowTs, stop };
}

function oneSided(reading: Reading, at: number, nowTs: number): Part {
  const sides = [SINCE, AFTER, UNTIL, BEFORE, DURING];
  for (const side of sides) {
    const words = phraseAt(reading, at, side);
    if (words === 0 || isPartOfDate(reading, at)) continue;
    const place = side === DURING || isWord(reading, at, ...WEAK) ? 'during' : 'after';
    const found = momentAt(reading, at + words, nowTs, place) ?? ageMoment(reading, at + words, nowTs, side);
    if (found === undefined) continue;
    if (found.kind === 'none') return found;
    const { first, last, span, end: stop } = found;
    if (side === SINCE) return { start: first, end: null, stop };
    if (side === AFTER) return { start: last + 1, end: null, stop };
    if (side === BEFORE) return { start: null, end: first - 1, stop };
    if (side === UNTIL) return { start: null, end: last, stop };
    return { start: span.first, end: span.last, stop };
  }
  return undefined;
}

/** Returns whether the word is part of a date, as in "5th of March" or "day before yesterday". */
function isPartOfDate(reading: Reading, at: number): boolean {
  if (isWord(reading, at, 'before')) return phraseAt(reading, at - 1, BEFORE_YESTERDAY) > 0;
  const last = freeWord(reading, at - 1);
  return isWord(reading, at, 'of') && (last?.kind === 'number' || /^(st|nd|rd|th)$/.test(last?.lower ?? ''));
}

/** Reads the time in "older than 3 days", which is counted back from now. */
function ageMoment(reading: Reading, at: number, nowTs: number, side: Phrases): Moment | NoMoment | undefined {
  if ((side !== BEFORE && side !== AFTER) || !isWord(reading, at - 1, 'than')) return undefined;
  const count = isWord(reading, at, 'a', 'an') ? { value: 1, end: at + 1 } : countAt(reading, at);
  const unit = count && unitOf(freeWord(reading, count.end)?.lower ?? '');
  if (count === undefined || unit === undefined) return undefined;
  const instant = Number.isInteger(count.value) ? before(nowTs, count.value, unit) : undefined;
  const end = count.end + 1;
  if (instant === undefined) return { kind: 'none', reason: 'The number is not whole or is too large.', end };
  const stretch = { first: instant, last: instant };
  return { kind: 'moment', ...stretch, span: stretch, end, alone: false };
}

/** Reads a moment without a word like `since` before it, or two moments joined by `to`. */
function loneBounds(reading: Reading, at: number, nowTs: number): Part {
  const whole = range(reading, at, nowTs, TO, 'alone');
  if (whole !== undefined && 'reason' in whole) return whole;
  const found = momentAt(reading, at, nowTs, 'alone');
  if (found === undefined || found.kind === 'none') return found;
  if (!found.alone) return undefined;
  return whole ?? { start: found.span.first, end: found.span.last, stop: found.end };
}
