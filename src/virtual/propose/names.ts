// Makes the names of labels and members in a proposal.

import { IDENTIFIER } from '../../model/columns.ts';
import { ID_WORDS, singular, wordsOf } from '../../tabular/words.ts';

/** Makes a label from words: `bank_accounts` gives `BankAccount`. */
export function labelOf(words: readonly string[], otherwise: string): string {
  const last = words.length - 1;
  const parts = words.map((word, index) => (index === last ? singular(word) : word));
  return identifier(parts.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(''), otherwise);
}

/** Makes a member name from a column name: `from_user_id` gives `from_user`. */
export function memberNameOf(column: string, otherwise: string): string {
  const words = wordsOf(column);
  const stem = words.length > 1 && ID_WORDS.has(words[words.length - 1]!) ? words.slice(0, -1) : words;
  return identifier(stem.join('_'), otherwise);
}

function identifier(text: string, otherwise: string): string {
  const cut = (/^[0-9]/.test(text) ? `_${text}` : text).slice(0, 60);
  return IDENTIFIER.test(cut) ? cut : otherwise;
}

/**
 * Returns `name`, followed by the first free number from 2 on if the name is already taken. Ignores
 * case.
 */
export function unused(name: string, used: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; used.has(free.toLowerCase()); number++) free = `${name}${number}`;
  return free;
}
