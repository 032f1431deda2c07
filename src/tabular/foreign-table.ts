// Rows of a table from an external source: all of them, or the first ones. At this point, the
// meaning of its columns (time, nodes, properties) is not known yet.

export interface ForeignTable {
  readonly names: readonly string[];
  /** Cells in the order of the names. Null, undefined and '' mean that a cell is empty. */
  readonly rows: readonly (readonly unknown[])[];
  /** Whether the cell in this row and column is a text even if it looks like a number. */
  readonly isText: (row: number, column: number) => boolean;
  /** The mark between the cells of a text file. Lists inside a cell use another mark. */
  readonly delimiter?: string | undefined;
}

/** Returns the cells of a column, from the first `most` rows. */
export function cellsOf({ rows }: ForeignTable, column: number, most = rows.length): unknown[] {
  return rows.slice(0, most).map((row) => row[column] ?? null);
}
