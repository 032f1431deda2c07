// Stored texts and questions as contexts and answers show them: one line, no tags, not too long.

import { wellFormed } from '../model/text.ts';
import type { Constant } from '../rules/index.ts';
import { withoutTags } from './firewall/tags.ts';

/** Characters of a stored text that are shown. */
export const TEXT_SHOWN = 200;

/** Characters of a rule's name that a sentence shows. */
export const NAME_SHOWN = 80;

/** One line without control characters, without anything that could be taken for a tag, cut with "…". The same again for what it made. */
export function shownText(text: string, most = TEXT_SHOWN): string {
  const begun = text.length > 8 * most ? text.slice(0, 8 * most) : text;
  const plain = withoutTags(
    wellFormed(begun)
      .replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}]/gu, '')
      .replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
      .trim(),
  );
  if (plain.length <= most && begun === text) return plain;
  return plain.endsWith('…') && plain.length <= most
    ? plain
    : `${Array.from(plain.slice(0, most - 1))
        .join('')
        .replace(/\p{Cs}$/u, '')}…`;
}

/** In quotes, as JSON writes it. */
export function quotedText(text: string, most = TEXT_SHOWN): string {
  return JSON.stringify(shownText(text, most));
}

export function shownConstant(value: Constant): Constant {
  return typeof value === 'string' ? shownText(value) : value;
}
