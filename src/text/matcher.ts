// Decides whether a document matches a search and how often each part occurs: for rows that no
// index covers, and as the reference for those that read an index.
//
// The terms of the document become small numbers once (the terms that the search names; -1 for all
// others and for a gap between columns). A phrase is then found by the algorithm of Knuth, Morris
// and Pratt over these numbers, so that a text of one word repeated costs no more than any other:
// one step or two per number for each phrase, however long the phrase.

import type { Document } from './document.ts';
import type { SearchPart } from './search-query.ts';

/** The number of a term that no part names, and of a gap. */
const NO_TERM = -1;

/**
 * A phrase as numbers of its terms, with the borders of its beginnings (see src/text-search.ts).
 */
interface Phrase {
  readonly numbers: Int32Array;
  readonly borders: Int32Array;
}

/** Judges documents by the parts of one search. Keeps nothing of a document. */
export class Matcher {
  readonly #parts: readonly SearchPart[];
  readonly #numberOf = new Map<string, number>();
  /** By part: its phrase, or undefined where it is one. */
  readonly #phrases: readonly (Phrase | undefined)[];
  readonly #prefixes: readonly (readonly [part: number, prefix: string])[];
  readonly #hasMust: boolean;

  constructor(parts: readonly SearchPart[]) {
    this.#parts = parts;
    for (const term of parts.filter(({ kind }) => kind !== 'prefix').flatMap(({ terms }) => terms)) {
      if (!this.#numberOf.has(term)) this.#numberOf.set(term, this.#numberOf.size);
    }
    this.#phrases = parts.map((part) => (part.kind === 'phrase' ? this.#phraseOf(part) : undefined));
    this.#prefixes = parts.flatMap(({ kind, terms }, part) => (kind === 'prefix' ? [[part, terms[0]!] as const] : []));
    this.#hasMust = parts.some(({ sign }) => sign === 'must');
  }

  /**
   * Tells whether each part of `must` occurs, none of `not`, and, without a part of `must`, at
   * least one of `should`. A document without words matches nothing.
   */
  matches(document: Document): boolean {
    return this.matchesTally(this.tally(document));
  }

  /** The same, of the counts that `tally` gave. */
  matchesTally(counts: Float64Array): boolean {
    let isFound = this.#hasMust;
    for (const [index, { sign }] of this.#parts.entries()) {
      const occurs = counts[index]! > 0;
      if (sign === 'must' ? !occurs : sign === 'not' && occurs) return false;
      if (sign === 'should' && occurs) isFound = true;
    }
    return isFound;
  }

  /**
   * Returns how often each part occurs, by index of the part; also those of `not`. Occurrences of a
   * phrase may overlap.
   */
  tally(document: Document): Float64Array {
    const counts = new Float64Array(this.#parts.length);
    const numbers = this.#phrases.some((phrase) => phrase !== undefined) ? numbersOf(document, this.#numberOf) : [];
    const occurrences = this.#countTerms(document, counts);
    for (const [index, { kind, terms }] of this.#parts.entries()) {
      const phrase = this.#phrases[index];
      if (phrase !== undefined) counts[index] = countPhrase(numbers, phrase.numbers, phrase.borders);
      else if (kind === 'word') counts[index] = occurrences[this.#numberOf.get(terms[0]!)!]!;
    }
    return counts;
  }

  /** Adds the occurrences of prefixes to `counts`, and returns those of terms by number. */
  #countTerms(document: Document, counts: Float64Array): Float64Array {
    const occurrences = new Float64Array(this.#numberOf.size);
    for (const term of document.terms) {
      const number = this.#numberOf.get(term);
      if (number !== undefined) occurrences[number]!++;
      for (const [part, prefix] of this.#prefixes) {
        if (term.startsWith(prefix)) counts[part]!++;
      }
    }
    return occurrences;
  }

  #phraseOf({ terms }: SearchPart): Phrase {
    const numbers = Int32Array.from(terms, (term) => this.#numberOf.get(term)!);
    return { numbers, borders: bordersOf(numbers) };
  }
}

/**
 * Returns how often a phrase occurs in the numbers of a document, overlaps included. `borders[i]`
 * is the length of the longest proper beginning of phrase[0..i] with which it also ends.
 */
export function countPhrase(numbers: ArrayLike<number>, phrase: Int32Array, borders: Int32Array): number {
  let count = 0;
  let matched = 0;
  for (let at = 0, end = numbers.length; at < end; at++) {
    const number = numbers[at]!;
    while (matched > 0 && phrase[matched] !== number) matched = borders[matched - 1]!;
    if (phrase[matched] === number) matched++;
    if (matched === phrase.length) {
      count++;
      matched = borders[matched - 1]!;
    }
  }
  return count;
}

/** Returns the borders that `countPhrase` needs. */
export function bordersOf(phrase: Int32Array): Int32Array {
  const borders = new Int32Array(phrase.length);
  let matched = 0;
  for (let at = 1; at < phrase.length; at++) {
    while (matched > 0 && phrase[matched] !== phrase[at]) matched = borders[matched - 1]!;
    if (phrase[matched] === phrase[at]) matched++;
    borders[at] = matched;
  }
  return borders;
}

/** Returns the number of each term, and one NO_TERM where a column ends. */
function numbersOf({ terms, positions }: Document, numberOf: ReadonlyMap<string, number>): number[] {
  const numbers: number[] = [];
  for (const [index, term] of terms.entries()) {
    if (index > 0 && positions[index]! - positions[index - 1]! > 1) numbers.push(NO_TERM);
    numbers.push(numberOf.get(term) ?? NO_TERM);
  }
  return numbers;
}
