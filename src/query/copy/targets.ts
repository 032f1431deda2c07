// Maps the columns of a file to those of a table. Names are compared without regard to case, each
// may occur once, and `event_ts` and `members`, or a role, are required.

import type { ColumnType, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { ROLES_FIELD } from '../../model/shape.ts';
import { didYouMean } from '../../model/suggestions.ts';

export type Target =
  | { readonly kind: 'event_ts' }
  | { readonly kind: 'members' }
  /** The members with one role. */
  | { readonly kind: 'role'; readonly name: string }
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
  if (!seen.has('event_ts')) throw missing('event_ts');
  if (!targets.some(({ kind }) => kind === 'members' || kind === 'role' || kind === 'roles')) throw missing('members');
  return targets;
}

function missing(name: string): HedgerowError {
  return new HedgerowError('invalid_input', `There is no column ${name}; every edge has one.`);
}

/** Returns the target of a column. Throws `unknown_column`. */
export function targetOf(name: string, table: Table): Target {
  const lower = name.toLowerCase();
  if (lower === 'event_ts' || lower === 'members' || lower === 'id') return { kind: lower };
  const role = table.roles.find(name);
  if (role !== undefined) return { kind: 'role', name: role.name };
  if (!table.roles.isEmpty && lower === ROLES_FIELD) return { kind: 'roles' };
  const column = table.columns.find(name);
  if (column !== undefined) return { kind: 'property', name: column.name, type: column.type };
  const known = ['event_ts', 'members', ...table.roles.names, ...table.columns.columns.map((one) => one.name)];
  throw new HedgerowError(
    'unknown_column',
    `Table ${table.name} has no column ${JSON.stringify(name.slice(0, 100))}; there are ${known.join(', ')}.${didYouMean(name, known)}`,
  );
}
