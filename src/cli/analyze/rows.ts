// Turns the result of a measure into rows, for tables and CSV.

import type { Row } from '../run/runner.ts';

/**
 * Measures whose result is a list of groups: each entry is a list of ids, of any length. For other
 * measures, an entry that is a list consists of two ids and a value.
 */
const GROUPED: ReadonlySet<string> = new Set(['s_connected_components']);

/** Measures whose result, if it is an object, is a map by id. */
const BY_ID: ReadonlySet<string> = new Set([
  'node_degree',
  'edge_size',
  'redundancy',
  'betweenness',
  'closeness',
  'harmonic_centrality',
  'pagerank',
  'zhou_clustering',
  'pairwise_clustering',
  'temporal_coreness',
]);
const INTEGER = /^(?:0|-?[1-9]\d*)$/;

/**
 * Returns one row per id if the keys of an object are ids, one row per entry of a list, and a
 * single row for any other result.
 */
export function rowsOf(result: unknown, measure: string): Row[] {
  if (Array.isArray(result)) return result.map((entry) => rowOfEntry(entry, GROUPED.has(measure)));
  if (typeof result !== 'object' || result === null) return [{ value: result }];
  const entries = Object.entries(result);
  if (entries.length === 0) return [];
  // Ids are integers or, in a named table, keys, which may be any text; names of fields are
  // neither.
  const areIntegers = entries.every(([key]) => INTEGER.test(key) && Number.isSafeInteger(Number(key)));
  if (!areIntegers && !isById(measure, result)) return [result as Row];
  return entries.map(([key, value]) => {
    const id = areIntegers ? Number(key) : key;
    return typeof value === 'object' && value !== null ? { id, ...value } : { id, value };
  });
}

/** Returns whether an object is a map by id. Burstiness is one, if it is not that of the table. */
function isById(measure: string, result: object): boolean {
  if (measure !== 'temporal_burstiness') return BY_ID.has(measure);
  return Object.values(result).every((value) => typeof value === 'object' && value !== null);
}

/**
 * Sorts rows that have an id and a numeric value: the largest value first, equal values by numeric
 * id (or in the given order, if ids are keys), null last. Returns the rows unchanged if `result` is
 * a list or a row lacks id or value.
 */
export function largestFirst(rows: readonly Row[], result: unknown): readonly Row[] {
  const isRanked = rows.every(({ id, value }) => id !== undefined && (typeof value === 'number' || value === null));
  if (Array.isArray(result) || !isRanked) return rows;
  const rankOf = ({ value }: Row): number => (value as number | null) ?? Number.NEGATIVE_INFINITY;
  const order = (a: Row, b: Row): number =>
    rankOf(a) !== rankOf(b) ? rankOf(b) - rankOf(a) : typeof a.id === 'number' ? a.id - (b.id as number) : 0;
  return [...rows].sort(order);
}

function rowOfEntry(entry: unknown, isGroup: boolean): Row {
  if (typeof entry !== 'object' || entry === null) return { id: entry };
  if (!Array.isArray(entry)) return entry as Row;
  return isGroup ? { size: entry.length, members: entry } : { a: entry[0], b: entry[1], value: entry[2] };
}
