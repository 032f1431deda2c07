// The first rows of a table that somebody else made: all that is known before its columns have a
// meaning here.

export interface ForeignTable {
  readonly names: readonly string[];
  /** Cells in the order of the names; null, undefined and '' are nothing. */
  readonly rows: readonly (readonly unknown[])[];
  /** Cells that are texts, though they look like numbers: by row and column. */
  readonly isText: (row: number, column: number) => boolean;
  /** What parts the cells of a file of texts. Lists within its cells have another mark. */
  readonly delimiter?: string | undefined;
}

/** `most`: of the first rows. */
export function cellsOf({ rows }: ForeignTable, column: number, most = rows.length): unknown[] {
  return rows.slice(0, most).map((row) => row[column] ?? null);
}
