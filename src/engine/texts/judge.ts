// Tells from the texts of rows which of them match a search, for rows that no text block covers.

import { type TextColumnOf, textsOf } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { type Analyzer, analyzerOf, type Document, documentOf, Matcher } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { SearchCondition } from '../types.ts';

/** Rows that are copied at once. A text may have 64 KB. */
export const ROWS_A_STEP = 32;
/** Bytes of records after which a step ends; dividing them into words takes about a millisecond. */
const STEP_BYTES = 32 * 1024;

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

  /**
   * Judges the first of some rows, at least one and at most ROWS_A_STEP, for about a millisecond.
   * `recordsOf` returns the records of rows, one after another. Returns how many were judged, and
   * those of them that match.
   */
  some(rows: Uint32Array, recordsOf: (rows: Uint32Array) => Uint8Array): { judged: number; kept: Uint32Array } {
    const kept: number[] = [];
    let judged = 0;
    let bytes = 0;
    for (const record of splitRecords(recordsOf(rows.subarray(0, ROWS_A_STEP)))) {
      if (this.#matcher.matches(this.#reader.documentOf(record))) kept.push(rows[judged]!);
      judged++;
      bytes += record.length;
      if (bytes >= STEP_BYTES) break;
    }
    return { judged, kept: Uint32Array.from(kept) };
  }
}
