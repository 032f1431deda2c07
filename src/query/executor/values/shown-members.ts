// Puts keys in place of the numbers of members in result values, depending on the form of the
// column: members, edges, and lists of these.

import type { Table } from '../../../engine/index.ts';
import type { Value } from '../../binder/bound.ts';
import type { ResultForm } from '../../binder/column-types.ts';
import type { ResultChunk } from '../run-match.ts';
import type { Written } from './iso-values.ts';
import { type Vector, valueAt } from './vector.ts';

/**
 * How members of named tables are shown: as the internal numbers, or always as objects with kind
 * and key. Undefined: as keys, or as objects if the members of the table are of several kinds.
 */
export type AskedMembers = 'numbers' | 'objects' | undefined;

/** Maximum number of shown members that one column keeps, so that each is looked up once. */
const MOST_KEPT = 65_536;

/** Returns how members of a named table are shown. */
export function membersAreObjects({ kinds }: Pick<Table, 'kinds'>, asked: AskedMembers): boolean {
  return asked === 'objects' || (kinds?.length ?? 0) > 1;
}

/**
 * Returns one converter per column, or undefined for a column whose values do not change. Returns
 * undefined if no column has members that change.
 */
export function shownMembers(
  forms: readonly ResultForm[],
  asked: AskedMembers,
): readonly (Written | undefined)[] | undefined {
  if (asked === 'numbers') return undefined;
  const written = forms.map((form) => writtenAs(form, asked));
  return written.some((each) => each !== undefined) ? written : undefined;
}

function writtenAs({ type, items, named }: ResultForm, asked: AskedMembers): Written | undefined {
  if (named !== undefined) {
    const keys = keysOf(named, membersAreObjects(named, asked));
    return type === 'EDGE' ? (value) => edgeWithKeys(value, keys) : keys;
  }
  const item = type === 'LIST' && items !== undefined ? writtenAs(items, asked) : undefined;
  return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
}

function keysOf({ context }: Table, asObjects: boolean): Written {
  const kept = new Map<number, Value>();
  const shown = (number: number): Value => {
    let value = kept.get(number);
    if (value === undefined) {
      value = context.nodes.shown(number, asObjects) as Value;
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(number, value);
    }
    return value;
  };
  return (value) => (Array.isArray(value) ? value.map(shown as (item: Value) => Value) : value);
}

/** Converts the members of an edge, those of its roles too, and keeps the order of the columns. */
function edgeWithKeys(value: Value, keys: Written): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const edge = value as Readonly<Record<string, Value>>;
  const { roles } = edge;
  if (typeof roles !== 'object' || roles === null || Array.isArray(roles))
    return { ...edge, members: keys(edge.members!) };
  const shown = Object.entries(roles).map(([role, members]) => [role, keys(members)] as const);
  return { ...edge, members: keys(edge.members!), roles: Object.fromEntries(shown) };
}

/** Returns a chunk with converted values. */
export function convertedChunk({ count, items }: ResultChunk, written: readonly (Written | undefined)[]): ResultChunk {
  const converted = items.map((vector, place): Vector => {
    const convert = written[place];
    if (convert === undefined) return vector;
    if (vector.kind === 'constant') return { kind: 'constant', value: convert(vector.value) };
    return { kind: 'value', values: Array.from({ length: count }, (_, row) => convert(valueAt(vector, row))) };
  });
  return { count, items: converted };
}
