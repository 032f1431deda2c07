// Recognises the figure that a text asks for: the number of edges or nodes, the first or the last
// edge, or the most frequent value or node.

import { isEdgeWord, NODE_NOUNS } from './general-words.ts';
import type { AskedTable } from './question.ts';
import { countAt, freeWord, isWord, phraseAt, phrases, type Reading, take } from './words.ts';

export type AskedFigure =
  | { readonly kind: 'count'; readonly of: 'edges' | 'nodes' }
  | { readonly kind: 'first' | 'last' }
  /**
   * Asks for the most frequent value in a column or, if `column` is null, for the node that is in
   * the most edges.
   */
  | { readonly kind: 'most'; readonly column: string | null };

const HOW_OFTEN = phrases('how many times', 'how often', 'how frequently');
const HOW_MANY = phrases('how many', 'the number of', 'number of', 'count of', 'count the', 'count all', 'count');
const DIFFERENT = ['different', 'distinct', 'unique', 'all', 'the'];
const MOST = phrases('most often', 'most frequently', 'most active', 'most connected', 'busiest', 'most times');
const COMMON = phrases('most common', 'most frequent', 'most popular', 'commonest');
const ENDS: readonly ['first' | 'last', ReturnType<typeof phrases>][] = [
  ['first', phrases('first', 'earliest', 'oldest')],
  ['last', phrases('last', 'latest', 'newest', 'most recent', 'most recently')],
];

/** Reads the first figure and marks its words as taken, except words that also state an order. */
export function readFigure(reading: Reading, table: AskedTable): AskedFigure | null {
  for (let at = 0; at < reading.words.length; at++) {
    const found = countedAt(reading, at, table) ?? mostAt(reading, at, table) ?? endAt(reading, at, table);
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
  const word = freeWord(reading, noun);
  if (word?.kind !== 'word') return undefined;
  const of = NODE_NOUNS.has(word.lower) ? 'nodes' : isEdgeWord(word.lower, table.name) ? 'edges' : undefined;
  if (of === undefined) return undefined;
  take(reading, at, noun + 1);
  return { kind: 'count', of };
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
