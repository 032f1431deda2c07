// Schemas of the arguments that several tools take.

import { refusal } from '../../errors.ts';
import { described, integer, integerFrom, tableName, text, v } from '../../http/schema.ts';
import { isoDays, isoSeconds, TIME_MESSAGE, timeProblem } from '../../iso-time.ts';

export const DEFAULT_ROWS = 50;
export const MOST_ROWS = 1000;

/**
 * Schema of a tool's arguments. An unknown name is rejected, so that the model learns of its
 * mistake.
 */
export const object = <E extends v.ObjectEntries>(entries: E) =>
  v.strictObject(entries, 'is not an argument of this tool');

export const oneTable = () => described(tableName(), 'Name of the table, as listed by list_tables.');
export const someTable = () =>
  v.optional(
    described(
      tableName(),
      'Name of the table, as listed by list_tables. Default: the primary table, which may be empty, so name the table you mean.',
    ),
  );

/** Schema of a node: its number, or its name when the table has names of nodes. */
export const givenNode = (sentence: string) =>
  described(v.union([integer(), text()], 'must be the number or the name of a node'), sentence);

/** Schema of an object with values by name. */
export const values = (sentence: string) =>
  v.optional(described(v.record(text(), v.unknown(), 'must be an object'), sentence), {});

export const rowLimit = (what: string, usual: number = DEFAULT_ROWS) =>
  v.optional(
    described(
      v.pipe(integerFrom(1), v.maxValue(MOST_ROWS, `must be an integer from 1 to ${MOST_ROWS}`)),
      `Maximum number of ${what} in the answer; default ${usual}.`,
    ),
    usual,
  );

export const cursor = () =>
  v.optional(
    described(
      text(),
      'next_cursor of the previous answer, to get the next page. The other arguments must be the same.',
    ),
  );

const DAY_SECONDS = 86_400;

/**
 * Schema of a time: epoch seconds or a text, which `secondsOf` checks. Texts are allowed because
 * models are poor at computing epoch seconds.
 */
export const moment = (sentence: string) => givenTime(sentence, 'first second');

/** Schema of a bound of a window: a time, of which a date alone includes the whole day. */
export const bound = (sentence: string) => givenTime(sentence, 'whole day');

const givenTime = (sentence: string, ofDate: string) =>
  described(
    v.union([integer(), text()], TIME_MESSAGE),
    `${sentence} Epoch seconds, or a time in ISO 8601 such as 2024-01-03T10:00:00Z (UTC without a zone); a date alone means its ${ofDate}.`,
  );

/**
 * Returns epoch seconds. A date without a time becomes its first or its last second, as `end`
 * requires. Throws `invalid_input`.
 */
export function secondsOf(given: number | string, name: string, end: 'first' | 'last'): number {
  if (typeof given === 'number') return given;
  const text = given.trim();
  const seconds = isoSeconds(text);
  if (seconds === undefined) {
    const errors = [{ loc: ['arguments', name], msg: TIME_MESSAGE }];
    throw refusal('invalid_input', `${name} ${timeProblem(text)}.`, { errors });
  }
  return seconds + (isoDays(text) !== undefined && end === 'last' ? DAY_SECONDS - 1 : 0);
}

interface GivenWindow {
  start_ts?: number | string | undefined;
  end_ts?: number | string | undefined;
}

/**
 * Returns the window in epoch seconds. Throws `invalid_input`, also when the start is after the
 * end, which is more likely a mistake than a search that should find nothing.
 */
export function windowOf({ start_ts, end_ts }: GivenWindow): { start_ts?: number; end_ts?: number } {
  const start = start_ts === undefined ? undefined : secondsOf(start_ts, 'start_ts', 'first');
  const end = end_ts === undefined ? undefined : secondsOf(end_ts, 'end_ts', 'last');
  if (start !== undefined && end !== undefined && start > end)
    throw refusal('invalid_input', `start_ts ${start} must not be after end_ts ${end}.`);
  return { ...(start === undefined ? {} : { start_ts: start }), ...(end === undefined ? {} : { end_ts: end }) };
}
