// Finds the edges whose texts have words of a question, through the text index of the table, and
// scores them by BM25.

import {
  bestRows,
  type ScanBounds,
  type SearchCondition,
  type SearchStatistics,
  searchStatistics,
} from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import { analyzerOf, documentOf, type Language, Matcher, type SearchPart, scoreOf } from '../../text/index.ts';
import type { EdgeReader, EdgeRows } from './edge-rows.ts';
import type { RowTest } from './row-test.ts';

/** The text index of a table. */
export interface WordIndex {
  /** Ids of its columns. */
  readonly columns: readonly number[];
  readonly language: Language;
}

/** Words that are searched for together. */
export interface WordQuery {
  /** The parts of the search, none with a sign. */
  readonly parts: readonly SearchPart[];
  /** The keyword that gave each part, by its place in the list of keywords. */
  readonly keywords: readonly number[];
}

/**
 * Returns the search for keywords: a keyword that the index divides into several words is a phrase
 * of them. Undefined if no keyword has a word.
 */
export function wordQuery(keywords: readonly string[], { language }: WordIndex): WordQuery | undefined {
  const analyzer = analyzerOf(language);
  const parts: SearchPart[] = [];
  const places: number[] = [];
  const known = new Set<string>();
  for (const [place, keyword] of keywords.entries()) {
    const terms = analyzer.terms(keyword);
    const name = terms.join(' ');
    if (terms.length === 0 || known.has(name)) continue;
    known.add(name);
    parts.push({ kind: terms.length === 1 ? 'word' : 'phrase', terms, sign: 'should' });
    places.push(place);
  }
  return parts.length === 0 ? undefined : { parts, keywords: places };
}

/** Scores the texts of rows for a query, by the statistics of the snapshot. */
export class WordScorer {
  readonly query: WordQuery;
  readonly statistics: SearchStatistics;
  readonly #columns: readonly number[];
  readonly #language: Language;
  readonly #matcher: Matcher;

  private constructor(query: WordQuery, { columns, language }: WordIndex, statistics: SearchStatistics) {
    this.query = query;
    this.statistics = statistics;
    this.#columns = columns;
    this.#language = language;
    this.#matcher = new Matcher(query.parts);
  }

  /** Counts the words in all live rows of the snapshot. Throws `table_corrupt` or `overloaded`. */
  static *of({ table, snapshot }: EdgeReader, query: WordQuery, index: WordIndex): Steps<WordScorer> {
    const { version, lsn } = snapshot;
    const counting = searchStatistics(table, { version, lsn, overlay: undefined }, conditionOf(query, index));
    return new WordScorer(query, index, yield* unknownProgress(counting));
  }

  /**
   * Returns the score of a row that was read with the columns of the index, and the places of the
   * keywords in it; undefined if it has none of them.
   */
  hitOf(rows: EdgeRows, row: number): { readonly score: number; readonly keywords: readonly number[] } | undefined {
    const texts = this.#columns.map((id) => textAt(rows, id, row));
    const document = documentOf(analyzerOf(this.#language), texts);
    const counts = this.#matcher.tally(document);
    if (!this.#matcher.matchesTally(counts)) return undefined;
    const { weights, averageLength } = this.statistics;
    const keywords = this.query.keywords.filter((_, part) => counts[part]! > 0);
    return { score: scoreOf(counts, weights, document.length, averageLength), keywords };
  }

  /** Number of characters in the texts of a row, which is what scoring it costs. */
  lettersOf(rows: EdgeRows, row: number): number {
    let letters = 0;
    for (const id of this.#columns) letters += textAt(rows, id, row)?.length ?? 0;
    return letters;
  }
}

function textAt({ columns }: EdgeRows, id: number, row: number): string | null {
  const column = columns.get(id);
  return column?.kind !== 'text' || column.nulls[row] === 1 ? null : column.texts[column.codes[row]!]!;
}

function conditionOf({ parts }: WordQuery, { columns, language }: WordIndex): SearchCondition {
  return { columns, language, parts };
}

/** An edge that has words of a question. */
export interface WordHit {
  readonly id: number;
  readonly eventTs: number;
  /** BM25. */
  readonly score: number;
}

export interface WordHits {
  /** The best hits, best first; of equal scores the newest first. */
  readonly hits: readonly WordHit[];
  /** Whether more edges have words of the question. */
  readonly overflowed: boolean;
}

/** Characters of texts that are scored in one step, which takes about 2 ms. */
const STEP_LETTERS = 50_000;

/**
 * Returns the `size` best edges within the bounds that pass a test. `reader` must read the columns
 * of the index and those of the test. Throws `table_corrupt` or `overloaded`.
 */
export function* wordHits(
  reader: EdgeReader,
  scorer: WordScorer,
  index: WordIndex,
  within: { readonly bounds: ScanBounds; readonly testOf: ((rows: EdgeRows) => RowTest) | undefined },
  size: number,
): Steps<WordHits> {
  const { table, snapshot } = reader;
  const { bounds, testOf } = within;
  const search = conditionOf(scorer.query, index);
  const view = { version: snapshot.version, lsn: snapshot.lsn, overlay: undefined };
  // One more than is wanted tells whether there are more.
  const best = new BestHits(size + 1);
  const candidates =
    testOf === undefined && bounds.anyOf === undefined
      ? yield* unknownProgress(bestRows(table, view, { ...bounds, search }, scorer.statistics, size + 1))
      : undefined;
  let letters = 0;
  for (const rows of reader.readKeys({ ...bounds, search: { ...search, candidates } })) {
    yield undefined;
    if (rows === null) continue;
    const passes = testOf?.(rows);
    for (let row = 0; row < rows.rows; row++) {
      if (passes !== undefined && !passes(row)) continue;
      letters += scorer.lettersOf(rows, row);
      const hit = scorer.hitOf(rows, row);
      if (hit !== undefined) best.add({ id: rows.ids[row]!, eventTs: rows.times[row]!, score: hit.score });
      if (letters < STEP_LETTERS) continue;
      letters = 0;
      yield undefined;
    }
  }
  const hits = best.sorted();
  return { hits: hits.slice(0, size), overflowed: hits.length > size };
}

function comesFirst(a: WordHit, b: WordHit): number {
  return b.score - a.score || b.eventTs - a.eventTs || a.id - b.id;
}

/** Keeps the best hits: at most twice as many as wanted, which are sorted now and then. */
class BestHits {
  readonly #size: number;
  #hits: WordHit[] = [];
  #least = Number.NEGATIVE_INFINITY;

  constructor(size: number) {
    this.#size = size;
  }

  add(hit: WordHit): void {
    if (hit.score < this.#least) return;
    this.#hits.push(hit);
    if (this.#hits.length < 2 * this.#size + 16) return;
    this.#hits = this.sorted();
    this.#least = this.#hits.at(-1)!.score;
  }

  sorted(): WordHit[] {
    return this.#hits.sort(comesFirst).slice(0, this.#size);
  }
}

/** Runs steps of a scan, whose progress is not known. */
export function* unknownProgress<T>(steps: Generator<null, T, void>): Steps<T> {
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      yield undefined;
    }
  } finally {
    steps.return(undefined as T);
  }
}
