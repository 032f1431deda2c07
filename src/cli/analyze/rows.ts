// Turns the result of a measure into rows, for tables and CSV.

import type { Row } from '../run/runner.ts';

/**
 * Measures whose result is a list of groups: each entry is a list of ids, of any length. For other
 * measures, an entry that is a list consists of two ids and a value.
 */
const GROUPED: ReadonlySet<string> = new Set(['s_connected_components']);

/**
 * Returns one row per id if the keys of an object are ids, one row per entry of a list, and a
 * single row for any other result.
 */
export function rowsOf(result: unknown, measure: string): Row[] {
  if (Array.isArray(result)) return result.map((entry) => rowOfEntry(entry, GROUPED.has(measure)));
  if (typeof result !== 'object' || result === null) return [{ value: result }];
  const entries = Object.entries(result);
  // Node and edge ids are integers; names of fields are not.
  if (entries.length === 0 || !entries.every(([key]) => /^-?\d+$/.test(key)))
    return entries.length === 0 ? [] : [result as Row];
  return entries.map(([id, value]) =>
    typeof value === 'object' && value !== null ? { id: Number(id), ...value } : { id: Number(id), value },
  );
}

/**
 * Sorts rows that have a numeric id and value: the largest value first, equal values by id, null
 * last. Returns the rows unchanged if `result` is a list or a row lacks id or value.
 */
export function largestFirst(rows: readonly Row[], result: unknown): readonly Row[] {
  const isRanked = rows.every(
    ({ id, value }) => typeof id === 'number' && (typeof value === 'number' || value === null),
  );
  if (Array.isArray(result) || !isRanked) return rows;
  const rankOf = ({ value }: Row): number => (value as number | null) ?? Number.NEGATIVE_INFINITY;
  const order = (a: Row, b: Row): number =>
    rankOf(a) === rankOf(b) ? (a.id as number) - (b.id as number) : rankOf(b) - rankOf(a);
  return [...rows].sort(order);
}

function rowOfEntry(entry: unknown, isGroup: boolean): Row {
  if (typeof entry !== 'object' || entry === null) return { id: entry };
  if (!Array.isArray(entry)) return entry as Row;
  return isGroup ? { size: entry.length, members: entry } : { a: entry[0], b: entry[1], value: entry[2] };
}
