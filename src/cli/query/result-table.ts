// Lays out the rows of a result as a table on a terminal. The widths are those of the first rows,
// so that later rows can be written as they arrive.

import { clipped, displayWidth, padEnd, padStart } from '../display-width.ts';
import type { Row } from '../run/runner.ts';
import { printable } from '../table-text.ts';

/**
 * Maximum width of a value in terminal cells. Longer values are shortened, which the formats for
 * programs never do.
 */
const MOST_CELLS = 100;
const GAP = '  ';

interface Column {
  readonly name: string;
  readonly width: number;
  /** Columns of numbers are aligned to the right. */
  readonly numeric: boolean;
}

export class ResultTable {
  readonly #columns: readonly Column[];

  /** `sample`: the rows that determine the widths of the columns; later rows may be wider. */
  constructor(names: readonly string[], sample: readonly Row[]) {
    this.#columns = names.map((name) => {
      const values = sample.map((row) => row[name]);
      return {
        name,
        width: Math.max(displayWidth(headText(name)), ...values.map((value) => displayWidth(cellText(value)))),
        numeric: values.length > 0 && values.every((value) => typeof value === 'number' || value === null),
      };
    });
  }

  /** Returns the line of names and a line below it. */
  head(): string {
    const rules = this.#columns.map(({ width }) => '-'.repeat(width));
    return this.#line(this.#columns.map(({ name }) => headText(name))) + this.#line(rules);
  }

  rows(rows: readonly Row[]): string {
    return rows.map((row) => this.#line(this.#columns.map(({ name }) => cellText(row[name])))).join('');
  }

  #line(cells: readonly string[]): string {
    const padded = this.#columns.map(({ width, numeric }, place) =>
      numeric ? padStart(cells[place]!, width) : padEnd(cells[place]!, width),
    );
    return `${padded.join(GAP).trimEnd()}\n`;
  }
}

function headText(name: string): string {
  return clipped(printable(name), MOST_CELLS);
}

/**
 * Returns the text of a value, with control characters escaped, and shortened if it is too wide.
 */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Cuts long texts first, because measuring goes through them one character at a time.
  return clipped(printable(text.slice(0, 8 * MOST_CELLS)), MOST_CELLS);
}
