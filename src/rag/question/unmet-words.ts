// Finds the words that change what a question for a figure means and that no other reader
// understood, such as "per", "not" or "hour". They are put aside, so that the question has no
// figure. A figure without them would answer another question.

import { BUILT_IN_COLUMNS } from '../../model/columns.ts';
import type { AskedFigure } from './asked-figure.ts';
import { unitOf } from './calendar.ts';
import { isEdgeWord, NODE_NOUNS } from './general-words.ts';
import { keywordOf } from './keywords.ts';
import type { AskedTable } from './question.ts';
import { NOT_CERTAIN, negationAt } from './word-conditions.ts';
import { countAt, freeWord, isWord, putAside, type Reading, take } from './words.ts';

const GROUPING = /^(?:per|each|every)$/;
const STATISTIC = /^(?:averages?|mean|median|percent|percentage|fraction|ratio|proportion|rate|difference)$/;
const PART_OF_TIME =
  /^(?:mornings?|afternoons?|evenings?|nights?|nighttime|daytime|weekends?|weekdays?|noon|midday|midnight|dawn|dusk|spring|summer|autumn|winter|quarter|decade|century|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|april|june|july|august|september|october|november|december|today|yesterday|tomorrow|tonight)$/;
/** Words of a comparison or order that a count must not ignore. */
const COMPARISON =
  /^(?:than|half|early|late|far|away|elsewhere|almost|nearly|more|fewer|less|least|exactly|only|alone|solely|before|after|since|until|till|earlier|later|first|last|latest|earliest|newest|oldest|recent|recently|same|different|distinct|unique|duplicates?|longer|shorter|larger|smaller|bigger|heavier|lighter|longest|shortest|largest|smallest|biggest|heaviest|lightest|highest|lowest)$/;
const PREPOSITION =
  /^(?:in|at|from|about|on|of|near|to|with|via|regarding|concerning|named|called|like|for|against|during|between|by)$/;
const ARTICLES = ['the', 'a', 'an', 'their', 'his', 'her', 'its'];
/** Words that restrict nothing after a preposition, as in "in total". */
const NO_RESTRICTION =
  /^(?:total|general|fact|database|dataset|log|whole|store|system|archive|list|set|collection|average|record|file|history)$/;

/** Verbs that say that a text has a word. */
const MENTION = /^(?:mention(?:s|ed|ing)?)$/;
const HAS_WORD = /^(?:contain(?:s|ed|ing)?|includ(?:es?|ed|ing)|ha(?:s|ve|d|ving)|us(?:es?|ed|ing)|says?|said|with)$/;
/** Nouns before a word that a text must have. The others also begin compounds ("text messages"). */
const WORD_NOUN = /^(?:words?|keywords?|phrases?)$/;
const TEXT_NOUN = /^(?:texts?|terms?)$/;

const REASONS = {
  grouping: 'Figures are computed for all hyperedges together, not by group.',
  statistic: 'Only counts, firsts, lasts and what is most frequent are computed.',
  time: 'This time is not understood.',
  comparison: 'This comparison is not understood.',
  column: 'It is not stated which values of this column are meant.',
} as const;

/**
 * Puts aside what is not understood. Returns the keywords that restrict what is counted: those
 * before the noun, those after a preposition, and numbers.
 */
export function readUnmet(reading: Reading, table: AskedTable, figure: AskedFigure): Set<string> {
  const columns = new Set([...BUILT_IN_COLUMNS, ...table.columns].map(({ name }) => name.toLowerCase()));
  const quotedAt = takeWordNouns(reading, table, columns);
  for (let at = 0; at < reading.words.length; at++) {
    const unmet = unmetAt(reading, at, table, figure, columns);
    if (unmet !== undefined) putAside(reading, at, unmet.end, unmet.reason);
  }
  return restrictingWords(reading, table, figure, quotedAt);
}

/**
 * Takes the nouns and verbs that only say that the next word is one of a text: "contain the word
 * travel", "mention kumquat". They are no keywords, even if other texts have them. Returns the
 * indexes of these next words, which restrict what is counted.
 */
function takeWordNouns(reading: Reading, table: AskedTable, columns: ReadonlySet<string>): Set<number> {
  const quotedAt = new Set<number>();
  for (let at = 0; at < reading.words.length - 1; at++) {
    const word = freeWord(reading, at);
    if (word?.kind !== 'word' || columns.has(word.lower)) continue;
    if (MENTION.test(word.lower)) {
      const next = afterArticle(reading, at + 1);
      if (!isKeyword(reading, next, table)) continue;
      take(reading, at, at + 1);
      quotedAt.add(next);
      continue;
    }
    if (!isKeyword(reading, at + 1, table) || !saysWord(reading, at)) continue;
    take(reading, at, at + 1);
    quotedAt.add(at + 1);
  }
  return quotedAt;
}

/** Returns whether the noun at an index says that the next word is one of a text. */
function saysWord(reading: Reading, at: number): boolean {
  const { lower } = reading.words[at]!;
  const isWordNoun = WORD_NOUN.test(lower);
  if (!isWordNoun && !TEXT_NOUN.test(lower)) return false;
  const before = reading.words[at - 1]?.lower ?? '';
  if (reading.words[at + 1]!.kind === 'quoted' || (isWordNoun && before === 'the')) return true;
  const verb = reading.words[ARTICLES.includes(before) ? at - 2 : at - 1]?.lower ?? '';
  return HAS_WORD.test(verb) || MENTION.test(verb);
}

function isKeyword(reading: Reading, at: number, table: AskedTable): boolean {
  const word = reading.words[at];
  if (word === undefined || keywordOf(word) === undefined) return false;
  return word.kind === 'quoted' || !(NODE_NOUNS.has(word.lower) || isEdgeWord(word.lower, table.name));
}

function afterArticle(reading: Reading, from: number): number {
  let at = from;
  while (isWord(reading, at, ...ARTICLES)) at++;
  return at;
}

function unmetAt(
  reading: Reading,
  at: number,
  table: AskedTable,
  { kind }: AskedFigure,
  columns: ReadonlySet<string>,
): { end: number; reason: string } | undefined {
  const word = freeWord(reading, at);
  if (word === undefined || word.kind === 'quoted') return undefined;
  const { lower } = word;
  const isGroup = (place: number) => {
    const next = freeWord(reading, place);
    if (next?.kind !== 'word') return false;
    return columns.has(next.lower) || NODE_NOUNS.has(next.lower) || unitOf(next.lower) !== undefined;
  };
  const negation = negationAt(reading, at);
  if (negation > 0) return { end: at + negation, reason: NOT_CERTAIN };
  if (isWord(reading, at, 'or')) return { end: at + 1, reason: NOT_CERTAIN };
  if (GROUPING.test(lower)) return { end: at + 1, reason: REASONS.grouping };
  if (lower === 'by' && isGroup(at + 1)) return { end: at + 2, reason: REASONS.grouping };
  if (columns.has(lower)) {
    const isAlone = kind === 'count' && keywordOf(reading.words[at + 1] ?? word) === undefined;
    return isAlone ? { end: at + 1, reason: REASONS.column } : undefined;
  }
  if (STATISTIC.test(lower)) return { end: at + 1, reason: REASONS.statistic };
  if (word.kind === 'date' || word.kind === 'time' || PART_OF_TIME.test(lower) || isUnit(lower))
    return { end: at + 1, reason: REASONS.time };
  if (kind !== 'count') return undefined;
  if (COMPARISON.test(lower)) return { end: at + 1, reason: REASONS.comparison };
  const next = freeWord(reading, at + 1);
  const isCounted = next?.kind === 'word' && (NODE_NOUNS.has(next.lower) || isEdgeWord(next.lower, table.name));
  return word.kind === 'word' && isCounted && countAt(reading, at) !== undefined
    ? { end: at + 2, reason: REASONS.comparison }
    : undefined;
}

function isUnit(word: string): boolean {
  return word.length > 3 && unitOf(word) !== undefined;
}

function restrictingWords(
  reading: Reading,
  table: AskedTable,
  { kind }: AskedFigure,
  quotedAt: ReadonlySet<number>,
): Set<string> {
  const restricting = new Set<string>();
  for (let at = 0; at < reading.words.length; at++) {
    const word = reading.words[at]!;
    const keyword = keywordOf(word);
    if (keyword === undefined || NO_RESTRICTION.test(keyword)) continue;
    const next = reading.words[at + 1];
    const isBeforeNoun =
      next?.taken === true && kind === 'count' && (NODE_NOUNS.has(next.lower) || isEdgeWord(next.lower, table.name));
    let before = at - 1;
    while (isWord(reading, before, ...ARTICLES)) before--;
    const isAfterPreposition = PREPOSITION.test(freeWord(reading, before)?.lower ?? '');
    const isNamed = word.kind === 'quoted' || quotedAt.has(at);
    if (word.kind === 'number' || isNamed || isBeforeNoun || isAfterPreposition) restricting.add(keyword);
  }
  return restricting;
}
