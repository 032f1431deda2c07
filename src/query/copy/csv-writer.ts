// Writes rows as CSV. The only file that uses csv-stringify.

import { stringify } from 'csv-stringify/sync';
import type { Value } from '../binder/bound.ts';
import { cellOfObject } from './cell-values.ts';

/**
 * Texts are always quoted, so that the empty text is not taken for null, which is an empty cell.
 */
const OPTIONS = {
  quoted_string: true,
  record_delimiter: '\n',
  cast: {
    boolean: (value: boolean) => String(value),
    // As in JSON, -0 is 0.
    number: (value: number) => String(value + 0),
    object: (value: object) => cellOfObject(value as Exclude<Value, number | string | boolean | null>),
  },
};

/** One line per row, each with its line break. */
export function csvLines(rows: readonly (readonly Value[])[]): string {
  return stringify(rows as Value[][], OPTIONS);
}
