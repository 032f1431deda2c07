// Turns a text into the terms under which it is indexed and searched: words, folded and stemmed.

import { cutTerm, foldCase, foldDiacritics, isAscii } from './folding.ts';
import { type Language, stemmerOf, withoutElision } from './stemming.ts';
import { wordsOf } from './words.ts';

/**
 * Version of all that decides the terms of a text: rules, tables, stemmers. Kept with each index;
 * an index of another version must be built again.
 */
export const ANALYZER_VERSION = 1;

/**
 * Words are kept with their terms in two generations of at most this many words: at most 10 MB, and
 * some 2 MB with usual words.
 */
const GENERATION_WORDS = 8192;
/** Longer words are analysed each time: they are rare. UTF-16 units. */
const MAX_KEPT_UNITS = 64;

const SHARED = new Map<Language, Analyzer>();

/** Returns the analyzer of a language that all of a thread share, with its cache of words. */
export function analyzerOf(language: Language): Analyzer {
  const known = SHARED.get(language);
  if (known !== undefined) return known;
  const analyzer = new Analyzer(language);
  SHARED.set(language, analyzer);
  return analyzer;
}

/** Analyses texts of one language. Deterministic, whatever was analysed before. */
export class Analyzer {
  readonly language: Language;
  readonly #stem: ((word: string) => string) | undefined;
  /** Terms by word as written; words seen again move from `#older` to `#recent`. */
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  constructor(language: Language) {
    this.language = language;
    this.#stem = stemmerOf(language);
  }

  /**
   * Returns the terms of the words of a text in their order, one a word: none is empty, or longer
   * than 255 bytes in UTF-8. Words of which folding leaves nothing are left out.
   */
  terms(text: string): string[] {
    const terms = wordsOf(text);
    let count = 0;
    for (const word of terms) {
      const term = this.#stem === undefined && isAscii(word) ? cutTerm(foldCase(word)) : this.#termOf(word);
      if (term !== '') terms[count++] = term;
    }
    terms.length = count;
    return terms;
  }

  /** Returns the words of a text folded but not stemmed, for the part before `*` of a search. */
  folded(text: string): string[] {
    return wordsOf(text)
      .map((word) => shortTermOf(withoutElision(foldCase(word), this.language)))
      .filter((term) => term !== '');
  }

  #termOf(word: string): string {
    const recent = this.#recent.get(word);
    if (recent !== undefined) return recent;
    const known = this.#older.get(word);
    const key = copyOf(word);
    const term = known ?? this.#analyze(key);
    if (key.length <= MAX_KEPT_UNITS) this.#keep(key, term);
    return term;
  }

  #analyze(word: string): string {
    const folded = withoutElision(foldCase(word), this.language);
    // Stemmers take time quadratic in the length of a word, and no word of a language is that long.
    return shortTermOf(this.#stem?.(cutTerm(folded)) || folded);
  }

  #keep(word: string, term: string): void {
    if (this.#recent.size >= GENERATION_WORDS) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(word, term);
  }
}

/** Returns the term of a word of `foldCase`, or of its stem. */
function shortTermOf(word: string): string {
  const plain = foldDiacritics(word);
  const term = cutTerm(plain);
  return term.length < plain.length ? copyOf(term) : term;
}

/** Copies a word, because a slice of a text keeps all of the text in memory. */
function copyOf(word: string): string {
  const encoding = isAscii(word) ? 'latin1' : 'utf16le';
  return Buffer.from(word, encoding).toString(encoding);
}
