// Rows of constant numbers in order: by the first column, then the second, and so on.

/** Rows that one step takes: some tenths of a millisecond. */
const STEP_ROWS = 20_000;
/** Few rows beside many constants are sorted by comparing. */
const COUNTING_SHARE = 8;

/** `rows`, sorted. Equal rows keep their order. `constants`: one more than the greatest number. */
export function* sortRows(
  columns: readonly Int32Array[],
  rows: Int32Array<ArrayBuffer>,
  constants: number,
): Generator<void, Int32Array<ArrayBuffer>, void> {
  if (isSorted(columns, rows)) return rows;
  yield;
  if (rows.length * COUNTING_SHARE < constants) return rows.sort((a, b) => compareRows(columns, a, b) || a - b);
  let from = rows;
  let to = new Int32Array(rows.length);
  // The last column first: each pass keeps the order of the one before.
  for (let at = columns.length - 1; at >= 0; at--) {
    const values = columns[at]!;
    const offsets = new Int32Array(constants + 1);
    for (let place = 0; place < from.length; place++) {
      offsets[values[from[place]!]! + 1]!++;
      if (place % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    for (let value = 0; value < constants; value++) offsets[value + 1]! += offsets[value]!;
    for (let place = 0; place < from.length; place++) {
      const row = from[place]!;
      to[offsets[values[row]!]!++] = row;
      if (place % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    [from, to] = [to, from];
    yield;
  }
  return from;
}

function isSorted(columns: readonly Int32Array[], rows: Int32Array): boolean {
  for (let at = 1; at < rows.length; at++) if (compareRows(columns, rows[at - 1]!, rows[at]!) > 0) return false;
  return true;
}

function compareRows(columns: readonly Int32Array[], a: number, b: number): number {
  for (const column of columns) if (column[a] !== column[b]) return column[a]! - column[b]!;
  return 0;
}
