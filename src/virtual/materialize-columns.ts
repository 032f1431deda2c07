// Which columns the properties of hyperedges become: names that a table takes, types that hold what was seen.

import type { ColumnType, PropertyValue } from '../engine/types.ts';
import { IDENTIFIER, MAX_TEXT_BYTES } from '../limits.ts';
import type { HydratedEdge } from './hydrate.ts';

export interface MaterializedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The property it holds. */
  readonly property: string;
  /** A column that every table has. */
  readonly builtIn: boolean;
  /** The value as the column takes it; null when it does not. */
  readonly read: (value: unknown) => PropertyValue;
}

/** Numbers and text that every table has a column for. */
const BUILT_IN: Readonly<Record<string, ColumnType>> = { weight: 'REAL', mean_dist_m: 'REAL', formation: 'TEXT' };
const TAKEN = new Set(['id', 'event_ts', 'members', ...Object.keys(BUILT_IN)]);
const MOST_COLUMNS = 100;
const LONGEST_NAME = 64;

/** Columns for the properties of these edges, in their order. Properties that first show later are left out. */
export function columnsOf(edges: readonly HydratedEdge[]): MaterializedColumn[] {
  const kinds = new Map<string, Set<ColumnType>>();
  for (const { properties } of edges) {
    for (const [name, value] of Object.entries(properties)) {
      const seen = kinds.get(name) ?? new Set();
      kinds.set(name, seen);
      if (value !== null) seen.add(typeOf(value));
    }
  }
  const used = new Set(TAKEN);
  const columns: MaterializedColumn[] = [];
  for (const [property, types] of kinds) {
    if (columns.length === MOST_COLUMNS) break;
    const type = commonType(types);
    const builtInType = Object.hasOwn(BUILT_IN, property.toLowerCase()) ? BUILT_IN[property.toLowerCase()] : undefined;
    const fits = builtInType === type || (builtInType === 'REAL' && type === 'INTEGER');
    if (builtInType !== undefined && fits) {
      columns.push({
        name: property.toLowerCase(),
        type: builtInType,
        property,
        builtIn: true,
        read: READ[builtInType],
      });
    } else columns.push({ name: nameFor(property, used), type, property, builtIn: false, read: READ[type] });
  }
  return columns;
}

function typeOf(value: unknown): ColumnType {
  if (typeof value === 'boolean') return 'BOOLEAN';
  if (typeof value !== 'number') return 'TEXT';
  return Number.isSafeInteger(value) ? 'INTEGER' : 'REAL';
}

function commonType(types: ReadonlySet<ColumnType>): ColumnType {
  if (types.size === 1) return [...types][0]!;
  const numbers = [...types].every((type) => type === 'INTEGER' || type === 'REAL');
  return types.size === 2 && numbers ? 'REAL' : 'TEXT';
}

/** `Total (EUR)` -> `Total_EUR`; a number behind it when that is taken. Compared without case. */
function nameFor(property: string, used: Set<string>): string {
  const words = property.match(/[A-Za-z0-9_]+/g)?.join('_') ?? '';
  const start = /^[A-Za-z_]/.test(words) ? words : `p_${words}`;
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = start.slice(0, LONGEST_NAME - suffix.length) + suffix;
    if (used.has(name.toLowerCase()) || !IDENTIFIER.test(name)) continue;
    used.add(name.toLowerCase());
    return name;
  }
}

const READ: Readonly<Record<ColumnType, (value: unknown) => PropertyValue>> = {
  INTEGER: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : null),
  REAL: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null),
  BOOLEAN: (value) => (typeof value === 'boolean' ? value : null),
  TEXT: (value) =>
    value === null || value === undefined ? null : shortened(typeof value === 'string' ? value : JSON.stringify(value)),
};

/** A column holds 64 KB of text. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, MAX_TEXT_BYTES - 3)
    .toString()
    .replace(/\uFFFD+$/, '');
}
