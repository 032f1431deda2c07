// Finds values of text columns in a sentence, whatever their case: "they met in oslo", "it was a
// convoy". Such a word is wrong if it is a value of the table, but nothing that is cited has it.
//
// Many values are also ordinary words. Therefore a word counts as a value only after a preposition
// or after "was a", only if no noun follows ("in open water"), and only if it is not one of the
// words that follow a preposition in other meanings too ("in line", "at home", "in march").

import type { Steps } from '../../schedule/steps.ts';
import { isEdgeWord, NODE_NOUNS } from '../question/general-words.ts';
import { once, type Support } from './edge-values.ts';
import { comparable } from './lookalikes.ts';
import { isFormWord, storedTexts } from './told.ts';

const OPENER =
  /\b(?:in|at|from|near|via|(?:was|were|is|are|as|being|became|formed|called)\s+(?:an?|the))\s+(?=\p{L})/giu;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_'-]*/uy;
const MOST_WORDS = 3;
const LONGEST_VALUE = 64;
const SHORTEST_VALUE = 3;
const AFTER_VALUE = /^\s*(?:$|[^\p{L}\p{N}\s])/u;
/** Words with other meanings after a preposition or an article. */
const ORDINARY = new Set(
  `line order place force charge range fact general total short common touch person part turn time addition particular public private sight use view
  doubt effect group groups pair pairs full detail question return case row series sequence parallel response reply practice theory reality principle
  advance agreement conflict existence favour favor motion operation progress position possession trouble transit home work rest once first last least
  most best open end start beginning north south east west night day dawn dusk noon midnight morning afternoon evening spring summer autumn fall winter
  may march sun january february april june july august september october november december good bad new old high low true false yes unknown other
  number set list table graph data record file text value column row weight size score type kind name link connection single double large small long
  one two three four five half whole`.split(/\s+/),
);

interface Said {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Yields the words of folded text that a value may be, the longest first at each place. */
function* sayings(text: string): Generator<Said[]> {
  const ordinary = new Map<string, boolean>();
  for (const { 0: opener, index } of text.matchAll(OPENER)) {
    const start = index + opener.length;
    const found: Said[] = [];
    let end = start;
    for (let words = 0; words < MOST_WORDS; words++) {
      WORD.lastIndex = words === 0 ? start : end + 1;
      if (words > 0 && text[end] !== ' ') break;
      const word = WORD.exec(text)?.[0];
      if (word === undefined) break;
      end = WORD.lastIndex;
      const value = text.slice(start, end).toLowerCase();
      if (value.length > LONGEST_VALUE) break;
      const skips = ordinary.get(value) ?? isOrdinary(value);
      ordinary.set(value, skips);
      if (!skips && endsAt(text, end)) found.unshift({ value, start, end });
    }
    yield found;
  }
}

/** Returns whether no noun follows, to which the word before `end` would belong. */
function endsAt(text: string, end: number): boolean {
  if (AFTER_VALUE.test(text.slice(end, end + 8))) return true;
  const next = /^\s+([\p{L}\p{M}]+)/u.exec(text.slice(end, end + 40))?.[1];
  return next !== undefined && isFormWord(next);
}

function isOrdinary(value: string): boolean {
  const isShort = value.length < SHORTEST_VALUE || /^\p{N}/u.test(value);
  return isShort || ORDINARY.has(value) || isFormWord(value) || NODE_NOUNS.has(value) || isEdgeWord(value, '');
}

/** Maximum number of words of a request that are looked up in the columns of its table. */
const MOST_LOOKED_UP = 1000;

/** Number of prepositions that are looked at in one step, which takes about a millisecond. */
const STEP_PLACES = 64;

/** Returns the words of a folded text that are wrong if they are values of a column. */
export function* possibleValues(text: string): Steps<Set<string>> {
  const values = new Set<string>();
  let places = 0;
  for (const found of sayings(text)) {
    if (++places % STEP_PLACES === 0) yield;
    for (const { value } of found) values.add(value);
    if (values.size >= MOST_LOOKED_UP) break;
  }
  return values;
}

/** Maximum number of prepositions in a part of a sentence after which values are compared. */
const MOST_PLACES = 500;
/** Maximum number of edges whose values are known. */
const MOST_EDGES = 2000;

/** Returns a test whether a text in lower case is a value of some edge or of the table. */
export function valueTestOf({ edges, columnValues }: Support): (value: string) => boolean {
  const known = once(() => {
    const values = new Set<string>();
    let left = MOST_EDGES;
    for (const edge of edges.values()) {
      if (left-- === 0) break;
      for (const text of storedTexts(edge)) if (text.length <= LONGEST_VALUE) values.add(comparable(text));
    }
    return values;
  });
  return (value) => columnValues?.has(value) === true || known().has(value);
}

/** Returns the values in folded text that nothing cited has. */
export function strangeValues(
  text: string,
  isValue: (value: string) => boolean,
  knows: (word: string) => boolean,
): { start: number; end: number; wrong: string }[] {
  const strange: { start: number; end: number; wrong: string }[] = [];
  let left = MOST_PLACES;
  for (const found of sayings(text)) {
    if (left-- === 0) break;
    const said = found.find(({ value }) => isValue(value));
    if (said === undefined || knows(said.value)) continue;
    const { start, end } = said;
    strange.push({ start, end, wrong: `${text.slice(start, end)} is a value that nothing cited has` });
  }
  return strange;
}
