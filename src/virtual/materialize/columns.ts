// Maps the properties of hyperedges to table columns, with valid names and with types that can
// represent the values.

import type { ColumnType, PropertyValue } from '../../engine/index.ts';
import { kindOfType, type ValueKind } from '../../model/column-types.ts';
import {
  BUILT_IN_COLUMNS,
  builtInType,
  IDENTIFIER,
  LONGEST_IDENTIFIER,
  MOST_COLUMNS,
  RESERVED_NAMES,
} from '../../model/columns.ts';
import { MAX_TEXT_BYTES } from '../../model/text.ts';
import type { ColumnKind } from '../backend.ts';
import type { HydratedEdge } from '../hydrate/hydrate.ts';

export interface MaterializedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The property whose values the column stores. */
  readonly property: string;
  /** Whether every table has this column. */
  readonly builtIn: boolean;
  /** Converts a value for the column. Returns null if the column cannot store the value. */
  readonly read: (value: unknown) => PropertyValue;
}

/**
 * Returns the columns for the properties of a result, in order. Properties beyond the maximum
 * number of columns are dropped. `edges` is a sample that shows whether integers fit into 2^53.
 */
export function columnsOf(
  properties: readonly { readonly name: string; readonly kind: ColumnKind }[],
  edges: readonly HydratedEdge[],
): MaterializedColumn[] {
  const used = new Set(RESERVED_NAMES);
  const free = new Set(BUILT_IN_COLUMNS.map(({ name }) => name));
  return properties.slice(0, MOST_COLUMNS).map(({ name: property, kind }) => {
    const type = typeOf(property, kind, edges);
    const lower = property.toLowerCase();
    const builtIn = free.has(lower) ? builtInType(lower) : undefined;
    if (builtIn !== undefined && (builtIn === type || (builtIn === 'REAL' && type === 'INTEGER'))) {
      free.delete(lower);
      return { name: lower, type: builtIn, property, builtIn: true, read: READ[kindOfType(builtIn)] };
    }
    return { name: nameFor(property, used), type, property, builtIn: false, read: READ[kindOfType(type)] };
  });
}

/**
 * Returns the type of a table column. It follows from the kind of the backend's column, so that it
 * does not depend on which rows arrive first. Integers are the exception: if one in the sample is
 * beyond 2^53, and therefore a text, the column is TEXT.
 */
function typeOf(property: string, kind: ColumnKind, edges: readonly HydratedEdge[]): ColumnType {
  if (kind === 'boolean') return 'BOOLEAN';
  if (kind === 'real' || kind === 'decimal') return 'REAL';
  if (kind !== 'integer') return 'TEXT';
  return edges.some(({ properties }) => typeof properties[property] === 'string') ? 'TEXT' : 'INTEGER';
}

/**
 * Returns the column name for a property: `Total_EUR` for `Total (EUR)`. Appends a number if the
 * name is already taken; case is ignored.
 */
function nameFor(property: string, used: Set<string>): string {
  const words = property.match(/[A-Za-z0-9_]+/g)?.join('_') ?? '';
  const start = /^[A-Za-z_]/.test(words) ? words : `p_${words}`;
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = start.slice(0, LONGEST_IDENTIFIER - suffix.length) + suffix;
    if (used.has(name.toLowerCase()) || !IDENTIFIER.test(name)) continue;
    used.add(name.toLowerCase());
    return name;
  }
}

const READ: Readonly<Record<ValueKind, (value: unknown) => PropertyValue>> = {
  integer: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : null),
  // A decimal with many digits arrives as text.
  real: (value) => (value !== null && Number.isFinite(Number(value)) ? Number(value) : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  text: (value) => (value === null || value === undefined ? null : shortened(String(value))),
};

/** Truncates a text to the maximum length in a column, 64 KB. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, MAX_TEXT_BYTES - 3)
    .toString()
    .replace(/\uFFFD+$/, '');
}
