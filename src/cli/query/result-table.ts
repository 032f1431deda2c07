// Lays out rows of a result as a table on a terminal. Widths come from the first rows, so that many
// rows can follow one by one.

import { clipped, displayWidth, padEnd, padStart } from '../display-width.ts';
import type { Row } from '../run/runner.ts';
import { printable } from '../table-text.ts';

/** Cells of a terminal that a value takes, at most; the formats for programs show values whole. */
const MOST_CELLS = 100;
const GAP = '  ';

interface Column {
  readonly name: string;
  readonly width: number;
  /** Numbers end on one line. */
  readonly numeric: boolean;
}

export class ResultTable {
  readonly #columns: readonly Column[];

  /** `sample`: rows that tell how wide the columns are; later ones may be wider. */
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

  /** Names, and a line below them. */
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

/** Nothing in it that a terminal would act on. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Long texts are cut before they are looked at one character at a time.
  return clipped(printable(text.slice(0, 8 * MOST_CELLS)), MOST_CELLS);
}
