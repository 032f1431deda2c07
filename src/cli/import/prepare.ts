// Prepares a target for an input: creates missing columns and loads the numbers of named nodes.

import type { Input } from './inputs.ts';
import { NodeNames } from './node-names.ts';
import type { ImportFlags } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import type { ImportTarget } from './targets/target.ts';

/**
 * Plans the input. `names`: the names of nodes from earlier inputs. When columns are missing and
 * may not be created, throws an Error that explains what to do.
 */
export async function prepare(
  { source, format, looked }: Input,
  target: ImportTarget,
  flags: ImportFlags,
  names: NodeNames | undefined,
): Promise<{ plan: PlannedInput; names: NodeNames | undefined }> {
  const known = target.roles();
  const plan = looked.plan(target.columns(), known);
  const create = flags.create === true;
  if (flags.endColumn !== undefined && !target.columns().some(({ isEnd }) => isEnd))
    throw new Error(
      `Table ${target.tableName} has no intervals, so its edges have no end. Import into a new table with --create, or leave out --end-column.`,
    );
  const missing = plan.roles.find((role) => !known.some((name) => name.toLowerCase() === role.toLowerCase()));
  if (missing !== undefined)
    throw new Error(
      known.length === 0
        ? `Table ${target.tableName} has no roles, and a table gets its roles when it is made: import with --role into a new table, with --create.`
        : `Table ${target.tableName} has no role ${missing}; its roles are ${known.join(', ')}.`,
    );
  for (const column of plan.columns) {
    if (target.columns().some(({ name }) => name.toLowerCase() === column.name.toLowerCase())) continue;
    // In NDJSON, a key without a column is not an error.
    if (!create && format === 'ndjson') continue;
    if (!create)
      throw new Error(
        `Table ${target.tableName} has no column ${column.name}, which ${source.label} has. Make it with --create, or name the columns to read in --property-columns.`,
      );
    await target.addColumn(column);
  }
  return { plan, names: plan.named ? (names ?? new NodeNames(await target.openNodes())) : names };
}
