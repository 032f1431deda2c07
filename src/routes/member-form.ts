// How the members of a named table are shown in an answer: as keys, as objects with kind and key,
// or as the internal numbers of the nodes.

import type { EdgeRow, Nodes, Table } from '../engine/index.ts';
import { invalidFields } from '../http/index.ts';
import type { MemberInput } from '../model/edge.ts';
import type { KindAndKey, NodeKey } from '../model/node-refs.ts';

export type MemberForm = 'numbers' | 'keys' | 'objects';

/**
 * Reads the parameter `members` of a request (`place` is where it stands). Undefined: the default
 * of the table. Throws `invalid_input`.
 */
export function readMemberForm(value: unknown, place: 'query' | 'body'): 'numbers' | 'objects' | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'numbers' || value === 'objects') return value;
  throw invalidFields([{ loc: [place, 'members'], msg: MEMBERS_MESSAGE }]);
}

export const MEMBERS_MESSAGE = 'must be numbers or objects';

/**
 * Returns the form in which the members of a table are shown. Members of a table of numbers are
 * always numbers.
 */
export function formOf({ kinds }: Pick<Table, 'kinds'>, asked: 'numbers' | 'objects' | undefined): MemberForm {
  if (kinds === undefined) return 'numbers';
  return asked ?? (kinds.length > 1 ? 'objects' : 'keys');
}

/** Returns members as an answer shows them. */
export function shownMembers(
  nodes: Nodes,
  numbers: readonly number[],
  form: MemberForm,
): (NodeKey | KindAndKey | null)[] {
  return form === 'numbers' ? [...numbers] : numbers.map((number) => nodes.shown(number, form === 'objects'));
}

/**
 * Returns the members that a request gave for a named table, in the form of answers and in the
 * order of their numbers; keys that no node has come first.
 */
export function givenMembers(
  nodes: Nodes,
  members: readonly MemberInput[],
  form: MemberForm,
): (NodeKey | KindAndKey | null)[] {
  const known = (members as readonly KindAndKey[]).map(({ kind, key }) => ({
    number: nodes.find(nodes.table(kind), key),
    kind,
    key,
  }));
  known.sort((a, b) => a.number - b.number);
  return known.map(({ number, kind, key }) => {
    if (form === 'numbers') return number === 0 ? null : number;
    return form === 'keys' ? key : { kind, key };
  });
}

/** Returns a row with its members, and those of its roles, as answers show them. */
export function shownRow(nodes: Nodes, row: EdgeRow, form: MemberForm): EdgeRow {
  if (form === 'numbers') return row;
  const shown = (numbers: readonly number[]) => shownMembers(nodes, numbers, form) as number[];
  const members = shown(row.members);
  if (row.roles === undefined) return { ...row, members };
  const roles = Object.entries(row.roles).map(([role, numbers]) => [role, shown(numbers)]);
  return { ...row, members, roles: Object.fromEntries(roles) };
}
