// The bytes around the rows of a statement's JSON answer: its columns before them, the figures of
// its plan after them.

import { writeAscii } from '../http/index.ts';
import type { QueryPlanFigures, StatementResult } from '../query/index.ts';
import { LONGEST_FRAME, writeFigures } from './rows-frame.ts';

/** Room for a tail, in bytes. */
export const LONGEST_TAIL = LONGEST_FRAME;

const HEADS = new WeakMap<readonly string[], Uint8Array>();

/** What an answer says about its columns. */
export type HeadColumns = Pick<StatementResult, 'columns' | 'columnTypes'>;

/** Made once per bound statement, whose list of columns is the same object in every run. */
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

/** `plan` is null if nothing was searched. Returns the offset after the tail. */
export function writeTail(into: Uint8Array, from: number, rows: number, plan: QueryPlanFigures | null): number {
  if (plan === null) return writeAscii(into, from, `],"num_tuples":${rows},"query_plan":null}`);
  const offset = writeFigures(into, from, rows, plan);
  into[offset] = BRACE;
  into[offset + 1] = BRACE;
  return offset + 2;
}
