// Writes rows as CSV. Only this file uses csv-stringify.

import { stringify } from 'csv-stringify/sync';
import type { Value } from '../binder/bound.ts';
import { cellOfObject } from './cell-values.ts';

/**
 * Texts are always quoted, so that the empty text differs from null, which is written as an empty
 * cell.
 */
const OPTIONS = {
  quoted_string: true,
  record_delimiter: '\n',
  cast: {
    boolean: (value: boolean) => String(value),
    // -0 is written as 0, as in JSON.
    number: (value: number) => String(value + 0),
    object: (value: object) => cellOfObject(value as Exclude<Value, number | string | boolean | null>),
  },
};

/** Returns one line per row, each with its line break. */
export function csvLines(rows: readonly (readonly Value[])[]): string {
  return stringify(rows as Value[][], OPTIONS);
}
