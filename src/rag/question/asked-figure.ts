// Recognises the figure that a text asks for: the number of edges or nodes, the first or the last
// edge, or the most frequent value or node.
//
// A figure that cannot be computed, such as "how many hours between ..." or "top 3 by weight", is
// recognised too. Its words are put aside, and the question is not answered.

import { BUILT_IN_COLUMNS } from '../../model/columns.ts';
import { unitOf } from './calendar.ts';
import { isEdgeWord, NODE_NOUNS } from './general-words.ts';
import { keywordOf } from './keywords.ts';
import type { AskedTable } from './question.ts';
import { countAt, freeWord, isWord, phraseAt, phrases, putAside, type Reading, take } from './words.ts';

export type AskedFigure =
  | { readonly kind: 'count'; readonly of: 'edges' | 'nodes' }
  | { readonly kind: 'first' | 'last' }
  /**
   * Asks for the most frequent value in a column or, if `column` is null, for the node that is in
   * the most edges.
   */
  | { readonly kind: 'most'; readonly column: string | null }
  /** A figure that no statement or measure computes. */
  | { readonly kind: 'unknown' };

const HOW_OFTEN = phrases('how many times', 'how often', 'how frequently');
const HOW_MANY = phrases(
  'how many',
  'the total number of',
  'total number of',
  'the number of',
  'number of',
  'count of',
  'count the',
  'count all',
  'count',
);
const HOW_LONG = phrases('how long', 'how much time');
const DIFFERENT = ['different', 'distinct', 'unique', 'all', 'of', 'the', 'these', 'those', 'other'];
const MOST = phrases('most often', 'most frequently', 'most active', 'most connected', 'busiest', 'most times');
const COMMON = phrases('most common', 'most frequent', 'most popular', 'commonest');
const ENDS: readonly ['first' | 'last', ReturnType<typeof phrases>][] = [
  ['first', phrases('first', 'earliest', 'oldest')],
  ['last', phrases('last', 'latest', 'newest', 'most recent', 'most recently')],
];

/** Reads the first figure and marks its words as taken, except words that also state an order. */
export function readFigure(reading: Reading, table: AskedTable): AskedFigure | null {
  for (let at = 0; at < reading.words.length; at++) {
    const found =
      countedAt(reading, at, table) ??
      durationAt(reading, at, table) ??
      mostAt(reading, at, table) ??
      orderAt(reading, at, table) ??
      endAt(reading, at, table);
    if (found !== undefined) return found;
  }
  return null;
}

function countedAt(reading: Reading, at: number, table: AskedTable): AskedFigure | undefined {
  const often = phraseAt(reading, at, HOW_OFTEN);
  if (often > 0) {
    take(reading, at, at + often);
    return { kind: 'count', of: 'edges' };
  }
  const many = phraseAt(reading, at, HOW_MANY);
  if (many === 0) return undefined;
  let noun = at + many;
  while (isWord(reading, noun, ...DIFFERENT)) noun++;
  let of = nounAt(reading, noun, table);
  const first = noun;
  // In "how many escort events", the words before the noun stay keywords.
  for (; of === undefined && noun < first + MOST_QUALIFIERS && isQualifier(reading, noun); noun++)
    of = nounAt(reading, noun + 1, table);
  if (of === undefined) return columnsCounted(reading, at, first, table);
  take(reading, at, first);
  take(reading, noun, noun + 1);
  return { kind: 'count', of };
}

/** Recognises "how many ports", which asks for values of a column. */
function columnsCounted(reading: Reading, at: number, noun: number, { columns }: AskedTable): AskedFigure | undefined {
  const word = freeWord(reading, noun)?.lower;
  const isColumn = [...BUILT_IN_COLUMNS, ...columns].some(({ name }) =>
    [name.toLowerCase(), `${name.toLowerCase()}s`].includes(word ?? ''),
  );
  if (!isColumn || !isWord(reading, at, 'how')) return undefined;
  putAside(reading, at, noun + 1, 'Only hyperedges and nodes are counted.');
  return { kind: 'unknown' };
}

/** Maximum number of words between "how many" and the noun. */
const MOST_QUALIFIERS = 5;

function nounAt(reading: Reading, at: number, { name }: AskedTable): 'edges' | 'nodes' | undefined {
  const word = freeWord(reading, at);
  if (word?.kind !== 'word') return undefined;
  return NODE_NOUNS.has(word.lower) ? 'nodes' : isEdgeWord(word.lower, name) ? 'edges' : undefined;
}

const BESIDE_QUALIFIER = ['or', 'and', 'not', 'non', ',', '-', 'more', 'fewer', 'less'];

/** Returns whether a word can be a value before the noun, or joins or compares such values. */
function isQualifier(reading: Reading, at: number): boolean {
  const word = freeWord(reading, at);
  return word !== undefined && (keywordOf(word) !== undefined || isWord(reading, at, ...BESIDE_QUALIFIER));
}

const ENDS_OF_TIME = /^(?:between|since|until|till|after|before|ago|first|last|latest|earliest|passed|elapsed)$/;

/** Reads a question for a duration: "how many hours between the first and the last event". */
function durationAt(reading: Reading, at: number, { columns }: AskedTable): AskedFigure | undefined {
  const long = phraseAt(reading, at, HOW_LONG);
  const many = phraseAt(reading, at, HOW_MANY);
  const unit = many === 0 ? undefined : freeWord(reading, at + many);
  const isUnit = unit !== undefined && unitOf(unit.lower) !== undefined;
  if (isUnit && columns.some(({ name }) => name.toLowerCase() === unit.lower)) return undefined;
  if (!isUnit && (long === 0 || !reading.words.some(({ lower }) => ENDS_OF_TIME.test(lower)))) return undefined;
  putAside(reading, at, at + (isUnit ? many + 1 : long), 'Durations are not computed.');
  return { kind: 'unknown' };
}

const EXTREMES = 'highest lowest largest smallest greatest least biggest maximum minimum max min'.split(' ');
const TIMES = ['event_ts', 'time', 'date'];

/** Reads an order by a column: "by weight", "sorted by highest weight", "the lowest weight". */
function orderAt(reading: Reading, at: number, { columns }: AskedTable): AskedFigure | undefined {
  const isBy = isWord(reading, at, 'by');
  if (!isBy && !isWord(reading, at, ...EXTREMES)) return undefined;
  let next = at + 1;
  while (isWord(reading, next, 'the', 'their', 'its', ...EXTREMES)) next++;
  const names = ['size', ...[...BUILT_IN_COLUMNS, ...columns].map(({ name }) => name.toLowerCase())];
  if (isWord(reading, next, ...TIMES) || !isWord(reading, next, ...names)) return undefined;
  putAside(reading, at, next + 1, 'Hyperedges are ordered by time or relevance, not by a column.');
  return { kind: 'unknown' };
}

function mostAt(reading: Reading, at: number, table: AskedTable): AskedFigure | undefined {
  const common = phraseAt(reading, at, COMMON);
  if (common > 0) {
    const named = (place: number) =>
      [...table.columns, { name: 'formation' }].find(({ name }) => isWord(reading, place, name.toLowerCase()));
    const column = named(at + common) ?? reading.words.map((_, place) => named(place)).find((one) => one !== undefined);
    if (column === undefined) return undefined;
    take(reading, at, at + common);
    return { kind: 'most', column: column.name };
  }
  const words = phraseAt(reading, at, MOST);
  const next = freeWord(reading, at + 1);
  const isMostEdges = isWord(reading, at, 'most') && next?.kind === 'word' && isEdgeWord(next.lower, table.name);
  if (words === 0 && !isMostEdges) return undefined;
  take(reading, at, at + Math.max(words, isMostEdges ? 2 : 0));
  return { kind: 'most', column: null };
}

/**
 * Reads a question for the first or last edge: "the last call", "when did they first meet". A
 * plural asks for a list instead: "the latest mails", "the first 5 events".
 */
function endAt(reading: Reading, at: number, { name }: AskedTable): AskedFigure | undefined {
  for (const [kind, choices] of ENDS) {
    const words = phraseAt(reading, at, choices);
    if (words === 0 || countAt(reading, at + words) !== undefined || countAt(reading, at - 1) !== undefined) continue;
    const next = freeWord(reading, at + words);
    if (next?.kind === 'word' && /^(names?|ones?|of|in|and)$/.test(next.lower) && words === 1) continue;
    const isMany = next?.kind === 'word' && next.lower.endsWith('s');
    const asksWhen = reading.words.some(({ lower }) => lower === 'when');
    const isOne = next?.kind === 'word' && !isMany && isEdgeWord(next.lower, name);
    if (asksWhen || isOne) return { kind };
  }
  return undefined;
}
