// Tells from the texts of rows which of them match a search, and their scores, for rows that no
// text block covers.

import { type TextColumnOf, textsOf } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { type Analyzer, analyzerOf, type Document, documentOfTerms, Matcher, scoreOf } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { SearchCondition, SearchStatistics } from '../types.ts';

/** Rows that are copied at once. A text may have 64 KB. */
export const ROWS_A_STEP = 32;
/** Bytes of records after which a step ends; dividing them into words takes about a millisecond. */
const STEP_BYTES = 32 * 1024;

/** Reads the words of records. */
export class WordReader {
  readonly #analyzer: Analyzer;
  readonly #columns: readonly TextColumnOf[];
  /** The words of the first columns of the record that is being read. */
  #read: (readonly string[])[] = [];

  constructor(columns: ColumnSet, search: Pick<SearchCondition, 'columns' | 'language'>) {
    this.#analyzer = analyzerOf(search.language);
    this.#columns = search.columns.map((id) => {
      const missing = columns.withId(id)?.default;
      return { id, missing: typeof missing === 'string' ? missing : null };
    });
  }

  /**
   * Returns the words of a record, in the columns of the index; undefined if they are so long that
   * the next call, with the same record, must continue. A column is read at once: at most 64 KB.
   */
  documentOf(record: Uint8Array): Document | undefined {
    const texts = textsOf(record, 0, this.#columns);
    let letters = 0;
    for (const text of texts.slice(this.#read.length)) {
      if (letters >= STEP_BYTES) return undefined;
      this.#read.push(text === null ? [] : this.#analyzer.terms(text));
      letters += text?.length ?? 0;
    }
    const document = documentOfTerms(this.#read);
    this.#read = [];
    return document;
  }

  /** Gives up the record that is being read. */
  reset(): void {
    this.#read = [];
  }
}

/** Rows that were judged. */
export interface Judged {
  readonly judged: number;
  /** Those that match. */
  readonly kept: Uint32Array;
  /** The scores of these; empty without statistics. */
  readonly scores: Float64Array;
}

export class Judge {
  readonly #reader: WordReader;
  readonly #matcher: Matcher;
  readonly #statistics: SearchStatistics | undefined;
  /** Rows whose records are copied at once: fewer while they are long. */
  #atOnce = ROWS_A_STEP;
  /** The row that is being read. */
  #row: number | undefined;

  /** With `statistics`, rows that match are scored, too. */
  constructor(columns: ColumnSet, search: SearchCondition, statistics?: SearchStatistics) {
    this.#reader = new WordReader(columns, search);
    this.#matcher = new Matcher(search.parts);
    this.#statistics = statistics;
  }

  /**
   * Judges the first of some rows, at most ROWS_A_STEP, for about a millisecond. Of a row of long
   * texts it may read only some, and judge no row; the next call, with the same first row,
   * continues it. `recordsOf` returns the records of rows, one after another.
   */
  some(rows: Uint32Array, recordsOf: (rows: Uint32Array) => Uint8Array): Judged {
    const statistics = this.#statistics;
    const kept: number[] = [];
    const scores: number[] = [];
    let judged = 0;
    let bytes = 0;
    if (rows[0] !== this.#row) this.#reader.reset();
    for (const record of splitRecords(recordsOf(rows.subarray(0, this.#atOnce)))) {
      const document = this.#reader.documentOf(record);
      this.#row = document === undefined ? rows[judged] : undefined;
      if (document === undefined) {
        bytes = STEP_BYTES;
        break;
      }
      const counts = this.#matcher.tally(document);
      if (this.#matcher.matchesTally(counts)) {
        kept.push(rows[judged]!);
        if (statistics !== undefined)
          scores.push(scoreOf(counts, statistics.weights, document.length, statistics.averageLength));
      }
      judged++;
      bytes += record.length;
      if (bytes >= STEP_BYTES) break;
    }
    this.#atOnce = bytes >= STEP_BYTES ? Math.max(1, judged) : Math.min(ROWS_A_STEP, 2 * this.#atOnce);
    return { judged, kept: Uint32Array.from(kept), scores: Float64Array.from(scores) };
  }
}
