// The column that holds the ids of edges of a HIF document. Imports make it, exports give the ids
// back. Its name is `edge`, or the next of the series `edge_name`, `edge_name_2`, ... behind those
// that attributes have; so it is the last of the series that a table has.

const SERIES = /^edge(_name(_([2-9]|[1-9]\d+))?)?$/i;

/** The key of the metadata of a HIF document with the name of this column. */
export const EDGE_NAMES = 'edge-names';

/** The value of `written-by` in the metadata of exports. */
export const WRITER = 'Hedgerow';

/** Returns whether a column may hold ids of edges by its name. */
export function isNameColumn(name: string): boolean {
  return placeOf(name) > 0;
}

/** Returns the column for ids that the other columns leave. */
export function nameColumnAfter(others: readonly string[]): string {
  return nameAt(Math.max(0, ...others.map(placeOf)) + 1);
}

/** Returns which of the columns may hold the ids of edges; undefined if none. */
export function nameColumnIn(columns: readonly string[]): string | undefined {
  const last = Math.max(0, ...columns.map(placeOf));
  return last === 0 ? undefined : columns.find((name) => placeOf(name) === last);
}

/** 1 for `edge`, 2 for `edge_name`, 3 for `edge_name_2`; 0 for other names. */
function placeOf(name: string): number {
  const match = SERIES.exec(name);
  if (match === null) return 0;
  if (match[1] === undefined) return 1;
  return match[3] === undefined ? 2 : Number(match[3]) + 1;
}

function nameAt(place: number): string {
  if (place === 1) return 'edge';
  return place === 2 ? 'edge_name' : `edge_name_${place - 1}`;
}
