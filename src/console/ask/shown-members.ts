// Formats the members of an edge as answers to questions have them.

import { BETWEEN_MEMBERS, membersText, type NodeNames } from '../node-names.ts';

/** A member as answers show it: a number, a key, or a key with its kind. */
export type ShownMember = number | string | { readonly kind: string; readonly key: number | string };

/** Returns the text of members, of which those of a named table are keys. */
export function shownMembersText(members: readonly ShownMember[], names: NodeNames): string {
  if (members.every((member) => typeof member === 'number')) return membersText(members, names);
  return members.map((member) => String(typeof member === 'object' ? member.key : member)).join(BETWEEN_MEMBERS);
}
