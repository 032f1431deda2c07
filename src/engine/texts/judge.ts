// Tells from the texts of rows which of them match a search, for rows that no text block covers.

import { type TextColumnOf, textsOf } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { type Analyzer, analyzerOf, type Document, documentOf, Matcher } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { SearchCondition } from '../types.ts';

/** Rows that are judged in one step. A text may have 64 KB. */
export const ROWS_A_STEP = 32;

/** Reads the words of records. */
export class WordReader {
  readonly #analyzer: Analyzer;
  readonly #columns: readonly TextColumnOf[];

  constructor(columns: ColumnSet, search: Pick<SearchCondition, 'columns' | 'language'>) {
    this.#analyzer = analyzerOf(search.language);
    this.#columns = search.columns.map((id) => {
      const missing = columns.withId(id)?.default;
      return { id, missing: typeof missing === 'string' ? missing : null };
    });
  }

  /** Returns the words of a record, in the columns of the index. */
  documentOf(record: Uint8Array): Document {
    return documentOf(this.#analyzer, textsOf(record, 0, this.#columns));
  }
}

export class Judge {
  readonly #reader: WordReader;
  readonly #matcher: Matcher;

  constructor(columns: ColumnSet, search: SearchCondition) {
    this.#reader = new WordReader(columns, search);
    this.#matcher = new Matcher(search.parts);
  }

  /** Returns those of some rows that match; `records` are the records of all of them. */
  kept(rows: Uint32Array, records: Uint8Array): Uint32Array {
    const kept = new Uint32Array(rows.length);
    let count = 0;
    let place = 0;
    for (const record of splitRecords(records)) {
      if (this.#matcher.matches(this.#reader.documentOf(record))) kept[count++] = rows[place]!;
      place++;
    }
    return kept.subarray(0, count);
  }
}
