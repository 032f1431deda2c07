// Times as files have them, to the whole seconds since 1970 of an edge.

import { HedgerowError } from '../../errors.ts';
import { plainInteger } from './plain-integer.ts';

export const TIME_FORMATS = ['s', 'ms', 'us', 'ns', 'iso', 'dmy', 'mdy'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** A larger number is one of the next smaller unit: as seconds it lies beyond the year 5138, and so on. */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
/** Day and month, or the other way round. */
const DAY_MONTH = /^(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b/;
const DAY_MONTH_TIME =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:(?:,? |T)(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?: ?([ap])\.?m\.?)?)?$/i;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d?\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

export const TIME_TEXTS = {
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
  iso: 'ISO 8601',
  dmy: 'day, month and year, such as 14.03.2024 8:15',
  mdy: 'month, day and year, such as 3/14/2024 8:15',
} as const;

/** The format that all of these times have, as far as they tell. */
export function guessTimeFormat(cells: readonly unknown[]): TimeFormat {
  const given = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const numbers = given.flatMap((cell) => {
    const isNumber =
      typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && NUMBER.test(cell.trim()));
    return isNumber ? [Number(cell)] : [];
  });
  // A few of another kind are bad rows.
  if (numbers.length * 2 < given.length || (numbers.length === 0 && given.length > 0)) return 'iso';
  const least = numbers.reduce((most, number) => Math.min(most, Math.abs(number)), Infinity);
  if (numbers.length === 0) return 's';
  return (['s', 'ms', 'us'] as const).find((unit) => least <= MOST_SECONDS * PER_SECOND[unit]) ?? 'ns';
}

/** Rounded down. Throws `invalid_input`. */
export function secondsOf(cell: unknown, format: TimeFormat, name: string): number {
  if (format === 's' && typeof cell === 'string') {
    const seconds = plainInteger(cell);
    if (seconds >= 0) return seconds;
  }
  if (cell === null || cell === undefined || cell === '') throw fault(`${name} is missing.`);
  const seconds = cell instanceof Date ? cell.getTime() / 1000 : secondsIn(cell, format);
  const whole = Math.floor(seconds) + 0;
  if (Number.isSafeInteger(whole)) return whole;
  const shown = JSON.stringify(String(cell).slice(0, 40));
  const isTold = format === 'dmy' || format === 'mdy';
  if (!isTold && isDayMonth(cell)) throw fault(`${name} is ${shown}${dayMonthAdvice(String(cell))}`);
  const what = format === 'iso' ? 'a time such as 2024-05-01T12:30:00Z' : TIME_TEXTS[format];
  throw fault(`${name} is ${shown}, but it takes ${what}; --ts-format says how times are written.`);
}

/** A date with numbers for day and month before the year. */
export function isDayMonth(cell: unknown): boolean {
  return typeof cell === 'string' && DAY_MONTH.test(cell.trim());
}

function dayMonthAdvice(text: string): string {
  const [, first, second] = DAY_MONTH.exec(text.trim())!;
  if (Number(first) > 12) return ', with the day first: --ts-format dmy reads it.';
  if (Number(second) > 12) return ', with the month first: --ts-format mdy reads it.';
  return ', and whether day or month stands first is not known: --ts-format dmy (day first) or mdy (month first) says it.';
}

function secondsIn(cell: unknown, format: TimeFormat): number {
  if (format === 'iso') return isoSeconds(String(cell));
  if (format === 'dmy' || format === 'mdy') return dayMonthSeconds(String(cell), format);
  return numberOf(cell, format);
}

function numberOf(cell: unknown, format: keyof typeof PER_SECOND): number {
  const isNumber = typeof cell === 'number' || typeof cell === 'bigint' || NUMBER.test(String(cell).trim());
  if (!isNumber) return Number.NaN;
  return Number(cell) / PER_SECOND[format];
}

/** A time without a zone is UTC. */
function isoSeconds(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date, time = '00:00', zone = 'Z'] = parts;
  const [year, month, day] = date!.split('-').map(Number);
  // Date takes 30 February for 1 March.
  if (day! > new Date(Date.UTC(year!, month!, 0)).getUTCDate()) return Number.NaN;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const clock = time[1] === ':' ? `0${time}` : time;
  const whole = clock.length === 5 ? `${clock}:00` : clock.replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

/** UTC. NaN for a day or an hour that there is not. */
function dayMonthSeconds(text: string, format: 'dmy' | 'mdy'): number {
  const parts = DAY_MONTH_TIME.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, first, , second, year, hours = '0', minute = '00', rest = '00', half] = parts;
  const [day, month] = format === 'dmy' ? [first!, second!] : [second!, first!];
  const hour = half === undefined ? Number(hours) : hourOf(Number(hours), half.toLowerCase() === 'p');
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  return isoSeconds(`${date} ${twoDigits(hour)}:${minute}:${rest}`);
}

/** Of twelve: 12 AM is midnight. */
function hourOf(hour: number, isAfternoon: boolean): number {
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (isAfternoon ? 12 : 0);
}

function twoDigits(number: string | number): string {
  return String(number).padStart(2, '0');
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
