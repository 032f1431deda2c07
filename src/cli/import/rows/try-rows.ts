// Reads the first rows of an input without storing them, to report how many were read, how many of
// them could not be imported, and what is wrong with the first of these.

import { ColumnSet } from '../../../model/columns.ts';
import type { EdgeTable } from '../../../model/edge.ts';
import { RoleSet } from '../../../model/roles.ts';
import { type BatchLimits, START } from '../line-batches.ts';
import { NodeNames } from '../node-names.ts';
import { LINE_BYTES } from '../options.ts';
import type { PlannedInput } from '../planned-input.ts';
import type { TableColumn } from '../targets/target.ts';
import { EdgeLineReader, reasonOf } from './edge-line.ts';

export interface TriedRows {
  readonly count: number;
  readonly bad: number;
  readonly firstBad: { readonly line: number; readonly reason: string } | undefined;
}

const LIMITS: BatchLimits = { rows: 10_000, bytes: 512 * 1024, lineBytes: LINE_BYTES };

/**
 * Checks the first batch of rows against a table with these columns and roles, with intervals or
 * without. The input cannot be read again afterwards.
 */
export async function tryRows(
  plan: PlannedInput,
  columns: readonly TableColumn[],
  roles: readonly string[],
  intervals: boolean,
): Promise<TriedRows> {
  const table: EdgeTable = {
    name: '',
    columns: ColumnSet.of(columns, intervals),
    maxMembers: Number.POSITIVE_INFINITY,
    roles: RoleSet.of(roles),
  };
  const lines = new EdgeLineReader(table, () => null);
  let count = 0;
  let bad = 0;
  let firstBad: TriedRows['firstBad'];
  for await (const batch of plan.batches(LIMITS, START, plan.named ? new NodeNames() : undefined)) {
    for (let index = 0; index < batch.count; index++) {
      try {
        if (lines.read(batch, index) !== null) count++;
      } catch (error) {
        count++;
        bad++;
        firstBad ??= { line: batch.after(index - 1).line, reason: reasonOf(error) };
      }
    }
    break;
  }
  return { count, bad, firstBad };
}
