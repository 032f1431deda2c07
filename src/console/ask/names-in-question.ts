// Replaces names of nodes in a question by their numbers, because the service knows nodes only by
// number.

import type { NodeNames } from '../node-names.ts';

export interface NumberedQuestion {
  readonly text: string;
  /** The names that were found, in the order in which they first occur in the question. */
  readonly found: readonly { readonly name: string; readonly node: number }[];
}

/** Finds names as whole words in the spelling of the table, not as parts of longer words. */
export function withNumbers(question: string, names: NodeNames): NumberedQuestion {
  const numbers = new Map<string, number>();
  for (const [node, name] of names) {
    // A name without a letter could be a number or a time in the question.
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
