// Reads what a user searches for: any of the words, "phrases in quotes", +must, -not, prefix*.
//
//   query  = { white space | item }
//   item   = [ "+" | "-" ] ( phrase | word )   the sign only at the beginning or after white space
//   phrase = '"' { character but '"' } [ '"' ]
//   word   = character but white space and '"', { the same }, [ "*" ]
//
// What is written as one word may be several: those with something between them (may-travel) are
// parts of their own with the same sign, those without (of ideographs, Hiragana, Thai) a phrase.
// Everything else is punctuation, as in a text: there is no query that cannot be read, only queries
// in which nothing is left to search for.
//
// Example: travel "hotel costs" +budget* -draft has the parts travel (should), hotel costs (phrase,
// should), budget (prefix, must) and draft (not).

import { HedgerowError } from '../errors.ts';
import type { Analyzer } from './analyzer.ts';
import { wordsOf } from './words.ts';

/** Limits of one search. Length in UTF-16 units, parts and terms after equal parts are dropped. */
export const MAX_QUERY_LENGTH = 4096;
export const MAX_PARTS = 64;
export const MAX_PARTS_TERMS = 256;

/** Whether a part must occur, must not occur, or (any of these) should. */
export type Sign = 'should' | 'must' | 'not';

/**
 * One part of a search. `word` and `prefix` have one term, `phrase` two or more, which occur
 * directly after each other in one column. The term of a prefix is folded but not stemmed; it
 * occurs wherever a term begins with it.
 */
export interface SearchPart {
  readonly kind: 'word' | 'prefix' | 'phrase';
  readonly terms: readonly string[];
  readonly sign: Sign;
}

/**
 * Returns the parts of a query in their order, each once; a part that must occur and also should is
 * only kept as the first. The texts must have been analysed by the same language.
 *
 * @throws HedgerowError `invalid_input` if nothing is left to search for, if all parts are of
 * `-not`, if a prefix is not one word, or if a limit is passed.
 */
export function parseSearch(query: string, analyzer: Analyzer): SearchPart[] {
  if (query.length > MAX_QUERY_LENGTH) {
    throw invalid(`the search has ${query.length} characters; at most ${MAX_QUERY_LENGTH} are allowed: shorten it`);
  }
  const parts = distinct(partsOf(query, analyzer));
  if (parts.length === 0) {
    throw invalid('the search contains no word: give at least one word to search for');
  }
  if (parts.every(({ sign }) => sign === 'not')) {
    throw invalid('the search contains only words with "-": add at least one word to search for');
  }
  if (parts.length > MAX_PARTS) {
    throw invalid(`the search has ${parts.length} parts; at most ${MAX_PARTS} are allowed: leave some words out`);
  }
  const terms = parts.reduce((sum, part) => sum + part.terms.length, 0);
  if (terms > MAX_PARTS_TERMS) {
    throw invalid(`the search has ${terms} words; at most ${MAX_PARTS_TERMS} are allowed: shorten its phrases`);
  }
  return parts;
}

const WHITE_SPACE = /\s/;
/** The rest of a word: sticky, and linear because it is one class. */
const WORD = /[^\s"]+/y;

function partsOf(query: string, analyzer: Analyzer): SearchPart[] {
  const parts: SearchPart[] = [];
  let at = 0;
  /** Whether a sign may be at `at`. */
  let isFree = true;
  while (at < query.length) {
    if (WHITE_SPACE.test(query[at]!)) {
      isFree = true;
      at++;
      continue;
    }
    const sign = isFree ? signAt(query, at) : 'should';
    if (sign !== 'should') at++;
    isFree = false;
    if (query[at] === '"') {
      const close = query.indexOf('"', at + 1);
      const end = close === -1 ? query.length : close;
      addPart(parts, analyzer.terms(query.slice(at + 1, end)), sign);
      at = end + 1;
      continue;
    }
    WORD.lastIndex = at;
    const word = WORD.exec(query)![0];
    if (word.endsWith('*')) addPrefix(parts, word, analyzer, sign);
    else for (const joined of joinedWords(word)) addPart(parts, analyzer.terms(joined), sign);
    at += word.length;
  }
  return parts;
}

/** Returns the sign at a place; one that stands alone is punctuation. */
function signAt(query: string, at: number): Sign {
  const next = query[at + 1];
  if (next === undefined || WHITE_SPACE.test(next)) return 'should';
  return query[at] === '+' ? 'must' : query[at] === '-' ? 'not' : 'should';
}

function addPart(parts: SearchPart[], terms: readonly string[], sign: Sign): void {
  if (terms.length > 0) parts.push({ kind: terms.length === 1 ? 'word' : 'phrase', terms, sign });
}

/** Returns the stretches of words that follow each other with nothing in between. */
function joinedWords(text: string): string[] {
  const stretches: string[] = [];
  let from = 0;
  let end = 0;
  for (const word of wordsOf(text)) {
    const start = text.indexOf(word, end);
    if (start > end) {
      stretches.push(text.slice(from, end));
      from = start;
    }
    end = start + word.length;
  }
  stretches.push(text.slice(from, end));
  return stretches;
}

function addPrefix(parts: SearchPart[], word: string, analyzer: Analyzer, sign: Sign): void {
  const terms = analyzer.folded(word);
  if (terms.length > 1) {
    throw invalid(
      `the prefix ${word} consists of ${terms.length} words (${terms.slice(0, 8).join(', ')}), but must be one: ` +
        'leave out the "*", or separate the words by spaces',
    );
  }
  if (terms.length === 1) parts.push({ kind: 'prefix', terms, sign });
}

/** Returns the parts without repetitions. */
function distinct(parts: readonly SearchPart[]): SearchPart[] {
  const kept = new Map(parts.map((part) => [`${part.sign} ${keyOf(part)}`, part]));
  return [...kept.values()].filter((part) => part.sign !== 'should' || !kept.has(`must ${keyOf(part)}`));
}

/** Returns a key that only equal parts without their sign share: terms contain no white space. */
function keyOf(part: SearchPart): string {
  return `${part.kind} ${part.terms.join(' ')}`;
}

function invalid(text: string): HedgerowError {
  return new HedgerowError('invalid_input', text);
}
