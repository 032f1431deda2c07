// The texts of a row that was read with the columns of a text index, and their words.

import { analyzerOf, type Document, documentOf, type Language } from '../../text/index.ts';
import type { EdgeRows } from './edge-rows.ts';

/** The text index of a table. */
export interface WordIndex {
  /** Ids of its columns. */
  readonly columns: readonly number[];
  readonly language: Language;
}

/** Returns the texts of a row, without those that are null. */
export function textsOf({ columns }: WordIndex, rows: EdgeRows, row: number): string[] {
  return columns.map((id) => textAt(rows, id, row)).filter((text) => text !== null);
}

/** Returns the words of a row. Cost: in proportion to `lettersOf`. */
export function documentOfRow({ columns, language }: WordIndex, rows: EdgeRows, row: number): Document {
  return documentOf(
    analyzerOf(language),
    columns.map((id) => textAt(rows, id, row)),
  );
}

/** Returns the number of characters in the texts of a row. */
export function lettersOf({ columns }: WordIndex, rows: EdgeRows, row: number): number {
  let letters = 0;
  for (const id of columns) letters += textAt(rows, id, row)?.length ?? 0;
  return letters;
}

function textAt({ columns }: EdgeRows, id: number, row: number): string | null {
  const column = columns.get(id);
  return column?.kind !== 'text' || column.nulls[row] === 1 ? null : column.texts[column.codes[row]!]!;
}
