// Times as files have them, to the whole seconds since 1970 of an edge.

import { HedgerowError } from '../../errors.ts';
import { plainInteger } from './plain-integer.ts';

export const TIME_FORMATS = ['s', 'ms', 'us', 'ns', 'iso'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** A larger number is one of the next smaller unit: as seconds it lies beyond the year 5138, and so on. */
const MOST_SECONDS = 1e11;
const PER_SECOND = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;
const NUMBER = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/;
/** Day and month, or the other way round. */
const TWO_WAYS = /^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b/;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

export const TIME_TEXTS = {
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
  iso: 'ISO 8601',
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
  const seconds =
    cell instanceof Date ? cell.getTime() / 1000 : format === 'iso' ? isoSeconds(String(cell)) : numberOf(cell, format);
  const whole = Math.floor(seconds) + 0;
  if (Number.isSafeInteger(whole)) return whole;
  const shown = JSON.stringify(String(cell).slice(0, 40));
  if (TWO_WAYS.test(String(cell).trim()))
    throw fault(`${name} is ${shown}, which day and month can be read in two ways; write it as 2024-05-13 10:00:00.`);
  const what = format === 'iso' ? 'a time such as 2024-05-01T12:30:00Z' : TIME_TEXTS[format];
  throw fault(`${name} is ${shown}, but it takes ${what}; --ts-format says how times are written.`);
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
  const whole = time.length === 5 ? `${time}:00` : time.replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
