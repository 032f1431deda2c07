// Decides which node tables an import needs: for a table that it creates, and for the nodes that it
// loads.

import { NODE_SUFFIX } from '../../../tabular/node-columns.ts';
import { UsageError } from '../../world.ts';
import type { Input } from '../inputs.ts';
import type { ImportFlags } from '../options.ts';
import type { PlannedInput } from '../planned-input.ts';
import type { NewNodeTable } from '../targets/target.ts';

/**
 * Returns the node tables of a new hyperedge table; an empty list if its members are integers that
 * need none. `nodes` are the inputs with nodes that flags name; `roles` are those of the new table.
 */
export function wantedNodes(
  edges: readonly Input[],
  nodes: readonly Input[],
  roles: readonly string[],
  flags: Pick<ImportFlags, 'nodeTable' | 'table'>,
): NewNodeTable[] {
  const plans = edges.map(({ looked }) => looked.plan([], roles, true));
  const kinds = kindsOf(plans);
  if (kinds.length > 0) return kinds;
  const nodePlans = nodes.map(({ looked }) => looked.plan([]));
  const inside = edges.flatMap(({ looked }) => looked.nodes?.plan([]) ?? []);
  const [first] = [...nodePlans, ...inside];
  const isNamed = plans.some(({ named }) => named);
  const keysAreTexts = isNamed || [...nodePlans, ...inside].some(({ named }) => named);
  if (!isNamed && nodePlans.length + inside.length === 0 && flags.nodeTable === undefined) return [];
  const name = nodeTableName(flags);
  if (name === undefined) return [];
  const type = keysAreTexts ? ('TEXT' as const) : ('INTEGER' as const);
  const key = { name: first?.key?.name ?? (keysAreTexts ? 'name' : 'id'), type };
  return [{ name, key }];
}

/** Returns the name of the node table that flags say; undefined if they name no table at all. */
export function nodeTableName({ nodeTable, table }: Pick<ImportFlags, 'nodeTable' | 'table'>): string | undefined {
  return nodeTable ?? (table === undefined ? undefined : `${table}${NODE_SUFFIX}`);
}

/** The kinds that members say themselves, as exports of tables with several kinds have them. */
function kindsOf(plans: readonly PlannedInput[]): NewNodeTable[] {
  const kinds = new Map<string, NewNodeTable>();
  for (const { name, isInteger } of plans.flatMap((plan) => plan.kinds ?? [])) {
    const lower = name.toLowerCase();
    const isOfTexts = kinds.get(lower)?.key.type === 'TEXT' || !isInteger;
    kinds.set(lower, {
      name: kinds.get(lower)?.name ?? name,
      key: isOfTexts ? { name: 'name', type: 'TEXT' } : { name: 'id', type: 'INTEGER' },
    });
  }
  return [...kinds.values()];
}

/**
 * Returns the node table of a hyperedge table into which nodes are loaded. Throws UsageError if the
 * flags leave it open, and an Error if the table has no such kind.
 */
export function chosenKind(
  table: { readonly tableName: string; readonly kinds: readonly { name: string }[] | undefined },
  { nodeTable }: Pick<ImportFlags, 'nodeTable'>,
): string {
  const { tableName, kinds } = table;
  if (kinds === undefined)
    throw new Error(
      `Table ${tableName} holds plain numbers, so its members have no node table. Import into a new table with --create --table NAME.`,
    );
  const names = kinds.map(({ name }) => name);
  if (nodeTable === undefined) {
    if (names.length === 1) return names[0]!;
    throw new UsageError(
      `Table ${tableName} has several kinds of nodes; --node-table says which: ${names.join(', ')}.`,
    );
  }
  const found = names.find((name) => name.toLowerCase() === nodeTable.toLowerCase());
  if (found !== undefined) return found;
  throw new Error(`The members of table ${tableName} are nodes of ${names.join(', ')}, not of ${nodeTable}.`);
}
