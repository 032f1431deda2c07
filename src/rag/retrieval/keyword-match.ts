// Counts how many of a question's keywords occur as words in the texts of an edge. It ignores case
// and common English endings.

import type { EdgeRows } from './edge-rows.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';

export class KeywordMatch {
  readonly #stems: readonly string[];
  readonly #columns: readonly number[];

  /** There may be at most 32 keywords. */
  constructor(keywords: readonly string[], textColumns: readonly number[]) {
    this.#stems = keywords.map(keywordStem);
    this.#columns = textColumns;
  }

  /** Whether there are texts that may have keywords. */
  get hasColumns(): boolean {
    return this.#columns.length > 0;
  }

  /** Returns a function that returns the share of the keywords in a row, 0 to 1. */
  sharesIn(rows: EdgeRows): (row: number) => number {
    const count = this.#stems.length;
    const bitsOf = this.bitsIn(rows);
    return count === 0 ? () => 0 : (row) => bitCount(bitsOf(row)) / count;
  }

  /**
   * Returns a function that returns the keywords found in a row, as bits. The lowest bit is the
   * first keyword. Each distinct text in the rows is searched only once.
   */
  bitsIn(rows: EdgeRows): (row: number) => number {
    const count = this.#stems.length;
    const columns: { nulls: Uint8Array; codes: Uint32Array; found: Uint32Array }[] = [];
    for (const id of this.#columns) {
      const column = count === 0 ? undefined : rows.columns.get(id);
      if (column?.kind !== 'text' || column.texts.length === 0) continue;
      const found = Uint32Array.from(column.texts, (text) => this.#foundIn(text.toLowerCase()));
      if (found.some((bits) => bits !== 0)) columns.push({ nulls: column.nulls, codes: column.codes, found });
    }
    if (columns.length === 0) return () => 0;
    return (row) => {
      let bits = 0;
      for (const { nulls, codes, found } of columns) if (nulls[row] === 0) bits |= found[codes[row]!]!;
      return bits >>> 0;
    };
  }

  /** Returns the keywords that occur in the texts of edges. `words` are the keywords in order. */
  wordsIn(edges: readonly RetrievedEdge[], words: readonly string[]): Set<string> {
    let bits = 0;
    for (const { formation, properties } of edges) {
      for (const value of [formation, ...Object.values(properties)])
        if (typeof value === 'string') bits |= this.#foundIn(value.toLowerCase());
    }
    return new Set(words.filter((_, place) => ((bits >>> place) & 1) === 1));
  }

  /** Returns a bit for each keyword in a text, which is in lower case. */
  #foundIn(text: string): number {
    let bits = 0;
    for (const [place, stem] of this.#stems.entries()) if (holdsWord(text, stem)) bits |= 1 << place;
    return bits >>> 0;
  }
}

/** Returns a keyword without its final `s`; unchanged if it has at most three letters. */
export function keywordStem(word: string): string {
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}

/**
 * Returns whether a word in a lower-case text is the stem, or the stem with an ending. A stem with
 * signs in it is not a part of a longer word with signs: `example.com` is not in
 * `www.example.com`, nor `1,000` in `1,000,000`.
 */
export function holdsWord(text: string, stem: string): boolean {
  const hasSign = SIGN.test(stem);
  for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
    const end = at + stem.length;
    if (at > 0 && PART_OF_WORD.test(text[at - 1]!)) continue;
    if (!ENDING.test(text.slice(end, end + 5))) continue;
    if (
      !hasSign ||
      !(JOINED_BEFORE.test(text.slice(Math.max(0, at - 2), at)) || JOINED_AFTER.test(text.slice(end, end + 2)))
    )
      return true;
  }
  return false;
}

const SIGN = /[^\p{L}\p{M}\p{N}_ ]/u;
const JOINED_BEFORE = /[\p{L}\p{N}][.,:'@\u2019]$/u;
const JOINED_AFTER = /^[.,:@][\p{L}\p{N}]/u;

const PART_OF_WORD = /[\p{L}\p{N}]/u;
/** The endings that a stem may have; the first is none. */
export const ENDINGS = ['', 's', 'es', 'ed', 'd', 'ing', 'ly'] as const;
const ENDING = new RegExp(`^(?:${ENDINGS.filter((ending) => ending !== '').join('|')})?(?![\\p{L}\\p{N}])`, 'u');

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits >>> 0; left !== 0; left &= left - 1) count++;
  return count;
}
