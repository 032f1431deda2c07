// Parses the time of a row, or reports what is wrong with it.

import { dayAndMonth, secondsIn, TIME_TEXTS, type TimeFormat } from '../../tabular/times.ts';

const OF_DATES: readonly TimeFormat[] = ['iso', 'dmy', 'mdy'];

/** Throws an Error whose message is the predicate of a sentence about the row. */
export function secondsOf(cell: unknown, format: TimeFormat): number {
  const text = String(cell ?? '').trim();
  if (text === '') throw new Error('has no time');
  const seconds = secondsIn(cell, format);
  if (!Number.isNaN(seconds)) return seconds;
  const shown = `"${text.slice(0, 40)}"`;
  if (!OF_DATES.includes(format)) throw new Error(`says ${shown}, but the other times are ${TIME_TEXTS[format]}`);
  if (!needsOrder([cell], format))
    throw new Error(`says ${shown} where a time should be; write it in ISO 8601, as 2024-05-13 10:00:00`);
  if (format === 'iso')
    throw new Error(`says ${shown}, whose day and month can be read in two ways; choose their order beside the time`);
  throw new Error(`says ${shown}, which is not a date with the ${format === 'dmy' ? 'day' : 'month'} first`);
}

/**
 * Returns whether some of these dates have the day and month before the year, so that the order of
 * day and month must be known.
 */
export function needsOrder(cells: readonly unknown[], format: TimeFormat): boolean {
  return OF_DATES.includes(format) && cells.some((cell) => dayAndMonth(cell) !== undefined);
}
