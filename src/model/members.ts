// Reads the members of an edge from a request or a program.

import type { ErrorCode } from '../errors.ts';
import { kindOf, type Place } from './fields.ts';
import { formOfRefs, type MemberKind, type NodeRef } from './node-refs.ts';
import {
  hasRoleForm,
  type MemberForm,
  NO_ROLES,
  NUMBERS,
  type RoleMembers,
  type RoleSet,
  readRoleMembers,
} from './roles.ts';

export const INTEGER = 'must be an integer between -(2^53-1) and 2^53-1';

/** Who collects what is wrong with an edge. */
interface Faults {
  readonly isFull: boolean;
  add(path: Place, msg: string, code?: ErrorCode): void;
}

/**
 * The members of an edge: numbers, or keys that the engine resolves, with the masks of their roles.
 */
export interface TakenMembers {
  readonly members: number[];
  readonly refs: readonly NodeRef[] | undefined;
  readonly masks: readonly number[] | undefined;
}

/**
 * Reads the members of an edge, and `lists` beside them (the field `roles`). If `roles` is
 * undefined, roles are ignored. With `owned`, the array `given` may become the result.
 */
export function takeAny(
  given: unknown,
  lists: unknown,
  {
    kinds,
    roles,
    maxMembers,
  }: { kinds?: readonly MemberKind[] | undefined; roles: RoleSet | undefined; maxMembers: number },
  owned: boolean,
  faults: Faults,
): TakenMembers {
  if (kinds !== undefined) {
    if (isMissing(given) && isMissing(lists)) faults.add(['members'], 'is missing');
    const { members, masks } = takeRoleMembers(given, lists, roles, formOfRefs(kinds), maxMembers, faults);
    return { members: [], refs: members, masks };
  }
  if (!hasRoleForm(given, lists, roles === undefined || !roles.isEmpty))
    return { members: takeMembers(given, maxMembers, owned, faults), refs: undefined, masks: undefined };
  return { ...takeRoleMembers(given, lists, roles, NUMBERS, maxMembers, faults), refs: undefined };
}

/**
 * The largest number of distinct members that are counted before a list is refused. No edge has
 * more than 255 members. A larger Set could take seconds to fill if the numbers were chosen to have
 * the same hash.
 */
const MOST_COUNTED = 4096;

/**
 * Returns the member set in ascending order without repeats. If `owned` is true and the array is
 * already such a set, the array itself is returned. The result has no meaning after a fault.
 */
function takeMembers(given: unknown, limit: number, owned: boolean, faults: Faults): number[] {
  if (!Array.isArray(given)) {
    const msg = isMissing(given) ? 'is missing' : `must be an array of integers, not ${kindOf(given)}`;
    faults.add(['members'], msg);
    return [];
  }
  const members = given as number[];
  if (members.length === 0) faults.add(['members'], 'must hold at least one node id', 'empty_members');
  let isAscending = true;
  let isWrong = false;
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    if (!Number.isSafeInteger(member)) {
      isWrong = true;
      faults.add(['members', i], typeof member === 'object' && member !== null ? `${INTEGER}; ${NO_ROLES}` : INTEGER);
      if (faults.isFull) break;
    } else if (i > 0 && member <= members[i - 1]!) isAscending = false;
  }
  if (isWrong) return [];
  const set = isAscending ? (owned ? members : members.slice()) : sortedSet(members);
  // -0 becomes 0.
  for (let i = 0; i < set.length && set[i]! <= 0; i++) if (set[i] === 0) set[i] = 0;
  if (set.length > limit) faults.add(['members'], tooManyText(set.length, limit), 'too_many_members');
  return set;
}

/** Reads members with roles, see `readRoleMembers`. */
function takeRoleMembers<M>(
  given: unknown,
  lists: unknown,
  roles: RoleSet | undefined,
  form: MemberForm<M>,
  limit: number,
  faults: Faults,
): RoleMembers<M> {
  const read = readRoleMembers(given, lists, roles, form, faults);
  if (read.members.length > limit) faults.add(['members'], tooManyText(read.members.length, limit), 'too_many_members');
  return read;
}

/**
 * Lists up to this length are sorted by insertion. For three members this takes a sixth of the time
 * of `sort` or of a Set, and most edges have few members.
 */
const SHORT_LIST = 32;

/**
 * Returns the distinct numbers in ascending order. If a list has more than `MOST_COUNTED` distinct
 * numbers, only the first ones are returned.
 */
function sortedSet(members: readonly number[]): number[] {
  if (members.length > SHORT_LIST) return distinctNumbers(members, MOST_COUNTED).sort((a, b) => a - b);
  const set = members.slice();
  for (let i = 1; i < set.length; i++) {
    const member = set[i]!;
    let at = i;
    for (; at > 0 && set[at - 1]! > member; at--) set[at] = set[at - 1]!;
    set[at] = member;
  }
  let count = 1;
  for (let i = 1; i < set.length; i++) if (set[i] !== set[i - 1]) set[count++] = set[i]!;
  set.length = count;
  return set;
}

/** Returns the message about too many members, which follows the word `members`. */
export function tooManyText(count: number, limit: number): string {
  const counted = count === MOST_COUNTED ? `${MOST_COUNTED} or more` : count;
  return `holds ${counted} distinct node ids; at most ${limit} are accepted`;
}

/**
 * Returns the distinct numbers of a list in the order in which they first occur, up to `most`
 * numbers.
 */
export function distinctNumbers(numbers: readonly number[], most: number): number[] {
  const set = new Set<number>();
  for (const number of numbers) {
    set.add(number);
    if (set.size === most) break;
  }
  return [...set];
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
