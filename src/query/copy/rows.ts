// The rows of a file that is read: batches of edges with their positions.

import type { EdgeInput } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';

export interface RowBatch {
  readonly count: number;
  /** Returns the edge in a row, or undefined if the row is blank. Throws the fault in the row. */
  edge(index: number): EdgeInput | undefined;
  /** Returns the 1-based position of a row in the file. */
  at(index: number): number;
}

/** Unit of positions: lines of a text file, or rows of a Parquet file. */
export type PlaceUnit = 'line' | 'row';

/**
 * Returns the error about a row with the row's position in its message and fields. The message adds
 * that nothing was inserted.
 */
export function errorAtRow(error: HedgerowError, unit: PlaceUnit, place: number): HedgerowError {
  const name = unit === 'line' ? 'Line' : 'Row';
  return new HedgerowError(error.code, `${name} ${place}: ${error.message} Nothing was inserted.`, {
    fields: { ...error.fields, [unit]: place },
    cause: error,
  });
}
