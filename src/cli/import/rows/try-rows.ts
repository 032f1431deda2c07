// Reads the first rows of an input without storing them, to report how many were read, how many of
// them could not be imported, and what is wrong with the first of these.

import { ColumnSet } from '../../../model/columns.ts';
import type { EdgeTable } from '../../../model/edge.ts';
import { RoleSet } from '../../../model/roles.ts';
import { type BatchLimits, type LineBatch, START } from '../line-batches.ts';
import { type Members, NodeKeys } from '../node-keys.ts';
import { NodeNames } from '../node-names.ts';
import { LINE_BYTES } from '../options.ts';
import type { PlannedInput } from '../planned-input.ts';
import type { TableColumn } from '../targets/target.ts';
import { EdgeLineReader, reasonOf } from './edge-line.ts';
import { nodeOfLine } from './node-line.ts';

export interface TriedRows {
  readonly count: number;
  readonly bad: number;
  readonly firstBad: { readonly line: number; readonly reason: string } | undefined;
}

const LIMITS: BatchLimits = { rows: 10_000, bytes: 512 * 1024, lineBytes: LINE_BYTES };

/** What the check must know of a table. */
export interface TriedTable extends Pick<EdgeTable, 'kinds'> {
  readonly columns: readonly TableColumn[];
  readonly roles: readonly string[];
  readonly intervals: boolean;
}

/**
 * Checks the first batch of rows against a table. The input cannot be read again afterwards.
 */
export function tryRows(plan: PlannedInput, { columns, kinds, roles, intervals }: TriedTable): Promise<TriedRows> {
  const table: EdgeTable = {
    name: '',
    columns: ColumnSet.of(columns, intervals),
    maxMembers: Number.POSITIVE_INFINITY,
    kinds,
    roles: RoleSet.of(roles),
  };
  const lines = new EdgeLineReader(table, () => null);
  const names = plan.named ? new NodeNames() : undefined;
  return tried(plan, kinds === undefined ? names : new NodeKeys(kinds), (batch, index) => lines.read(batch, index));
}

/** Like `tryRows`, for an input with nodes. */
export function tryNodes(plan: PlannedInput): Promise<TriedRows> {
  return tried(plan, undefined, nodeOfLine);
}

async function tried(
  plan: PlannedInput,
  members: Members | undefined,
  read: (batch: LineBatch, index: number) => object | null,
): Promise<TriedRows> {
  let count = 0;
  let bad = 0;
  let firstBad: TriedRows['firstBad'];
  for await (const batch of plan.batches(LIMITS, START, members)) {
    for (let index = 0; index < batch.count; index++) {
      try {
        if (read(batch, index) !== null) count++;
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
