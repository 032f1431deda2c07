// Times as files have them, to the whole seconds since 1970 of an edge: by the same rules on the
// command line and in the console.

import { hourOf, twoDigits, withMonthAsNumber } from './month-names.ts';

export const TIME_FORMATS = ['s', 'ms', 'us', 'ns', 'iso', 'dmy', 'mdy', 'ymd'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** A pattern of its own, as of strptime. */
export interface TimePattern {
  readonly pattern: string;
  /** Seconds since 1970, maybe with a fraction; NaN for what is no time in this pattern. */
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
 * A larger number is one of the next smaller unit: as seconds it lies beyond the year 5138, and so
 * on.
 */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
const EIGHT_DIGITS = /^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
/** Slashes, dots and the signs of East Asian dates, in a date with the year first. */
const YEAR_FIRST = /^(\d{4})([/.年])(\d{1,2})[/.月](\d{1,2})日?(?=$|[T ])/;
/**
 * Dates of one order are as many as this to each of the other one, where the others are taken for
 * bad rows.
 */
const MOST_TO_BAD = 4;
/** Day and month, or the other way round. */
const DAY_MONTH = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/;
const DAY_MONTH_TIME =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:(?:,? |T)(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?: ?([ap])\.?m\.?)?)?$/i;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d?\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * The format of these times, as far as they tell; `name`: of their column. Dates that can all be
 * read in two ways are taken for `iso`, which refuses them.
 */
export function guessTimeFormat(cells: readonly unknown[], name = ''): TimeFormat {
  const given = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const numbers = given.filter(isNumber).map(Number);
  // A few of another kind are bad rows.
  if (numbers.length * 2 < given.length || (numbers.length === 0 && given.length > 0)) return orderOf(given) ?? 'iso';
  // The service's own name, and unit: an export with times far in the future is no file of
  // milliseconds.
  if (numbers.length === 0 || name.toLowerCase() === 'event_ts') return 's';
  // As seconds, these would all lie in some months of 1970.
  if (numbers.length === given.length && given.every((cell) => EIGHT_DIGITS.test(String(cell).trim()))) return 'ymd';
  const least = numbers.reduce((most, number) => Math.min(most, Math.abs(number)), Infinity);
  return (['s', 'ms', 'us'] as const).find((unit) => least <= MOST_SECONDS * PER_SECOND[unit]) ?? 'ns';
}

/**
 * What dates tell of their order: a number above 12 is a day. Undefined: nothing, or many this and
 * many that.
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

/** The numbers before the year of a date that has them there. */
export function dayAndMonth(cell: unknown): readonly [number, number] | undefined {
  const parts = typeof cell === 'string' ? DAY_MONTH.exec(cell.trim()) : null;
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2])];
}

function isNumber(cell: unknown): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && NUMBER.test(cell.trim()));
}

/**
 * Rounded down; a time without a zone is UTC. NaN for what is no time in this format; one in ISO
 * 8601, or with its month as a word, is one in all formats of dates.
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

/** A date that can be read in one way only. */
function dateSeconds(text: string): number {
  if (ISO.test(text)) return isoSeconds(text);
  const [start, year, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (start !== undefined)
    return isoSeconds(`${year}-${twoDigits(month!)}-${twoDigits(day!)}${text.slice(start.length)}`);
  // Words are looked at where there are some: it is slower.
  const named = /\p{L}{3}/u.test(text) ? withMonthAsNumber(text) : undefined;
  return named === undefined ? Number.NaN : isoSeconds(named);
}

function isoSeconds(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date, time = '00:00', zone = 'Z'] = parts;
  const [year, month, day] = date!.split('-').map(Number);
  // Date takes 30 February for 1 March.
  if (day! > new Date(new Date(0).setUTCFullYear(year!, month!, 0)).getUTCDate()) return Number.NaN;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const clock = time[1] === ':' ? `0${time}` : time;
  const whole = clock.length === 5 ? `${clock}:00` : clock.replace(',', '.').replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

/** NaN for a day or an hour that there is not. */
function dayMonthSeconds(text: string, format: 'dmy' | 'mdy'): number {
  const parts = DAY_MONTH_TIME.exec(text);
  if (parts === null) return Number.NaN;
  const [, first, , second, year, hours = '0', minute = '00', rest = '00', half] = parts;
  const [day, month] = format === 'dmy' ? [first!, second!] : [second!, first!];
  const hour = half === undefined ? Number(hours) : hourOf(Number(hours), half.toLowerCase() === 'p');
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  return isoSeconds(`${date} ${twoDigits(hour)}:${minute}:${rest}`);
}
