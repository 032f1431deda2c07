// Schemas of arguments that several tools take.

import { described, integer, integerFrom, tableName, text, v } from '../../http/schema.ts';

export const DEFAULT_ROWS = 50;
export const MOST_ROWS = 1000;

/** The arguments of a tool; a name that is none of them is a mistake worth hearing of. */
export const object = <E extends v.ObjectEntries>(entries: E) => v.strictObject(entries, 'is no argument of this tool');

export const oneTable = () => described(tableName(), 'Name of the table, as list_tables shows it.');
export const someTable = () =>
  v.optional(described(tableName(), 'Name of the table, as list_tables shows it. Default: the primary table.'));

export const rowLimit = (what: string, usual: number = DEFAULT_ROWS) =>
  v.optional(
    described(
      v.pipe(integerFrom(1), v.maxValue(MOST_ROWS, `must be an integer from 1 to ${MOST_ROWS}`)),
      `Most ${what} in the answer; default ${usual}.`,
    ),
    usual,
  );

export const cursor = () =>
  v.optional(
    described(text(), 'next_cursor of the answer before, with the same other arguments: the page that follows.'),
  );

export const seconds = (sentence: string) => described(integer(), sentence);
