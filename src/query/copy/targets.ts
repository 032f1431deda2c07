// Maps the columns of a file to those of a table. Names are compared without regard to case, each
// may occur once, and `event_ts` and `members`, or a role, are required.

import type { ColumnType, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { ROLES_FIELD } from '../../model/shape.ts';
import { didYouMean } from '../../model/suggestions.ts';

export type Target =
  | { readonly kind: 'event_ts' }
  /** `kinds`: of a named table, the kinds of its members. */
  | { readonly kind: 'members'; readonly kinds: Table['kinds'] }
  /** The members with one role. */
  | { readonly kind: 'role'; readonly name: string; readonly kinds: Table['kinds'] }
  /** An object with the members of each role, as rows have it. */
  | { readonly kind: 'roles' }
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
    const key = 'name' in target ? `${target.kind} ${target.name}` : target.kind;
    if (seen.has(key)) throw new HedgerowError('invalid_input', `Column ${JSON.stringify(names[index])} occurs twice.`);
    seen.add(key);
  }
  if (table.isOfNodes) return targets;
  if (!seen.has('event_ts')) throw missing('event_ts');
  if (!targets.some(({ kind }) => kind === 'members' || kind === 'role' || kind === 'roles')) throw missing('members');
  return targets;
}

function missing(name: string): HedgerowError {
  return new HedgerowError('invalid_input', `There is no column ${name}; every edge has one.`);
}

/** Returns the target of a column. Throws `unknown_column`. */
export function targetOf(name: string, table: Table): Target {
  // A node table has no columns but its own, which may have these names.
  const lower = table.isOfNodes ? '' : name.toLowerCase();
  if (lower === 'members') return { kind: lower, kinds: table.kinds };
  if (lower === 'event_ts' || lower === 'id') return { kind: lower };
  const role = table.roles.find(name);
  if (role !== undefined) return { kind: 'role', name: role.name, kinds: table.kinds };
  if (!table.roles.isEmpty && lower === ROLES_FIELD) return { kind: 'roles' };
  const column = table.columns.find(name);
  if (column !== undefined) return { kind: 'property', name: column.name, type: column.type };
  const own = [...table.roles.names, ...table.columns.columns.map((one) => one.name)];
  const known = table.isOfNodes ? own : ['event_ts', 'members', ...own];
  throw new HedgerowError(
    'unknown_column',
    `Table ${table.name} has no column ${JSON.stringify(name.slice(0, 100))}; there are ${known.join(', ')}.${didYouMean(name, known)}`,
  );
}
