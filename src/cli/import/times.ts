// Times as files have them, to the whole seconds since 1970 of an edge.

import { HedgerowError } from '../../errors.ts';
import { plainInteger } from './plain-integer.ts';

export const TIME_FORMATS = ['s', 'ms', 'iso'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** Larger numbers are milliseconds: as seconds they lie beyond the year 5138. */
const MOST_SECONDS = 1e11;
const NUMBER = /^[+-]?\d+(\.\d*)?$/;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** The format that all of these times have, as far as they tell. */
export function guessTimeFormat(cells: readonly unknown[]): TimeFormat {
  const given = cells.filter((cell) => cell !== null && cell !== undefined && cell !== '');
  const numbers = given.flatMap((cell) => {
    const isNumber =
      typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && NUMBER.test(cell.trim()));
    return isNumber ? [Number(cell)] : [];
  });
  if (numbers.length < given.length) return 'iso';
  return numbers.length > 0 && numbers.every((number) => Math.abs(number) > MOST_SECONDS) ? 'ms' : 's';
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
  const what = { s: 'seconds since 1970', ms: 'milliseconds since 1970', iso: 'a time such as 2024-05-01T12:30:00Z' }[
    format
  ];
  throw fault(`${name} is ${shown}, but it takes ${what}; --ts-format says how times are written.`);
}

function numberOf(cell: unknown, format: TimeFormat): number {
  const isNumber = typeof cell === 'number' || typeof cell === 'bigint' || NUMBER.test(String(cell).trim());
  if (!isNumber) return Number.NaN;
  return format === 'ms' ? Number(cell) / 1000 : Number(cell);
}

/** A time without a zone is UTC. */
function isoSeconds(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date, time = '00:00', zone = 'Z'] = parts;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const whole = time.length === 5 ? `${time}:00` : time.replace(/(\.\d{3})\d+$/, '$1');
  return Date.parse(`${date}T${whole}${offset.toUpperCase()}`) / 1000;
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
