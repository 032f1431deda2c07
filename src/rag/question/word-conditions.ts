// Recognises conditions on words in questions for a figure: "not in Rome", "in Rome or Oslo".
//
// Which column has a word is known only from the data. Therefore these conditions are resolved
// later (retrieval/word-columns.ts). Here it is only decided what a negation or an "or" refers to.
// If that is not certain, its words are put aside, and the question has no figure.

import { keywordOf } from './keywords.ts';
import type { NamedNodes } from './named-nodes.ts';
import { freeWord, isWord, phraseAt, phrases, putAside, type Reading, take, writtenAt } from './words.ts';

/** A condition that a column equals one of the words (`in`), or that it is another value (`!=`). */
export interface WordCondition {
  readonly op: 'in' | '!=';
  /** The keywords in lower case, by which they are among the keywords of the question. */
  readonly words: readonly string[];
  /** The words as written. */
  readonly texts: readonly string[];
  /** The whole condition as written. */
  readonly written: string;
}

interface ReadConditions {
  readonly wordConditions: WordCondition[];
  /** Whether "or" joins all the nodes that the text names by number. */
  readonly hasOr: boolean;
}

export const NOT_CERTAIN = 'It is not certain what this refers to, so that nothing is counted.';

/** Reads the conditions. Their values stay free, because they are keywords until resolved. */
export function readWordConditions(reading: Reading, spans: NamedNodes['spans']): ReadConditions {
  const hasOr = joinsNodes(reading, spans);
  const alternatives = readAlternatives(reading);
  const negated = readNegated(reading, alternatives.length > 0);
  return { wordConditions: [...alternatives, ...negated], hasOr };
}

/**
 * Returns whether "or" joins the nodes. If it joins only some of them, as in "node 1 with node 2 or
 * node 3", it is put aside.
 */
function joinsNodes(reading: Reading, spans: NamedNodes['spans']): boolean {
  const { words } = reading;
  const isOr = (at: number) => words[at]!.lower === 'or';
  const inSpan = spans.some(({ from, to }) => words.slice(from, to).some(({ lower }) => lower === 'or'));
  const gaps = spans.slice(1).map(({ from }, index) => ({ from: spans[index]!.to, to: from }));
  const joins = ({ from, to }: { from: number; to: number }) => {
    const gap = words.slice(from, to).map(({ lower }) => lower);
    return gap.includes('or') && gap.every((word) => /^(?:or|,|of|with|in|for|either|the)$/.test(word));
  };
  const orGaps = gaps.filter(joins);
  if (!inSpan && orGaps.length === 0) return false;
  for (const { from, to } of orGaps) for (let at = from; at < to; at++) if (isOr(at)) take(reading, at, at + 1);
  const isMixed = (inSpan && spans.length > orGaps.length + 1) || gaps.length > orGaps.length || hasAnd(words, spans);
  if (isMixed) {
    const last = spans.at(-1)!;
    putAside(reading, spans[0]!.from, last.to, 'It is not certain which nodes "or" joins.');
  }
  return true;
}

/** Returns whether a list of nodes has "and" and "or". */
function hasAnd(words: Reading['words'], spans: NamedNodes['spans']): boolean {
  return spans.some(({ from, to }) => words.slice(from, to).some(({ lower }) => /^(?:and|&|&&|\+)$/.test(lower)));
}

const BEFORE_VALUE = 'in at from of to with by for on near about the a an either'.split(' ');

/** Reads the words that "or" joins: "Rome or Oslo", "in Rome, in Oslo or in Lima". */
function readAlternatives(reading: Reading): WordCondition[] {
  const found: WordCondition[] = [];
  for (let at = 0; at < reading.words.length; at++) {
    if (!isWord(reading, at, 'or')) continue;
    const last = valueAfter(reading, at + 1);
    let first = valueBefore(reading, at);
    if (last === undefined || first === undefined) continue;
    const places = [first, last];
    for (;;) {
      const comma = linkBefore(reading, first);
      const one = comma === undefined ? undefined : valueBefore(reading, comma);
      if (one === undefined) break;
      places.unshift(one);
      first = one;
    }
    const isAlone = valueBefore(reading, first) !== first - 1 && valueAfter(reading, last + 1) !== last + 1;
    const conditions = conditionOf(reading, 'in', places, first, last + 1);
    take(reading, at, at + 1);
    // In "did Ada or Grace call", a word follows that is not a value. Then the words must be names.
    found.push(isAlone ? conditions : { ...conditions, op: 'in' });
    at = last;
  }
  return found;
}

/** Returns the index of the value that ends before `at`. */
function valueBefore({ words }: Reading, at: number): number | undefined {
  const word = words[at - 1];
  return word === undefined || keywordOf(word) === undefined || word.kind === 'number' ? undefined : at - 1;
}

function valueAfter(reading: Reading, from: number): number | undefined {
  let at = from;
  while (isWord(reading, at, ...BEFORE_VALUE)) at++;
  return valueBefore(reading, at + 1);
}

/** Returns the index of the comma or "or" before a value, with its preposition. */
function linkBefore(reading: Reading, value: number): number | undefined {
  let at = value - 1;
  while (isWord(reading, at, ...BEFORE_VALUE)) at--;
  return isWord(reading, at, ',', 'or') ? at : undefined;
}

const NOT =
  /^(?:not|non|never|neither|nor|no|none|nobody|nothing|nowhere|outside|except|excepting|excluding|excludes?|excluded|without|lacks?|lacked|lacking|missing|besides|minus|unlike|cannot|avoid(?:s|ed|ing)?|absent|but|\p{L}+n't)$/u;
const NOT_PHRASES = phrases('other than', 'rather than', 'apart from', 'aside from', 'instead of', 'anything but');
/** Words between a negation and what it negates. */
const AFTER_NOT =
  'in at from of to near about the a an have been be go going went any ever with for include including contain containing'.split(
    ' ',
  );

/** Returns the number of words of a negation at an index, or 0 if there is none. */
export function negationAt(reading: Reading, at: number): number {
  const words = phraseAt(reading, at, NOT_PHRASES);
  const word = freeWord(reading, at);
  return words > 0 ? words : word?.kind === 'word' && NOT.test(word.lower) ? 1 : 0;
}

/**
 * Reads a negation of a single word at the end of the text. Any other negation stays free, and is
 * put aside later.
 */
function readNegated(reading: Reading, hasAlternatives: boolean): WordCondition[] {
  const places = reading.words.flatMap((_, at) => (negationAt(reading, at) > 0 ? [at] : []));
  const [from] = places;
  if (from === undefined || hasAlternatives || places.some((at, index) => at !== from + index)) return [];
  // "except not" would be a double negation.
  if (places.length > 1) return [];
  let at = from + negationAt(reading, from);
  while (isWord(reading, at, ...AFTER_NOT)) at++;
  const value = valueBefore(reading, at + 1);
  if (value === undefined || !isEnd(reading, value + 1)) return [];
  const condition = conditionOf(reading, '!=', [value], from, value + 1);
  take(reading, from, value);
  return [condition];
}

function isEnd({ words }: Reading, from: number): boolean {
  return words.slice(from).every(({ lower }) => /^(?:[?.!]|are|were|is|was|there)$/.test(lower));
}

function conditionOf(
  reading: Reading,
  op: WordCondition['op'],
  places: readonly number[],
  from: number,
  to: number,
): WordCondition {
  return {
    op,
    words: places.map((at) => keywordOf(reading.words[at]!)!),
    texts: places.map((at) => reading.words[at]!.text),
    written: writtenAt(reading, from, to),
  };
}
