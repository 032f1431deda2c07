// Makes a target ready for an input: columns that it needs, numbers of nodes that have names.

import type { Input } from './inputs.ts';
import { NodeNames } from './node-names.ts';
import type { PlannedInput } from './planned-input.ts';
import type { ImportTarget } from './targets/target.ts';

/** Throws what to do about columns that are missing. `names`: of an input before this one. */
export async function prepare(
  { source, format, looked }: Input,
  target: ImportTarget,
  create: boolean,
  names: NodeNames | undefined,
): Promise<{ plan: PlannedInput; names: NodeNames | undefined }> {
  const plan = looked.plan(target.columns());
  for (const column of plan.columns) {
    if (target.columns().some(({ name }) => name.toLowerCase() === column.name.toLowerCase())) continue;
    // Keys of NDJSON that are no column were never an error.
    if (!create && format === 'ndjson') continue;
    if (!create)
      throw new Error(
        `Table ${target.tableName} has no column ${column.name}, which ${source.label} has. Make it with --create, or say in --property-columns which columns to read.`,
      );
    await target.addColumn(column);
  }
  return { plan, names: plan.named ? (names ?? new NodeNames(await target.openNodes())) : names };
}
