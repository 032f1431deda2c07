// Calculates with UTC days, months and years in epoch seconds. The result is undefined for a day
// that does not exist.

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3600;

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** An interval in seconds, both ends included. */
export interface Stretch {
  readonly first: number;
  readonly last: number;
}

/** Returns the first second of a day, or undefined if it does not exist. Months count from 1. */
export function dayStart(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 1000;
}

export function wholeDay(first: number): Stretch {
  return { first, last: first + DAY_SECONDS - 1 };
}

export function dayOf(year: number, month: number, day: number): Stretch | undefined {
  const first = dayStart(year, month, day);
  return first === undefined ? undefined : wholeDay(first);
}

export function wholeMonth(year: number, month: number): Stretch | undefined {
  const first = dayStart(year, month, 1);
  if (first === undefined) return undefined;
  return { first, last: (month === 12 ? dayStart(year + 1, 1, 1)! : dayStart(year, month + 1, 1)!) - 1 };
}

export function wholeYear(year: number): Stretch {
  return { first: dayStart(year, 1, 1)!, last: dayStart(year + 1, 1, 1)! - 1 };
}

export function startOfDay(ts: number): number {
  return Math.floor(ts / DAY_SECONDS) * DAY_SECONDS;
}

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: HOUR_SECONDS,
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
};

/**
 * Returns the time `count` units before the second `ts`. For months and years it is the same day of
 * the month, or the last day of a shorter month. Returns undefined if months or years lead to a
 * time before the year 0, or if the result of another unit is not a safe integer.
 */
export function before(ts: number, count: number, unit: Unit): number | undefined {
  const seconds = SECONDS[unit];
  if (seconds !== undefined) return within(ts - count * seconds);
  const date = new Date(ts * 1000);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - count * (unit === 'year' ? 12 : 1);
  if (!(months >= 0)) return undefined;
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1];
  const daysIn = (wholeMonth(year, month)!.last + 1 - dayStart(year, month, 1)!) / DAY_SECONDS;
  const start = dayStart(year, month, Math.min(date.getUTCDate(), daysIn))!;
  return start + (ts - startOfDay(ts));
}

/**
 * Returns by how many seconds a zone such as `+01:00` is ahead of UTC; undefined if it is invalid.
 */
export function zoneSeconds(zone: string | undefined): number | undefined {
  if (zone === undefined || !/^[+-]/.test(zone)) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)];
  if (hours > 15 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function within(ts: number): number | undefined {
  return Number.isSafeInteger(ts) ? ts : undefined;
}

/**
 * Returns the calendar unit that contains the second `ts`: a year, month, week (which begins on
 * Monday), day, hour, minute or second.
 */
export function around(ts: number, unit: Unit): Stretch {
  const date = new Date(ts * 1000);
  if (unit === 'month') return wholeMonth(date.getUTCFullYear(), date.getUTCMonth() + 1)!;
  if (unit === 'year') return wholeYear(date.getUTCFullYear());
  const today = startOfDay(ts);
  const seconds = SECONDS[unit]!;
  const first =
    unit === 'week' ? today - ((date.getUTCDay() + 6) % 7) * DAY_SECONDS : Math.floor(ts / seconds) * seconds;
  return { first, last: first + seconds - 1 };
}

const UNITS: readonly [Unit, string][] = [
  ['second', 'second seconds sec secs s'],
  ['minute', 'minute minutes min mins'],
  ['hour', 'hour hours hr hrs h'],
  ['day', 'day days d'],
  ['week', 'week weeks w'],
  ['month', 'month months'],
  ['year', 'year years yr yrs'],
];
const UNIT_OF_WORD = new Map(UNITS.flatMap(([unit, words]) => words.split(' ').map((word) => [word, unit] as const)));

/** Returns the unit of time that a lower-case word names. */
export function unitOf(word: string): Unit | undefined {
  return UNIT_OF_WORD.get(word);
}
