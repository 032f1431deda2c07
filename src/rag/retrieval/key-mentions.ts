// Finds the keys of a named table's nodes that occur in a text as whole words, without regard to
// case. Every run of words that is not longer than the longest key is looked up in the index of
// folded keys, so the cost depends on the text and not on the number of nodes.

import { foldKey } from '../../model/fold-key.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { AskedNodes, KeyMention } from '../question/question.ts';
import { begun } from '../question/understand.ts';
import type { Word } from '../question/words.ts';
import type { MemberKeys } from './member-keys.ts';

/** Number of runs that one step looks up, which takes about a millisecond. */
const STEP_RUNS = 500;
/** Maximum number of words and signs in a run. */
const MOST_WORDS = 64;
const LETTER = /[\p{L}\p{M}\p{N}_]/u;

/** Returns what is known about the nodes that a question may mean. */
export function* askedNodes(query: string, keys: MemberKeys): Steps<AskedNodes> {
  const { text, words } = begun(query);
  return {
    kindWords: keys.kinds.flatMap(({ name }) => [name.toLowerCase(), `${name.toLowerCase()}s`]),
    mentions: yield* mentionsIn(text, words, keys),
    numbersOf: (integer) =>
      keys.kinds.flatMap((kind) => keys.nodes.find(kind.table, kind.isInteger ? integer : String(integer)) || []),
  };
}

/** Returns the keys among the words of a tidied text, the longest first. */
export function* mentionsIn(text: string, words: readonly Word[], keys: MemberKeys): Steps<KeyMention[]> {
  const { folded } = keys.nodes;
  if (keys.kinds.every(({ isInteger }) => isInteger)) return [];
  yield* folded.extend();
  const kinds = new Set(keys.kinds.map(({ name }) => name));
  const mentions: (KeyMention & { length: number })[] = [];
  let runs = 0;
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= Math.min(words.length, from + MOST_WORDS); to++) {
      if (runs++ % STEP_RUNS === STEP_RUNS - 1) yield undefined;
      const written = writtenAs(text, words, from, to);
      // A folded text is at most a few characters shorter than the text.
      if (written !== undefined && written[0]!.length > 2 * folded.longest + 2) break;
      for (const one of written ?? []) {
        const numbers = folded.find(foldKey(one)).filter((number) => kinds.has(keys.nodes.nodeOf(number)!.kind));
        if (numbers.length === 0) continue;
        const isExact = numbers.some((number) => keys.nodes.shown(number, false) === one);
        mentions.push({ from, to, numbers, isExact, length: one.length });
        break;
      }
    }
  }
  return mentions.sort((a, b) => b.length - a.length || a.from - b.from);
}

/**
 * Returns the text of a run of words: without the quotation marks of a single quotation, and also
 * without a final 's. Undefined if the run begins or ends within a word.
 */
function writtenAs(text: string, words: readonly Word[], from: number, to: number): string[] | undefined {
  const [first, last] = [words[from]!, words[to - 1]!];
  if (to === from + 1 && first.kind === 'quoted') return [first.text];
  const { start } = first;
  const { end } = last;
  const isSplit = (at: number) => LETTER.test(text[at - 1] ?? ' ') && LETTER.test(text[at] ?? ' ');
  if (isSplit(start) || isSplit(end)) return undefined;
  const whole = text.slice(start, end);
  return /'s$/i.test(whole) ? [whole, whole.slice(0, -2)] : [whole];
}
