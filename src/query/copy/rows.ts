// Rows read from a file: batches of edges with their positions.

import type { EdgeInput } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';

export interface RowBatch {
  readonly count: number;
  /** The edge of a row; undefined: the row is blank. Throws the fault of the row. */
  edge(index: number): EdgeInput | undefined;
  /** 1-based position of a row in the file. */
  at(index: number): number;
}

/** Unit of positions: lines of text, or rows of a table. */
export type PlaceUnit = 'line' | 'row';

/** The error of a row, with its position in message and fields. */
export function errorAtRow(error: HedgerowError, unit: PlaceUnit, place: number): HedgerowError {
  const name = unit === 'line' ? 'Line' : 'Row';
  return new HedgerowError(error.code, `${name} ${place}: ${error.message} Nothing was inserted.`, {
    fields: { ...error.fields, [unit]: place },
    cause: error,
  });
}
