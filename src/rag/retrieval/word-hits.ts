// Finds the edges whose texts have words of a question, through the text index of the table, and
// scores them by BM25.

import {
  bestRows,
  type ScanBounds,
  type SearchCandidates,
  type SearchCondition,
  type SearchStatistics,
  searchStatistics,
} from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import {
  analyzerOf,
  type Document,
  idf,
  MAX_PARTS,
  MAX_PARTS_TERMS,
  Matcher,
  type SearchPart,
  scoreOf,
  weight,
} from '../../text/index.ts';
import { irregularForms } from '../question/irregular-forms.ts';
import { examplesOf } from '../question/kinds-of-things.ts';
import type { EdgeReader, EdgeRows } from './edge-rows.ts';
import type { RowTest } from './row-test.ts';
import { documentOfRow, lettersOf, type WordIndex } from './row-texts.ts';

/** Words that are searched for together. */
export interface WordQuery {
  /** The parts of the search, none with a sign. */
  readonly parts: readonly SearchPart[];
  /** For each part, what it looks for, as a reader would write it. */
  readonly labels: readonly string[];
  /**
   * For each part, the keyword that is the whole part or of which the part is a form; undefined for
   * a word of a longer one.
   */
  readonly keywords: readonly (string | undefined)[];
  /** For each part, the number of its word: the same for all forms of a word. */
  readonly words: readonly number[];
}

/**
 * Returns the search for keywords. A keyword that the index divides into several words is searched
 * as a phrase and, if it has letters, by each of its words. `formsOf` gives further forms of a
 * keyword or examples of what it names, which are parts of the same word. Undefined if no keyword
 * has a word.
 */
export function wordQuery(
  keywords: readonly string[],
  { language }: WordIndex,
  formsOf: (keyword: string) => readonly string[] = () => [],
): WordQuery | undefined {
  const analyzer = analyzerOf(language);
  const parts = new Map<string, QueryPart>();
  const add = (terms: readonly string[], label: string, keyword: string | undefined, word = parts.size) => {
    const name = terms.join(' ');
    const known = parts.get(name);
    if (terms.length === 0 || known?.keyword !== undefined) return;
    const part = { kind: terms.length === 1 ? 'word' : 'phrase', terms, sign: 'should' } as const;
    parts.set(name, { part, label, keyword, word: known?.word ?? word });
  };
  for (const keyword of keywords) {
    const terms = analyzer.terms(keyword).slice(0, MAX_PHRASE);
    add(terms, keyword, keyword);
    // The parts of a time or an address of numbers are no words of the question.
    if (terms.length > 1 && HAS_LETTER.test(keyword)) for (const term of terms) add([term], term, undefined);
  }
  if (parts.size === 0) return undefined;
  for (const { keyword, word } of [...parts.values()])
    for (const form of keyword === undefined ? [] : formsOf(keyword)) {
      const terms = analyzer.terms(form);
      if (!parts.has(terms.join(' '))) add(terms, form, keyword, word);
    }
  const all = [...parts.values()];
  return {
    parts: all.map(({ part }) => part),
    labels: all.map(({ label }) => label),
    keywords: all.map(({ keyword }) => keyword),
    words: all.map(({ word }) => word),
  };
}

/** Returns what is found like a word of a question: in English, other forms, examples of a kind. */
export function formsIn({ language }: WordIndex): ((word: string) => readonly string[]) | undefined {
  return language === 'english' ? (word) => [...irregularForms(word), ...examplesOf(word)] : undefined;
}

const HAS_LETTER = /\p{L}/u;

interface QueryPart {
  readonly part: SearchPart;
  readonly label: string;
  readonly keyword: string | undefined;
  readonly word: number;
}

/** Words of a keyword that are searched for. */
const MAX_PHRASE = 16;

/** Scores the texts of rows for a query, by the statistics of the snapshot. */
export class WordScorer {
  readonly query: WordQuery;
  readonly statistics: SearchStatistics;
  /** By word: its idf divided by the greatest; 0 if no row has it. */
  readonly wordShares: readonly number[];
  /** Keywords that occur, but are not searched for, because many others are rarer. */
  readonly passedOver: readonly string[];
  readonly #matcher: Matcher;

  private constructor(query: WordQuery, statistics: SearchStatistics, passedOver: readonly string[]) {
    this.query = query;
    this.passedOver = passedOver;
    this.statistics = statistics;
    this.#matcher = new Matcher(query.parts);
    this.wordShares = sharesOf(query, statistics);
  }

  /** Counts the words in all live rows of the snapshot. Throws `table_corrupt` or `overloaded`. */
  static *of({ table, snapshot }: EdgeReader, query: WordQuery, index: WordIndex): Steps<WordScorer> {
    const { version, lsn } = snapshot;
    const weights: number[] = [];
    let counted: SearchStatistics | undefined;
    for (const parts of searches(query.parts)) {
      const counting = searchStatistics(table, { version, lsn, overlay: undefined }, conditionOf({ parts }, index));
      counted = yield* unknownProgress(counting);
      weights.push(...counted.weights);
    }
    return new WordScorer(...heaviest(query, { ...counted!, weights: Float64Array.from(weights) }));
  }

  /** Returns the score of a row's words; undefined if it has none of the parts of the search. */
  scoreOf(document: Document): number | undefined {
    const counts = this.#matcher.tally(document);
    return this.#matcher.matchesTally(counts) ? this.#scoreOf(counts, document.length) : undefined;
  }

  /**
   * Returns the score of a row's words, the places of the parts that it has, and the score by word.
   */
  partsOf(document: Document): {
    readonly score: number;
    readonly parts: readonly number[];
    readonly byWord: Float64Array;
  } {
    const counts = this.#matcher.tally(document);
    const { weights, averageLength } = this.statistics;
    const parts = [...this.query.parts.keys()].filter((part) => counts[part]! > 0);
    const byWord = new Float64Array(this.wordShares.length);
    for (const part of parts)
      byWord[this.query.words[part]!]! += weight(weights[part]!, counts[part]!, document.length, averageLength);
    return { score: this.#scoreOf(counts, document.length), parts, byWord };
  }

  #scoreOf(counts: Float64Array, length: number): number {
    return scoreOf(counts, this.statistics.weights, length, this.statistics.averageLength);
  }
}

/** Divides parts into those of single searches. */
function* searches(parts: readonly SearchPart[]): Generator<readonly SearchPart[], void, void> {
  let from = 0;
  let terms = 0;
  for (const [place, part] of parts.entries()) {
    terms += part.terms.length;
    if (place - from < MAX_PARTS && terms <= MAX_PARTS_TERMS) continue;
    yield parts.slice(from, place);
    from = place;
    terms = part.terms.length;
  }
  yield parts.slice(from);
}

/** Parts of a question that are searched for. More are those of a long text. */
const MOST_PARTS = 32;

/**
 * Returns the rarest parts of a query that occur, in their order, because the others hardly change
 * a score; and the keywords of those of the others that occur.
 */
function heaviest(query: WordQuery, statistics: SearchStatistics): [WordQuery, SearchStatistics, string[]] {
  const { weights } = statistics;
  if (weights.length <= MOST_PARTS) return [query, statistics, []];
  const sorted = [...weights.keys()].sort(
    (a, b) => rarity(query, statistics, b) - rarity(query, statistics, a) || a - b,
  );
  const places = sorted.slice(0, MOST_PARTS).sort((a, b) => a - b);
  const passedOver = sorted
    .slice(MOST_PARTS)
    .filter((part) => rarity(query, statistics, part) > 0)
    .flatMap((part) => query.keywords[part] ?? []);
  const some = <T>(list: readonly T[]) => places.map((place) => list[place]!);
  const { parts, labels, keywords } = query;
  const kept = some(query.words);
  const numbers = new Map([...new Set(kept)].map((word, number) => [word, number]));
  const words = kept.map((word) => numbers.get(word)!);
  return [
    { parts: some(parts), labels: some(labels), keywords: some(keywords), words },
    { ...statistics, weights: Float64Array.from(places, (place) => weights[place]!) },
    passedOver,
  ];
}

/** Returns the idf of a part, of a phrase the average of its words; 0 for a word in no row. */
function rarity({ parts }: WordQuery, { rows, weights }: SearchStatistics, part: number): number {
  const { terms } = parts[part]!;
  return terms.length === 1 && weights[part]! >= idf(rows, 0) ? 0 : weights[part]! / terms.length;
}

/**
 * Returns, by word, its idf divided by the greatest of single words: the least of its parts that
 * occur, or 0.
 */
function sharesOf(query: WordQuery, statistics: SearchStatistics): number[] {
  const rarities = query.parts.map((_, part) => rarity(query, statistics, part));
  const single = rarities.filter((_, part) => query.parts[part]!.terms.length === 1);
  const greatest = Math.max(0, ...single) || Math.max(0, ...rarities) || 1;
  const shares = new Array<number>(Math.max(...query.words) + 1).fill(0);
  for (const [part, word] of query.words.entries()) {
    const share = Math.min(1, rarities[part]! / greatest);
    if (share > 0) shares[word] = shares[word] === 0 ? share : Math.min(share, shares[word]!);
  }
  return shares;
}

function conditionOf({ parts }: Pick<WordQuery, 'parts'>, { columns, language }: WordIndex): SearchCondition {
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
/** Time in which the best rows of one segment are found at once, in us. */
const SEGMENT_US = 30_000;
/** If too few of the best rows pass a test, this many times as many are looked at. */
const GROWTH = 8;
/** If more than these would have to be looked at, all rows with any of the words are scored. */
const MOST_LOOKED_AT = 50_000;

/** Where hits may lie. */
export interface HitBounds {
  readonly bounds: ScanBounds;
  readonly testOf: ((rows: EdgeRows) => RowTest) | undefined;
}

/**
 * Returns the `size` best edges within the bounds that pass a test. `reader` must read the columns
 * of the index and those of the test, `light` those of the test. Throws `table_corrupt` or
 * `overloaded`.
 */
export function* wordHits(
  { reader, light }: { readonly reader: EdgeReader; readonly light: EdgeReader },
  scorer: WordScorer,
  index: WordIndex,
  within: HitBounds,
  size: number,
): Steps<WordHits> {
  const { table, snapshot } = reader;
  const search = conditionOf(scorer.query, index);
  const view = { version: snapshot.version, lsn: snapshot.lsn, overlay: undefined };
  // One more than is wanted tells whether there are more.
  const wanted = size + 1;
  const { anyOf, ...bounds } = within.bounds;
  const testOf = anyOf === undefined ? within.testOf : withNodes(anyOf, within.testOf);
  for (let most = wanted; ; most *= GROWTH) {
    const candidates =
      most > MOST_LOOKED_AT && most > wanted
        ? undefined
        : yield* unknownProgress(bestRows(table, view, { ...bounds, search }, scorer.statistics, most, SEGMENT_US));
    const kept = { best: new BestHits(wanted), all: new BestHits(testOf === undefined ? 0 : most) };
    // Among few candidates, the nodes are tested row by row, so that `all` has every candidate.
    const scan = { ...bounds, ...(candidates === undefined ? { anyOf } : {}), search: { ...search, candidates } };
    const known = candidates?.scores;
    const rows = (known !== undefined && anyOf === undefined ? light : reader).readKeys(scan);
    yield* scored(rows, known === undefined ? scoresFrom(scorer, index) : knownScores(known), testOf, kept);
    const hits = kept.best.sorted();
    const isWhole = candidates === undefined || testOf === undefined || rowsIn(candidates) < most;
    // No row that was not read has a greater score than the last of the best before the test.
    const bound = kept.all.sorted()[most - 1]?.score ?? Number.NEGATIVE_INFINITY;
    if (isWhole || (hits[size]?.score ?? Number.NEGATIVE_INFINITY) >= bound)
      return { hits: hits.slice(0, size), overflowed: hits.length > size };
  }
}

function rowsIn({ segments, memtables }: SearchCandidates): number {
  let rows = 0;
  for (const some of segments.values()) rows += some.length;
  for (const some of memtables?.values() ?? []) rows += some.length;
  return rows;
}

/** The score of a row, undefined if it has no word, and the number of characters that it took. */
type RowScore = (rows: EdgeRows, row: number) => { readonly score: number | undefined; readonly letters: number };

function scoresFrom(scorer: WordScorer, index: WordIndex): RowScore {
  return (rows, row) => ({
    score: scorer.scoreOf(documentOfRow(index, rows, row)),
    letters: lettersOf(index, rows, row),
  });
}

function knownScores(scores: ReadonlyMap<number, number>): RowScore {
  return ({ ids }, row) => ({ score: scores.get(ids[row]!), letters: 0 });
}

/** Scores the rows that a search finds: keeps the best of all, and the best that pass the test. */
function* scored(
  found: Iterable<EdgeRows | null>,
  scoreOf: RowScore,
  testOf: HitBounds['testOf'],
  { best, all }: { readonly best: BestHits; readonly all: BestHits },
): Steps<void> {
  let taken = 0;
  for (const rows of found) {
    yield undefined;
    if (rows === null) continue;
    const passes = testOf?.(rows);
    for (let row = 0; row < rows.rows; row++) {
      const { score, letters } = scoreOf(rows, row);
      if (score !== undefined) {
        const hit = { id: rows.ids[row]!, eventTs: rows.times[row]!, score };
        all.add(hit);
        if (passes === undefined || passes(row)) best.add(hit);
      }
      taken += letters;
      if (taken < STEP_LETTERS) continue;
      taken = 0;
      yield undefined;
    }
  }
}

/** Adds to a test that a row has at least one of some nodes. */
function withNodes(anyOf: Float64Array, testOf: HitBounds['testOf']): (rows: EdgeRows) => RowTest {
  const nodes = new Set(anyOf);
  return (rows) => {
    const passes = testOf?.(rows);
    const { members, offsets } = rows;
    return (row) => {
      if (passes !== undefined && !passes(row)) return false;
      for (let at = offsets[row]!; at < offsets[row + 1]!; at++) if (nodes.has(members[at]!)) return true;
      return false;
    };
  };
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
    if (this.#size === 0 || hit.score < this.#least) return;
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
