// Writes the parts of a statement's JSON answer around the rows: the columns before the rows, and
// the figures of the plan after them.

import { writeAscii } from '../http/index.ts';
import type { QueryPlanFigures, StatementResult } from '../query/index.ts';
import { LONGEST_FRAME, writeFigures } from './rows-frame.ts';

/** Maximum size of the part after the rows, in bytes. */
export const LONGEST_TAIL = LONGEST_FRAME;

const HEADS = new WeakMap<readonly string[], Uint8Array>();

/** The columns of a result and their types. */
export type HeadColumns = Pick<StatementResult, 'columns' | 'columnTypes'>;

/**
 * Returns the part before the rows. It is encoded once per bound statement, whose list of columns
 * is the same object in every run.
 */
export function headBytes({ columns, columnTypes }: HeadColumns): Uint8Array {
  let bytes = HEADS.get(columns);
  if (bytes === undefined) {
    const types = JSON.stringify(columnTypes);
    bytes = Buffer.from(`{"columns":${JSON.stringify(columns)},"column_types":${types},"rows":[`);
    HEADS.set(columns, bytes);
  }
  return bytes;
}

const BRACE = 125;

/**
 * Writes the part after the rows and returns the offset after it. `plan` is null if nothing was
 * searched.
 */
export function writeTail(into: Uint8Array, from: number, rows: number, plan: QueryPlanFigures | null): number {
  if (plan === null) return writeAscii(into, from, `],"num_tuples":${rows},"query_plan":null}`);
  const offset = writeFigures(into, from, rows, plan);
  into[offset] = BRACE;
  into[offset + 1] = BRACE;
  return offset + 2;
}
