// Recognises how many edges a text asks for and in which order: "top 5", "3 most recent", "latest",
// "oldest 10".

import { isEdgeWord } from './general-words.ts';
import type { AskedTable, EdgeOrder } from './question.ts';
import { countAt, freeWord, type Phrases, phraseAt, phrases, putAside, type Reading, take } from './words.ts';

export interface Wanted {
  top: number | null;
  order: EdgeOrder;
}

const BEFORE_COUNT: readonly [EdgeOrder, Phrases][] = [
  ['score', phrases('top', 'best', 'limit', 'limit to', 'show me', 'show', 'only')],
  ['newest', phrases('most recent', 'latest', 'newest', 'last', 'recent')],
  ['oldest', phrases('first', 'oldest', 'earliest')],
];
const BEHIND_COUNT: readonly [EdgeOrder, Phrases][] = [
  ['newest', phrases('most recent', 'latest', 'newest', 'last')],
  ['oldest', phrases('oldest', 'earliest')],
  ['score', phrases('best', 'top')],
];
/** Words that name an order without a number. */
const ALONE: readonly [EdgeOrder, Phrases][] = [
  ['newest', phrases('most recent', 'most recently', 'latest', 'newest', 'newest first', 'most recent first')],
  ['oldest', phrases('oldest', 'earliest', 'oldest first')],
];
/**
 * Words after which a number counts edges only if a word for edges follows: `show 5 events`. In
 * `top 5`, the number counts edges even if no noun follows.
 */
const NEEDS_NOUN = phrases('show me', 'show', 'only');
/** Words that are not counted by a number before them. */
const COUNTS_NOTHING =
  /^(and|or|to|until|till|before|after|since|in|on|at|of|from|for|with|where|which|that|having|about|by|as|is|are|were|was|did|do|does|top|latest|newest|oldest|most|weight|formation)$/;

/** Reads the number and the order of the edges, and marks their words as taken. */
export function readWanted(reading: Reading, table: AskedTable): Wanted {
  const wanted: Wanted = { top: null, order: 'score' };
  for (let at = 0; at < reading.words.length; at++) {
    const found = countedAt(reading, at, table) ?? aloneAt(reading, at);
    if (found === undefined) continue;
    const { order, top, end } = found;
    if (top !== null && (!Number.isSafeInteger(top) || top < 1)) {
      putAside(reading, at, end, 'The number of edges must be a whole number from 1 on.');
      continue;
    }
    if (top !== null && wanted.top !== null && wanted.top !== top) {
      putAside(reading, at, end, 'A question has one number of edges; the first one counts.');
      continue;
    }
    take(reading, at, end);
    wanted.top ??= top;
    if (order !== 'score') wanted.order = wanted.order === 'score' ? order : wanted.order;
    at = end - 1;
  }
  return wanted;
}

interface Found {
  readonly order: EdgeOrder;
  readonly top: number | null;
  readonly end: number;
}

function countedAt(reading: Reading, at: number, table: AskedTable): Found | undefined {
  for (const [order, phrases] of BEFORE_COUNT) {
    const words = phraseAt(reading, at, phrases);
    const count = words === 0 ? undefined : countAt(reading, at + words);
    if (count === undefined) continue;
    const needsNoun = phraseAt(reading, at, NEEDS_NOUN) > 0;
    if (!countsEdges(reading, count.end, table, needsNoun)) continue;
    return { order, top: count.value, end: count.end };
  }
  const count = countAt(reading, at);
  if (count === undefined) return undefined;
  for (const [order, phrases] of BEHIND_COUNT) {
    const words = phraseAt(reading, count.end, phrases);
    if (words > 0 && countsEdges(reading, count.end + words, table, false))
      return { order, top: count.value, end: count.end + words };
  }
  return undefined;
}

/**
 * Returns whether a number counts edges, judging by the words after it. It does in "first 5 events"
 * and "top 5", but not in "first two turtles".
 */
function countsEdges(reading: Reading, at: number, table: AskedTable, needsNoun: boolean): boolean {
  const next = freeWord(reading, at);
  if (next?.kind === 'word' && isEdgeWord(next.lower, table.name)) return true;
  return !needsNoun && (next?.kind !== 'word' || COUNTS_NOTHING.test(next.lower) || isColumn(next.lower, table));
}

function isColumn(word: string, { columns }: AskedTable): boolean {
  return columns.some(({ name }) => name.toLowerCase() === word);
}

function aloneAt(reading: Reading, at: number): Found | undefined {
  for (const [order, phrases] of ALONE) {
    const words = phraseAt(reading, at, phrases);
    if (words > 0) return { order, top: null, end: at + words };
  }
  return undefined;
}
