// Prepares a target for an input: creates missing columns and loads the numbers of named nodes.

import type { Input } from './inputs.ts';
import { type Members, NodeKeys } from './node-keys.ts';
import { NodeNames } from './node-names.ts';
import type { ImportFlags } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import type { BatchTarget, ImportTarget, NodesTarget } from './targets/target.ts';

/**
 * Plans an input with edges. `members`: what earlier inputs have made of the names of nodes. When
 * columns are missing and may not be created, throws an Error that explains what to do.
 */
export async function prepare(
  input: Input,
  target: ImportTarget,
  flags: ImportFlags,
  members: Members | undefined,
): Promise<{ plan: PlannedInput; members: Members | undefined }> {
  const { kinds } = target;
  const known = target.roles();
  const plan = input.looked.plan(target.columns(), known, kinds !== undefined);
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
  // Lines of NDJSON are sent as they are, and have numbers.
  const needsNames = kinds === undefined && plan.named && input.format !== 'ndjson' && members === undefined;
  const numbers = needsNames ? await target.openNodes() : undefined;
  if (needsNames && numbers === undefined) throw new Error(namesRefused(target.tableName, input.source.label));
  await addColumns(input, plan, target, flags.create === true);
  if (kinds !== undefined) return { plan, members: members ?? new NodeKeys(kinds) };
  return { plan, members: numbers === undefined ? members : new NodeNames(numbers) };
}

/** What is said when names are to be members of a table of numbers without a companion. */
export function namesRefused(tableName: string, label: string): string {
  return `The members of table ${tableName} are numbers, but ${label} has names. Import it into a table whose members have names: --create --table NAME makes one, with a node table for the names.`;
}

/** Plans an input with nodes, like `prepare`. */
export async function prepareNodes(input: Input, target: NodesTarget, create: boolean): Promise<PlannedInput> {
  const plan = input.looked.plan([target.key, ...target.columns()]);
  await addColumns(input, plan, target, create);
  return plan;
}

async function addColumns(
  { source, format, holds }: Input,
  { columns }: PlannedInput,
  target: BatchTarget,
  create: boolean,
): Promise<void> {
  for (const column of columns) {
    if (target.columns().some(({ name }) => name.toLowerCase() === column.name.toLowerCase())) continue;
    // In NDJSON with edges, a key without a column is not an error.
    if (!create && format === 'ndjson' && holds === 'edges') continue;
    if (!create)
      throw new Error(
        `Table ${target.tableName} has no column ${column.name}, which ${source.label} has. Make it with --create${holds === 'edges' ? ', or name the columns to read in --property-columns' : ''}.`,
      );
    await target.addColumn(column);
  }
}
