// Names of nodes in a question: the service knows nodes by their numbers alone, so these take the
// places of the names.

import type { NodeNames } from '../node-names.ts';

export interface NumberedQuestion {
  readonly text: string;
  /** What was found, in the order of the question. */
  readonly found: readonly { readonly name: string; readonly node: number }[];
}

/** Whole words, as they are written in the table; a name within a longer one is not meant. */
export function withNumbers(question: string, names: NodeNames): NumberedQuestion {
  const numbers = new Map<string, number>();
  for (const [node, name] of names) {
    // What is no word may be a number or a time of the question.
    if (/\p{L}/u.test(name) && question.includes(name) && !numbers.has(name)) numbers.set(name, node);
  }
  if (numbers.size === 0) return { text: question, found: [] };
  const longestFirst = [...numbers.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:node\\s+)?(${longestFirst.join('|')})(?![\\p{L}\\p{N}_])`, 'gu');
  const found = new Map<string, number>();
  const text = question.replaceAll(pattern, (_whole, name: string) => {
    found.set(name, numbers.get(name)!);
    return `node ${numbers.get(name)}`;
  });
  return { text, found: [...found].map(([name, node]) => ({ name, node })) };
}

function escaped(name: string): string {
  return name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
