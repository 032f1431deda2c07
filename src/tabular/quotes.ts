// Finds cells with quotes around them: these are texts even if they look like numbers.

export interface QuotedRow {
  readonly cells: readonly (string | null)[];
  /** The row as it is in the file. */
  readonly raw: string;
}

/**
 * Returns a function that returns true if the cell in a row and column is quoted. If all cells have
 * quotes, quotes do not mean that a cell is a text, so the function always returns false.
 */
export function quotedTexts(rows: readonly QuotedRow[]): (row: number, column: number) => boolean {
  const quoted = rows.map(({ cells, raw }) => (raw.includes('"') ? quotedCells(cells, raw) : undefined));
  const isTelling = rows.some(({ cells }, row) => cells.some((cell, at) => (cell ?? '') !== '' && !quoted[row]?.[at]));
  return (row, column) => isTelling && quoted[row]?.[column] === true;
}

function quotedCells(cells: readonly (string | null)[], raw: string): boolean[] {
  let at = 0;
  return cells.map((cell) => {
    const isQuoted = raw[at] === '"';
    const length = cell?.length ?? 0;
    at += 1 + length + (isQuoted ? 2 + (cell!.split('"').length - 1) : 0);
    return isQuoted;
  });
}
