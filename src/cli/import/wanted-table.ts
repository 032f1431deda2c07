// Decides what a hyperedge table that an import creates has beside its columns and node tables.

import type { Input } from './inputs.ts';
import { type ImportFlags, tableOf } from './options.ts';
import type { TargetTable } from './targets/target.ts';

/**
 * Returns the table of the inputs with edges: its roles are those of `--role` and those that the
 * inputs name, and it has intervals if an input has ends. Throws UsageError.
 */
export function wantedTable(inputs: readonly Input[], flags: ImportFlags): TargetTable {
  const table = tableOf(flags);
  const edges = inputs.filter(({ holds }) => holds === 'edges');
  const roles = new Map<string, string>();
  for (const role of [...table.roles, ...edges.flatMap(({ looked }) => looked.roles ?? [])])
    if (!roles.has(role.toLowerCase())) roles.set(role.toLowerCase(), role);
  const names = [...roles.values()];
  const intervals = edges.map(({ looked }) => looked.plan([], names).intervals).includes(true);
  return { ...table, roles: names, intervals };
}
