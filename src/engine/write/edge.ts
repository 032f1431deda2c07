// Checks and forms of one edge, before it is encoded and as it is answered.

import { HedgerowError } from '../../errors.ts';
import { FORMAT_MAX_MEMBERS } from '../../limits.ts';
import type { ColumnSet } from '../catalog/columns.ts';
import type { EdgeInput, EdgeRow } from '../types.ts';

const INTEGER = 'must be an integer between -(2^53-1) and 2^53-1';

function invalid(loc: (string | number)[], msg: string): HedgerowError {
  const name = loc.length > 1 ? `${loc[0]}[${loc[1]}]` : String(loc[0]);
  return new HedgerowError('invalid_input', `${name} ${msg}.`, { errors: [{ loc, msg }] });
}

/** The member set: ascending, without repeats. Throws `empty_members`, `too_many_members` or `invalid_input`. */
export function memberSet(members: readonly number[], limit: number): number[] {
  if (!Array.isArray(members)) throw invalid(['members'], 'must be an array of node ids');
  if (members.length === 0) {
    throw new HedgerowError('empty_members', 'members must hold at least one node id.', {
      errors: [{ loc: ['members'], msg: 'is empty' }],
    });
  }
  let ascending = true;
  for (let i = 0; i < members.length; i++) {
    if (!Number.isSafeInteger(members[i])) throw invalid(['members', i], INTEGER);
    if (i > 0 && members[i]! <= members[i - 1]!) ascending = false;
  }
  const set = ascending ? [...members] : distinctNumbers(members, MOST_COUNTED).sort((a, b) => a - b);
  for (let i = 0; i < set.length; i++) if (set[i] === 0) set[i] = 0;
  if (set.length > limit) {
    const count = set.length === MOST_COUNTED ? `${MOST_COUNTED} or more` : set.length;
    throw new HedgerowError(
      'too_many_members',
      `members holds ${count} distinct node ids; at most ${limit} are accepted.`,
      {
        errors: [{ loc: ['members'], msg: `${count} distinct node ids, at most ${limit}` }],
      },
    );
  }
  return set;
}

/** Distinct members that are counted before a list is refused: a Set of more, chosen to have one hash, takes seconds. No edge has more than 255. */
const MOST_COUNTED = 4096;

/** The distinct numbers of a list, in the order they come; of more than `most` the first ones. */
export function distinctNumbers(numbers: readonly number[], most: number): number[] {
  const set = new Set<number>();
  for (const number of numbers) {
    set.add(number);
    if (set.size === most) break;
  }
  return [...set];
}

/** Throws `invalid_input` when `eventTs` is no safe integer. */
export function checkTime(eventTs: number): void {
  if (!Number.isSafeInteger(eventTs)) throw invalid(['event_ts'], INTEGER);
}

/** Members of a tombstone: any set the format can hold. */
export function tombstoneMembers(members: readonly number[]): number[] {
  return memberSet(members, FORMAT_MAX_MEMBERS);
}

/** The row an insert answers. */
export function rowOf(columns: ColumnSet, id: number, edge: EdgeInput, members: number[]): EdgeRow {
  const row: EdgeRow = { id, event_ts: edge.event_ts === 0 ? 0 : edge.event_ts, members };
  columns.fill(row, edge.properties);
  return row;
}
