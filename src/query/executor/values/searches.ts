// Evaluates search(alias, 'words') and score(alias) from the texts of rows. The first search that
// every row must match is not evaluated here: the scan returns rows that match, and, if only the
// best are wanted, mostly their scores. What is left are other scores, searches within OR and NOT,
// and further ones. As soon as many texts have been read for one of these, the text index finds all
// rows that match it, and texts are read no longer (rows/matched-rows.ts).

import { assert } from '../../../assert.ts';
import type { SearchCondition, SearchStatistics } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import {
  type Analyzer,
  analyzerOf,
  type Document,
  documentOf,
  Matcher,
  parseSearch,
  type SearchPart,
  scoreOf,
} from '../../../text/index.ts';
import type { BoundExpression, BoundScore, BoundSearch } from '../../binder/bound.ts';
import { type ParameterValues, parameterValue } from '../../binder/parameters.ts';
import { partsOf } from '../../binder/parts.ts';
import type { NumberTable } from '../rows/number-table.ts';
import type { Side } from '../rows/row-set.ts';
import type { Environment } from './evaluate.ts';
import { type Vector, valueAt } from './vector.ts';

type Searching = BoundSearch | BoundScore;
/** The texts of one row, by column of the index. */
type Texts = readonly (string | null)[];

/** What a run knows of one search. */
export interface RunSearch {
  readonly pattern: number;
  readonly condition: SearchCondition;
  readonly analyzer: Analyzer;
  readonly matcher: Matcher;
  /** Set by `prepareScores`. */
  statistics: SearchStatistics | undefined;
  /** The scores of all rows that are read, by id; undefined if their texts are read. */
  known: ReadonlyMap<number, number> | undefined;
  /** Length of the texts that were read to know whether they match, in UTF-16 units. */
  letters: number;
  /** The ids of all rows that match. */
  matched: NumberTable | undefined;
  /** Whether there was no memory for them. */
  isGivenUp: boolean;
  /** The scores of the last rows: a statement may return them and order by them. */
  last: { readonly side: Side; readonly count: number; readonly vector: Vector } | undefined;
}

/** The searches of one run, by the position of their alias and their words. */
export class RunSearches {
  readonly #known = new Map<string, RunSearch>();
  #last: { readonly analyzer: Analyzer; readonly texts: Texts; readonly document: Document } | undefined;

  of(node: Searching, parameters: ParameterValues): RunSearch {
    const query = queryOf(node, parameters);
    const name = `${node.pattern} ${query}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = newSearch(node, partsOfSearch(node, parameters));
      this.#known.set(name, known);
    }
    return known;
  }

  /** Whether the rows that match a search were found, so that no text is read for it. */
  isMatched(node: Searching, parameters: ParameterValues): boolean {
    return this.#known.size > 0 && this.of(node, parameters).matched !== undefined;
  }

  /** Returns the searches for which texts are read, so many letters of them at least. */
  read(letters: number): RunSearch[] {
    return [...this.#known.values()].filter((each) => isRead(each, letters));
  }

  /** Whether `read` returns any search. */
  hasRead(letters: number): boolean {
    for (const search of this.#known.values()) if (isRead(search, letters)) return true;
    return false;
  }

  /**
   * Returns the words of a row. Those of the last row are kept: rows with long texts are evaluated
   * one by one, and a statement may have several searches.
   */
  documentOf(analyzer: Analyzer, texts: Texts): Document {
    const last = this.#last;
    const isLast =
      last?.analyzer === analyzer &&
      last.texts.length === texts.length &&
      texts.every((text, column) => text === last.texts[column]);
    if (isLast) return last.document;
    const document = documentOf(analyzer, texts);
    this.#last = { analyzer, texts, document };
    return document;
  }
}

function newSearch({ pattern, fields, language }: Searching, parts: readonly SearchPart[]): RunSearch {
  const columns = fields.map(({ field }) => (field as { id: number }).id);
  return {
    pattern,
    condition: { columns, language, parts },
    analyzer: analyzerOf(language),
    matcher: new Matcher(parts),
    statistics: undefined,
    known: undefined,
    letters: 0,
    matched: undefined,
    isGivenUp: false,
    last: undefined,
  };
}

function isRead({ letters, matched, isGivenUp }: RunSearch, least: number): boolean {
  return letters >= least && matched === undefined && !isGivenUp;
}

/**
 * Computes the statistics of every score among expressions. Yields null between steps of a few
 * milliseconds. Call it before any of the expressions is evaluated.
 */
export function* prepareScores(
  expressions: Iterable<BoundExpression>,
  { parameters, searches }: Environment,
  statisticsOf: (search: RunSearch) => Generator<null, SearchStatistics, void>,
): Generator<null, void, void> {
  if (searches === undefined) return;
  for (const expression of expressions)
    for (const score of scoresIn(expression)) {
      const search = searches.of(score, parameters);
      search.statistics ??= yield* statisticsOf(search);
    }
}

function* scoresIn(expression: BoundExpression): Generator<BoundScore, void, void> {
  if (expression.kind === 'score') yield expression;
  else for (const part of partsOf(expression)) yield* scoresIn(part);
}

/** Returns the searches in an expression. */
export function* searchesIn(expression: BoundExpression): Generator<BoundSearch, void, void> {
  if (expression.kind === 'search') yield expression;
  else for (const part of partsOf(expression)) yield* searchesIn(part);
}

/** Searches that were parsed lately: a statement asks for the parts of each several times. */
const parsed = new Map<string, readonly SearchPart[]>();
const MOST_PARSED = 16;

/** Returns the parts of a search. Throws `invalid_input` if the words of a parameter are none. */
export function partsOfSearch(node: Searching, parameters: ParameterValues): readonly SearchPart[] {
  const query = queryOf(node, parameters);
  const name = `${node.language} ${query}`;
  let parts = parsed.get(name);
  if (parts === undefined) {
    parts = parseSearch(query, analyzerOf(node.language));
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(name, parts);
  }
  return parts;
}

function queryOf({ query }: Searching, parameters: ParameterValues): string {
  const value = query.kind === 'constant' ? query.value : parameterValue(parameters, query);
  if (typeof value !== 'string') throw new HedgerowError('invalid_input', 'The words of a search are a text.');
  return value;
}

/** Whether each row matches a search; never null. */
export function searchVector(
  node: BoundSearch,
  at: (operand: BoundExpression) => Vector,
  count: number,
  { parameters, searches }: Environment,
  side: Side,
): Vector {
  const search = searches!.of(node, parameters);
  const { analyzer, matched, matcher } = search;
  const values = new Uint8Array(count);
  if (matched !== undefined) {
    for (let i = 0; i < count; i++) values[i] = matched.find(idOf(side, i)) === -1 ? 0 : 1;
    return { kind: 'boolean', values, nulls: undefined };
  }
  const vectors = node.fields.map(at);
  for (let i = 0; i < count; i++) {
    const texts = textsAt(vectors, i);
    values[i] = matcher.matches(searches!.documentOf(analyzer, texts)) ? 1 : 0;
    search.letters += lettersOf(texts);
  }
  return { kind: 'boolean', values, nulls: undefined };
}

function idOf({ set, rows }: Side, row: number): number {
  return set.ids[rows === undefined ? row : rows[row]!]!;
}

/** BM25 of each row; 0 for a row that does not match. */
export function scoreVector(
  node: BoundScore,
  at: (operand: BoundExpression) => Vector,
  count: number,
  { parameters, searches }: Environment,
  side: Side,
): Vector {
  const search = searches!.of(node, parameters);
  const { last } = search;
  if (last?.side === side && last.count === count) return last.vector;
  const values =
    search.known === undefined
      ? scoresOfTexts(node.fields.map(at), side, count, search, searches!)
      : new Float64Array(count);
  if (search.known !== undefined) {
    for (let i = 0; i < count; i++) {
      const score = search.known.get(idOf(side, i));
      assert(score !== undefined, 'every row that is read is one of the best');
      values[i] = score;
    }
  }
  const vector: Vector = { kind: 'number', values, nulls: undefined };
  search.last = { side, count, vector };
  return vector;
}

function scoresOfTexts(
  vectors: readonly Vector[],
  side: Side,
  count: number,
  search: RunSearch,
  searches: RunSearches,
): Float64Array {
  const { analyzer, matcher, matched, statistics } = search;
  const { weights, averageLength } = statistics!;
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (matched !== undefined && matched.find(idOf(side, i)) === -1) continue;
    const texts = textsAt(vectors, i);
    const document = searches.documentOf(analyzer, texts);
    if (matcher.matches(document))
      values[i] = scoreOf(matcher.tally(document), weights, document.length, averageLength);
    else search.letters += lettersOf(texts);
  }
  return values;
}

function lettersOf(texts: Texts): number {
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

function textsAt(vectors: readonly Vector[], row: number): Texts {
  return vectors.map((vector) => valueAt(vector, row) as string | null);
}
