// Scores a document for a search by BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009), with the inverse document frequency that is never negative.
//
//   score     = sum over the parts of idf * factor
//   idf       = ln(1 + (N - df + 0.5) / (df + 0.5))
//   factor    = tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl))
//
// N: documents with a word; df: those of them in which the term occurs; tf: occurrences in this
// document; dl, avgdl: words of this document, and on average over the N. A phrase has the sum of
// its words' idf (a word twice in it counts twice), a prefix is one term, -not parts score nothing.
//
// Example: N = 3, the term in one of them, twice among 4 words, where the average is 4:
// idf = ln(1 + 2.5 / 1.5) = 0.981, factor = 2 * 2.2 / (2 + 1.2) = 1.375, score 1.349.

import type { Document } from './document.ts';
import type { SearchPart } from './search-query.ts';

/** How fast more occurrences of a term count less. */
export const K1 = 1.2;
/** How much long documents are discounted: 0 not at all, 1 in proportion to their length. */
export const B = 0.75;

/**
 * Returns the inverse document frequency of a term that occurs in `matching` of `documents`. Always
 * above 0 if `matching` is at most `documents`.
 */
export function idf(documents: number, matching: number): number {
  return Math.log(1 + (documents - matching + 0.5) / (matching + 0.5));
}

/**
 * Returns what one part adds to a score: `occurrences` in a document of `length` words, where the
 * average is `averageLength` (above 0 if there is any occurrence). Below idf * (k1 + 1), rises with
 * the occurrences, falls with the length.
 */
export function weight(idf: number, occurrences: number, length: number, averageLength: number): number {
  if (occurrences === 0) return 0;
  return (idf * (occurrences * (K1 + 1))) / (occurrences + K1 * (1 - B + (B * length) / averageLength));
}

/**
 * Returns the score of a document: occurrences and idf by part, in the same order. The sum goes
 * from the first part to the last, so that equal inputs give equal bits.
 */
export function scoreOf(
  occurrences: ArrayLike<number>,
  idfs: ArrayLike<number>,
  length: number,
  averageLength: number,
): number {
  let score = 0;
  for (let part = 0; part < idfs.length; part++) {
    score += weight(idfs[part]!, occurrences[part]!, length, averageLength);
  }
  return score;
}

/** What BM25 needs to know of all documents, counted naively. */
export class Statistics {
  readonly #parts: readonly SearchPart[];
  /** Documents in which a term or a prefix (a key with `*`, which no term contains) occurs. */
  readonly #matching = new Map<string, number>();
  #documents = 0;
  #words = 0;

  /** @param parts The parts of one search; only their terms are counted. */
  constructor(parts: readonly SearchPart[]) {
    this.#parts = parts;
    for (const part of parts) {
      for (const key of keysOf(part)) this.#matching.set(key, 0);
    }
  }

  /** Counts a document; one without words is none. */
  add(document: Document): void {
    if (document.length === 0) return;
    this.#documents++;
    this.#words += document.length;
    const terms = new Set(document.terms);
    for (const [key, matching] of this.#matching) {
      if (key.endsWith('*') ? hasPrefix(terms, key.slice(0, -1)) : terms.has(key))
        this.#matching.set(key, matching + 1);
    }
  }

  /** What `addCounted` takes counts of: terms, and prefixes of terms. */
  get keys(): readonly { readonly text: string; readonly isPrefix: boolean }[] {
    return Array.from(this.#matching.keys(), (key) => {
      const isPrefix = key.endsWith('*');
      return { text: isPrefix ? key.slice(0, -1) : key, isPrefix };
    });
  }

  /**
   * Adds documents that an index has counted: those with a word, their words, and how many have
   * each of `keys`.
   */
  addCounted(documents: number, words: number, counts: readonly number[]): void {
    this.#documents += documents;
    this.#words += words;
    let place = 0;
    for (const [key, matching] of this.#matching) this.#matching.set(key, matching + counts[place++]!);
  }

  /** Documents with a word. */
  get documents(): number {
    return this.#documents;
  }

  /** Words of all documents. */
  get words(): number {
    return this.#words;
  }

  /** Words of a document on average; 0 if there is none. */
  get averageLength(): number {
    return this.#documents === 0 ? 0 : this.#words / this.#documents;
  }

  /** Returns in how many documents a term occurs, of a word or phrase of the search. */
  matching(term: string): number {
    return this.#matching.get(term) ?? 0;
  }

  /** Returns in how many documents any term with a prefix of the search occurs. */
  matchingPrefix(prefix: string): number {
    return this.#matching.get(`${prefix}*`) ?? 0;
  }

  /** Returns the idf of each part: the sum over a phrase, 0 for parts of `not`. */
  idfs(): Float64Array {
    return Float64Array.from(this.#parts, (part) =>
      part.sign === 'not'
        ? 0
        : keysOf(part).reduce((sum, key) => sum + idf(this.#documents, this.#matching.get(key)!), 0),
    );
  }
}

function keysOf({ kind, terms }: SearchPart): readonly string[] {
  return kind === 'prefix' ? [`${terms[0]!}*`] : terms;
}

function hasPrefix(terms: ReadonlySet<string>, prefix: string): boolean {
  for (const term of terms) {
    if (term.startsWith(prefix)) return true;
  }
  return false;
}
