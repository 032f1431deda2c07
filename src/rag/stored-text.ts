// Formats stored texts and questions for prompts and answers: on one line, without tags, and not
// too long.

import { wellFormed } from '../model/text.ts';
import type { Constant } from '../rules/index.ts';
import { withoutTags } from './firewall/tags.ts';
import type { Member } from './retrieval/member-keys.ts';

/** Maximum number of characters of a stored text that are shown. */
export const TEXT_SHOWN = 200;

/** Maximum number of characters of a rule's name that are shown in a sentence. */
export const NAME_SHOWN = 80;

/**
 * Returns a text as one line, without control characters or anything that looks like a tag. A long
 * text is truncated with "…". Calling it on its own result changes nothing.
 */
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

/** Returns the shown text in quotation marks, escaped as in JSON. */
export function quotedText(text: string, most = TEXT_SHOWN): string {
  return JSON.stringify(shownText(text, most));
}

/** Returns a member as prompts and answers show it: a number, or a key in quotation marks. */
export function shownMember(member: Member): string {
  return typeof member === 'string' ? quotedText(member) : String(member);
}

export function shownConstant(value: Constant): Constant {
  return typeof value === 'string' ? shownText(value) : value;
}
