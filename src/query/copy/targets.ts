// Maps the columns of a file to those of a table. Names are compared without regard to case, each
// may occur once, and `event_ts` and `members` are required.

import type { ColumnType, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { didYouMean } from '../../model/suggestions.ts';

export type Target =
  | { readonly kind: 'event_ts' }
  /** `kinds`: of a named table, the kinds of its members. */
  | { readonly kind: 'members'; readonly kinds: Table['kinds'] }
  /** An id in the file, such as COPY TO writes, is ignored, because the database assigns ids. */
  | { readonly kind: 'id' }
  | { readonly kind: 'property'; readonly name: string; readonly type: ColumnType };

/**
 * Returns the targets of columns, in the same order. Throws `unknown_column`, or `invalid_input`
 * for a duplicate or missing name.
 */
export function targetsOf(names: readonly string[], table: Table): Target[] {
  const targets = names.map((name) => targetOf(name, table));
  const seen = new Set<string>();
  for (const [index, target] of targets.entries()) {
    const key = target.kind === 'property' ? `property ${target.name}` : target.kind;
    if (seen.has(key)) throw new HedgerowError('invalid_input', `Column ${JSON.stringify(names[index])} occurs twice.`);
    seen.add(key);
  }
  for (const name of table.isOfNodes ? [] : (['event_ts', 'members'] as const)) {
    if (!seen.has(name)) throw new HedgerowError('invalid_input', `There is no column ${name}; every edge has one.`);
  }
  return targets;
}

/** Returns the target of a column. Throws `unknown_column`. */
export function targetOf(name: string, table: Table): Target {
  // A node table has no columns but its own, which may have these names.
  const lower = table.isOfNodes ? '' : name.toLowerCase();
  if (lower === 'members') return { kind: lower, kinds: table.kinds };
  if (lower === 'event_ts' || lower === 'id') return { kind: lower };
  const column = table.columns.find(name);
  if (column !== undefined) return { kind: 'property', name: column.name, type: column.type };
  const known = [...(table.isOfNodes ? [] : ['event_ts', 'members']), ...table.columns.columns.map((one) => one.name)];
  throw new HedgerowError(
    'unknown_column',
    `Table ${table.name} has no column ${JSON.stringify(name.slice(0, 100))}; there are ${known.join(', ')}.${didYouMean(name, known)}`,
  );
}
