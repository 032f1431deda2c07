// Converts times in files to an edge's whole seconds since 1970. The command line and the console
// use the same rules.

import { hourOf, twoDigits, withMonthAsNumber } from './month-names.ts';

export const TIME_FORMATS = ['s', 'ms', 'us', 'ns', 'iso', 'dmy', 'mdy', 'ymd'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** A time format with its own pattern, such as one for strptime. */
export interface TimePattern {
  readonly pattern: string;
  /**
   * Returns seconds since 1970, possibly with a fraction, or NaN if the text does not match the
   * pattern.
   */
  secondsOf(text: string): number;
}

export const TIME_TEXTS: Readonly<Record<TimeFormat, string>> = {
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
  iso: 'ISO 8601',
  dmy: 'day, month and year, such as 14.03.2024 8:15',
  mdy: 'month, day and year, such as 3/14/2024 8:15',
  ymd: 'dates of eight digits, such as 20240314',
};

export function timeText(format: TimeFormat | TimePattern): string {
  return typeof format === 'string' ? TIME_TEXTS[format] : `times written as ${format.pattern}`;
}

/**
 * A number above this limit is in the next smaller unit: as seconds it would be after the year
 * 5138. The same holds for milliseconds and microseconds.
 */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
const EIGHT_DIGITS = /^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
/** A date with the year first, with slashes, dots or the signs of East Asian dates. */
const YEAR_FIRST = /^(\d{4})([/.年])(\d{1,2})[/.月](\d{1,2})日?(?=$|[T ])/;
/**
 * If dates in one order are at least this many times as frequent as dates in the other order, the
 * others are taken for bad rows.
 */
const MOST_TO_BAD = 4;
/** A date that begins with day and month, or with month and day. */
const DAY_MONTH = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/;
const DAY_MONTH_TIME =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:(?:,? |T)(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?: ?([ap])\.?m\.?)?)?$/i;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d?\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Guesses the format of these times. `name` is the name of their column. If all dates can be read
 * in two ways, returns `iso`, which refuses them.
 */
export function guessTimeFormat(cells: readonly unknown[], name = ''): TimeFormat {
  const given = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const numbers = given.filter(isNumber).map(Number);
  // A few cells of another kind are taken for bad rows.
  if (numbers.length * 2 < given.length || (numbers.length === 0 && given.length > 0)) return orderOf(given) ?? 'iso';
  // `event_ts` is the service's own name, and its unit is the second. An export with times far in
  // the future must not be taken for milliseconds.
  if (numbers.length === 0 || name.toLowerCase() === 'event_ts') return 's';
  // As seconds, these would all be in August 1970.
  if (numbers.length === given.length && given.every((cell) => EIGHT_DIGITS.test(String(cell).trim()))) return 'ymd';
  const least = numbers.reduce((most, number) => Math.min(most, Math.abs(number)), Infinity);
  return (['s', 'ms', 'us'] as const).find((unit) => least <= MOST_SECONDS * PER_SECOND[unit]) ?? 'ns';
}

/**
 * Returns the order of day and month that the dates show: a number above 12 is a day. Returns
 * undefined if no date shows the order, or if both orders are frequent.
 */
function orderOf(cells: readonly unknown[]): 'dmy' | 'mdy' | undefined {
  let dayFirst = 0;
  let monthFirst = 0;
  for (const cell of cells) {
    const [first, second] = dayAndMonth(cell) ?? [0, 0];
    if (first > 12 && first <= 31 && second <= 12) dayFirst++;
    else if (second > 12 && second <= 31 && first <= 12) monthFirst++;
  }
  if (dayFirst > 0 && dayFirst >= monthFirst * MOST_TO_BAD) return 'dmy';
  return monthFirst > 0 && monthFirst >= dayFirst * MOST_TO_BAD ? 'mdy' : undefined;
}

/** Returns the two numbers before the year of a date in which the year comes last. */
export function dayAndMonth(cell: unknown): readonly [number, number] | undefined {
  const parts = typeof cell === 'string' ? DAY_MONTH.exec(cell.trim()) : null;
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2])];
}

function isNumber(cell: unknown): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && NUMBER.test(cell.trim()));
}

/**
 * Returns whole seconds, rounded down. A time without a zone is UTC. Returns NaN if the cell is not
 * a time in this format. The formats `iso`, `dmy` and `mdy` all accept ISO 8601, other dates with
 * the year first, and dates with the month as a word.
 */
export function secondsIn(cell: unknown, format: TimeFormat | TimePattern): number {
  const seconds = cell instanceof Date ? cell.getTime() / 1000 : exactSeconds(cell, format);
  const whole = Math.floor(seconds) + 0;
  return Number.isSafeInteger(whole) ? whole : Number.NaN;
}

function exactSeconds(cell: unknown, format: TimeFormat | TimePattern): number {
  if (typeof format === 'object') return format.secondsOf(String(cell).trim());
  switch (format) {
    case 'iso':
      return dateSeconds(String(cell).trim());
    case 'dmy':
    case 'mdy': {
      const text = String(cell).trim();
      return DAY_MONTH.test(text) ? dayMonthSeconds(text, format) : dateSeconds(text);
    }
    case 'ymd': {
      const [, year, month, day] = EIGHT_DIGITS.exec(String(cell).trim()) ?? [];
      return year === undefined ? Number.NaN : isoSeconds(`${year}-${month}-${day}`);
    }
    default:
      return isNumber(cell) ? Number(cell) / PER_SECOND[format] : Number.NaN;
  }
}

/** Reads a date that has only one meaning. */
function dateSeconds(text: string): number {
  if (ISO.test(text)) return isoSeconds(text);
  const [start, year, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (start !== undefined)
    return isoSeconds(`${year}-${twoDigits(month!)}-${twoDigits(day!)}${text.slice(start.length)}`);
  // The search for words is slower, so it runs only if the text contains letters.
  const named = /\p{L}{3}/u.test(text) ? withMonthAsNumber(text) : undefined;
  return named === undefined ? Number.NaN : isoSeconds(named);
}

function isoSeconds(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date, time = '00:00', zone = 'Z'] = parts;
  const [year, month, day] = date!.split('-').map(Number);
  // JavaScript's Date would read 30 February as 1 March.
  if (day! > new Date(new Date(0).setUTCFullYear(year!, month!, 0)).getUTCDate()) return Number.NaN;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const clock = time[1] === ':' ? `0${time}` : time;
  const whole = clock.length === 5 ? `${clock}:00` : clock.replace(',', '.').replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

/** Returns NaN if the day or hour does not exist. */
function dayMonthSeconds(text: string, format: 'dmy' | 'mdy'): number {
  const parts = DAY_MONTH_TIME.exec(text);
  if (parts === null) return Number.NaN;
  const [, first, , second, year, hours = '0', minute = '00', rest = '00', half] = parts;
  const [day, month] = format === 'dmy' ? [first!, second!] : [second!, first!];
  const hour = half === undefined ? Number(hours) : hourOf(Number(hours), half.toLowerCase() === 'p');
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  return isoSeconds(`${date} ${twoDigits(hour)}:${minute}:${rest}`);
}
