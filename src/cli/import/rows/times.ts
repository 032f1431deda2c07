// Parses the time of a row, or reports what is wrong and which flag helps.

import { HedgerowError } from '../../../errors.ts';
import { dayAndMonth, secondsIn, type TimeFormat, type TimePattern, timeText } from '../../../tabular/times.ts';
import { plainInteger } from './plain-integer.ts';

/** Throws `invalid_input`. */
export function secondsOf(cell: unknown, format: TimeFormat | TimePattern, name: string): number {
  if (format === 's' && typeof cell === 'string') {
    const seconds = plainInteger(cell);
    if (seconds >= 0) return seconds;
  }
  if (cell === null || cell === undefined || cell === '')
    throw fault(`${name} is missing; --ts gives such edges a time.`);
  const seconds = secondsIn(cell, format);
  if (!Number.isNaN(seconds)) return seconds;
  const shown = JSON.stringify(String(cell).slice(0, 40));
  const date = dayAndMonth(cell);
  const isTold = format === 'dmy' || format === 'mdy' || typeof format === 'object';
  if (date !== undefined && !isTold) throw fault(`${name} is ${shown}${orderAdvice(...date)}`);
  const what = format === 'iso' ? 'a time such as 2024-05-01T12:30:00Z' : timeText(format);
  throw fault(
    `${name} is ${shown}, but it takes ${what}; --ts-format says how times are written, also as a pattern such as '%d.%m.%y %H:%M'.`,
  );
}

function orderAdvice(first: number, second: number): string {
  if (first > 12) return ', with the day first: --ts-format dmy reads it.';
  if (second > 12) return ', with the month first: --ts-format mdy reads it.';
  return ', and it is not known whether day or month comes first: --ts-format dmy (day first) or mdy (month first) says which.';
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
