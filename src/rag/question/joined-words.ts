// Finds the words of a question that a text index keeps whole and the readers of questions divide:
// 55,000 and 3,50, example.com, o'neil, U.S.A, words with an invisible hyphen; also words of which
// the readers drop a part (C++, AT&T, x-ray, covid-19), and times of day, which are no keywords.

import { wordsOf } from '../../text/index.ts';
import { isStopWord } from './keywords.ts';
import type { Reading, Word } from './words.ts';

/** Words [first, end) of a question that are one word of a text. */
interface Joined {
  readonly text: string;
  readonly first: number;
  readonly end: number;
}

/** Returns these words in the order of the question, as written. Those of names are left out. */
export function joinedWords(reading: Reading): string[] {
  const { words } = reading;
  const joined = new Set<string>();
  for (const { text, first, end } of joinedIn(reading)) {
    const parts = words.slice(first, end).filter(({ kind }) => kind !== 'sign');
    if (parts.length === 0 || parts.some(({ taken }) => !taken)) joined.add(text);
  }
  for (const { kind, text: time, taken } of words) if (kind === 'time' && !taken) joined.add(time);
  return [...joined];
}

/**
 * Returns the reading with each of these words, if no reader has taken a part of it, as one quoted
 * word, so that the parts alone are not looked for; and `spans` of words [from, to) as they are
 * there.
 */
export function withJoinedWords(
  reading: Reading,
  spans: readonly { readonly from: number; readonly to: number }[],
): { readonly reading: Reading; readonly spans: { from: number; to: number }[] } {
  const words: Word[] = [];
  /** By place of a word of the question: its place in `words`. */
  const places: number[] = [];
  const joined = joinedIn(reading);
  let next = joined.next();
  for (let at = 0; at < reading.words.length; ) {
    while (next.done !== true && next.value.first < at) next = joined.next();
    const one = next.done !== true && next.value.first === at ? next.value : undefined;
    const parts = reading.words.slice(at, one?.end ?? at + 1);
    const word = parts[0]!;
    const isWhole = !parts.some(({ taken }) => taken) && (one !== undefined || word.kind === 'time');
    const count = isWhole ? parts.length : 1;
    for (let part = 0; part < count; part++) places.push(words.length);
    words.push(isWhole ? quoted(parts, one?.text ?? word.text) : word);
    at += count;
  }
  places.push(words.length);
  const moved = spans.map(({ from, to }) => ({ from: places[from]!, to: places[to]! }));
  return { reading: { ...reading, words }, spans: moved };
}

function quoted(parts: readonly Word[], text: string): Word {
  const { start, glued } = parts[0]!;
  const plain = text.replaceAll(HYPHEN, '');
  return {
    kind: 'quoted',
    text: plain,
    lower: plain.toLowerCase(),
    start,
    end: parts.at(-1)!.end,
    glued,
    taken: false,
  };
}

/** A hyphen that is only seen at the end of a line. */
const HYPHEN = '\u00ad';

/** Yields the words of a text that consist of several words or signs of the question, or a sign. */
function* joinedIn({ text, words }: Reading): Generator<Joined, void, void> {
  let first = 0;
  for (const { start, end } of stretches(text)) {
    while (first < words.length && words[first]!.end <= start) first++;
    let last = first;
    while (last < words.length && words[last]!.end < end) last++;
    const word = text.slice(start, end);
    const isWhole = last === first && words[first]?.kind !== 'sign';
    if (!isWhole && !isStopWord(stripped(word))) yield { text: word, first, end: Math.min(last + 1, words.length) };
  }
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Letters and digits with signs between or after them. */
const SIGNED = /(?<![\p{L}\p{M}\p{N}_])[\p{L}\p{M}\p{N}]+(?:[&+#-]+[\p{L}\p{M}\p{N}]*)+/gu;

/** Returns what is one word: the words of an index and those with signs, without overlaps. */
function stretches(text: string): Stretch[] {
  const all: Stretch[] = [];
  for (const { index: start, 0: found } of text.matchAll(SIGNED)) {
    const word = found.replace(/-+$/, '');
    if (isSigned(word)) all.push({ start, end: start + word.length });
  }
  let from = 0;
  for (const word of wordsOf(text)) {
    const start = text.indexOf(word, from);
    from = start + word.length;
    all.push({ start, end: from });
  }
  all.sort((a, b) => a.start - b.start || b.end - a.end);
  let end = 0;
  return all.filter((one) => {
    const isFree = one.start >= end;
    if (isFree) end = one.end;
    return isFree;
  });
}

/** Returns whether a word with signs is one: C++, AT&T; x-ray, F-16; not well-known or 3-day. */
function isSigned(word: string): boolean {
  if (!/\p{L}/u.test(word)) return false;
  if (/[&+#]/.test(word)) return true;
  const parts = word.split('-');
  return parts.some((part) => /^\p{L}$|\p{N}/u.test(part)) && !parts.some((part) => isStopWord(part.toLowerCase()));
}

/** Returns a word in lower case without what follows an apostrophe. */
function stripped(word: string): string {
  return word.toLowerCase().replace(/['\u2019]\p{L}{1,2}$/u, '');
}
