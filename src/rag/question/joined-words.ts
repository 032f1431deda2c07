// Finds the words of a question that a text index keeps whole and the readers of questions divide:
// 55,000 and 3,50, example.com, o'neil, U.S.A, words with an invisible hyphen; also times of day,
// which are no keywords.

import { wordsOf } from '../../text/index.ts';
import { isStopWord, MOST_KEYWORDS } from './keywords.ts';
import type { Reading } from './words.ts';

/** Returns these words in the order of the question, as written. Those of names are left out. */
export function joinedWords({ text, words }: Reading): string[] {
  const joined = new Set<string>();
  let from = 0;
  let first = 0;
  for (const word of wordsOf(text)) {
    const start = text.indexOf(word, from);
    from = start + word.length;
    while (first < words.length && words[first]!.end <= start) first++;
    let last = first;
    while (last < words.length && words[last]!.end < from) last++;
    const parts = words.slice(first, last + 1).filter(({ kind }) => kind !== 'sign');
    const isWhole = last === first && words[first]?.kind !== 'sign';
    const isTaken = parts.length > 0 && parts.every(({ taken }) => taken);
    if (isWhole || isTaken || isStopWord(stripped(word))) continue;
    joined.add(word);
    if (joined.size === MOST_KEYWORDS) return [...joined];
  }
  for (const { kind, text: time, taken } of words) if (kind === 'time' && !taken) joined.add(time);
  return [...joined];
}

/** Returns a word in lower case without what follows an apostrophe. */
function stripped(word: string): string {
  return word.toLowerCase().replace(/['\u2019]\p{L}{1,2}$/u, '');
}
