// The shape of a hyperedge table: what its members are, which roles they may have, and whether its
// edges have an end. It is set when the table is created. All code that creates, stores, shows or
// copies a table reads this file.

import { HedgerowError } from '../errors.ts';
import { IDENTIFIER } from './columns.ts';

/** Maximum number of roles in a table: a member's roles are stored as a mask of 16 bits. */
export const MOST_ROLES = 16;

/** The field with the members of each role in the rows of a table with roles. */
export const ROLES_FIELD = 'roles';

/** The shape under the names that programs use, when a table is created. */
export interface ShapeInput {
  /** Names of the roles that members may have, at most MOST_ROLES. */
  roles?: readonly string[] | undefined;
  /** Whether the edges have the built-in column `end_ts`. */
  intervals?: boolean | undefined;
  /** Of a named table: whether a key that nobody has used creates its node. Default true. */
  createNodes?: boolean | undefined;
}

/** The shape under the names that answers use. */
export interface ShapeFields {
  /** Whether the members are plain numbers or nodes of node tables. */
  nodes: 'numbers' | 'named';
  roles: string[];
  intervals: boolean;
  /** Only of a named table: whether a key that nobody has used creates its node. */
  create_nodes?: boolean;
}

export const SHAPE_FIELDS: readonly (keyof ShapeFields)[] = ['nodes', 'roles', 'intervals'];

/**
 * Checks names of roles. `taken` holds the names of the table's columns in lower case. Throws
 * `invalid_input` or `column_exists`.
 */
export function checkRoles(roles: readonly string[], taken: ReadonlySet<string>): string[] {
  if (roles.length > MOST_ROLES) throw wrong(['roles'], `must be at most ${MOST_ROLES}`);
  const seen = new Set<string>();
  for (const [index, role] of roles.entries()) {
    if (typeof role !== 'string' || !IDENTIFIER.test(role)) throw wrong(['roles', index], 'must be an identifier');
    const lower = role.toLowerCase();
    if (taken.has(lower))
      throw new HedgerowError('column_exists', `Role ${role} has the name of a column; take another name.`, {
        errors: [{ loc: ['roles', index], msg: 'is the name of a column' }],
      });
    if (seen.has(lower)) throw wrong(['roles', index], 'is given twice (names are compared without case)');
    seen.add(lower);
  }
  return [...roles];
}

/**
 * Writes the shape in the form that it has in CREATE HYPEREDGE TABLE, with a space before each
 * clause. `nameText` writes a name as it stands in a statement.
 */
export function shapeWords(
  { roles = [], intervals = false, create_nodes: creates = true }: Partial<ShapeFields>,
  nameText: (name: string) => string,
): string {
  const named = roles.length === 0 ? '' : ` ROLES (${roles.map(nameText).join(', ')})`;
  return `${named}${intervals ? ' INTERVALS' : ''}${creates ? '' : ' CREATE_NODES false'}`;
}

function wrong(loc: (string | number)[], msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${loc.join('.')} ${msg}.`, { errors: [{ loc, msg }] });
}
