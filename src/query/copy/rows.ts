// Rows of a file that is read: batches of edges, each of which knows where it stands.

import type { EdgeInput } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';

export interface RowBatch {
  readonly count: number;
  /** The edge of a row; undefined: it is blank. Throws what is wrong with it. */
  edge(index: number): EdgeInput | undefined;
  /** 1-based place of a row in the file. */
  at(index: number): number;
}

/** How places are counted: lines of text, rows of a table. */
export type PlaceUnit = 'line' | 'row';

/** The error of a row, with its place in sentence and fields. */
export function errorAtRow(error: HedgerowError, unit: PlaceUnit, place: number): HedgerowError {
  const name = unit === 'line' ? 'Line' : 'Row';
  return new HedgerowError(error.code, `${name} ${place}: ${error.message} Nothing was inserted.`, {
    fields: { ...error.fields, [unit]: place },
    cause: error,
  });
}
