// Compares two edges (common members, distance in time), and tests whether a node is a member.

import { NULL_VECTOR, numbersOf, type Vector } from '../values/vector.ts';
import { gather, type RowSet, type Side } from './row-set.ts';

/** Evaluates `node IN alias.members`; with a mask, the node must have a role of the mask. */
export function hasNodeVector(node: Vector, side: Side, count: number, mask?: number | undefined): Vector {
  if (node.kind === 'constant' && node.value === null) return NULL_VECTOR;
  const nodes = numbersOf(node, count);
  const values = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const row = side.rows === undefined ? i : side.rows[i]!;
    values[i] = (mask === undefined ? hasMember(side.set, row, nodes[i]!) : hasRole(side.set, row, nodes[i]!, mask))
      ? 1
      : 0;
  }
  return { kind: 'boolean', values, nulls: node.kind === 'number' ? node.nulls : undefined };
}

export function hasMember(set: RowSet, row: number, node: number): boolean {
  const { members, offsets } = set;
  const end = offsets[row + 1]!;
  for (let at = offsets[row]!; at < end; at++) if (members[at] === node) return true;
  return false;
}

function hasRole(set: RowSet, row: number, node: number, mask: number): boolean {
  const { members, masks, offsets } = set;
  const end = offsets[row + 1]!;
  for (let at = offsets[row]!; at < end; at++) if (members[at] === node) return (masks[at]! & mask) !== 0;
  return false;
}

/** Masks of the members that count on each side; undefined: all members count. */
export interface SideMasks {
  readonly leftMask?: number | undefined;
  readonly rightMask?: number | undefined;
}

/** Same as `sharedMembers`, for members with certain roles. */
function sharedInRoles(
  left: RowSet,
  leftRow: number,
  right: RowSet,
  rightRow: number,
  { leftMask, rightMask }: SideMasks,
): number {
  let i = left.offsets[leftRow]!;
  let j = right.offsets[rightRow]!;
  const endI = left.offsets[leftRow + 1]!;
  const endJ = right.offsets[rightRow + 1]!;
  let shared = 0;
  while (i < endI && j < endJ) {
    const a = left.members[i]!;
    const b = right.members[j]!;
    if (
      a === b &&
      (leftMask === undefined || (left.masks[i]! & leftMask) !== 0) &&
      (rightMask === undefined || (right.masks[j]! & rightMask) !== 0)
    )
      shared += 1;
    if (a <= b) i += 1;
    if (b <= a) j += 1;
  }
  return shared;
}

/** Returns the number of common members of two rows by merging two ascending lists. */
export function sharedMembers(left: RowSet, leftRow: number, right: RowSet, rightRow: number): number {
  let i = left.offsets[leftRow]!;
  let j = right.offsets[rightRow]!;
  const endI = left.offsets[leftRow + 1]!;
  const endJ = right.offsets[rightRow + 1]!;
  let shared = 0;
  while (i < endI && j < endJ) {
    const a = left.members[i]!;
    const b = right.members[j]!;
    if (a === b) shared += 1;
    if (a <= b) i += 1;
    if (b <= a) j += 1;
  }
  return shared;
}

export function sharedVector(left: Side, right: Side, count: number, masks: SideMasks): Vector {
  const isWhole = masks.leftMask === undefined && masks.rightMask === undefined;
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const a = left.rows === undefined ? i : left.rows[i]!;
    const b = right.rows === undefined ? i : right.rows[i]!;
    values[i] = isWhole ? sharedMembers(left.set, a, right.set, b) : sharedInRoles(left.set, a, right.set, b, masks);
  }
  return { kind: 'number', values, nulls: undefined };
}

export function overlapsVector(left: Side, right: Side, width: Vector, count: number): Vector {
  return timeCondition(left, right, width, count, (difference, most) => Math.abs(difference) <= most);
}

/** Tests 0 < later - earlier <= width. */
export function followsVector(later: Side, earlier: Side, width: Vector, count: number): Vector {
  return timeCondition(later, earlier, width, count, (difference, most) => difference > 0 && difference <= most);
}

function timeCondition(
  a: Side,
  b: Side,
  width: Vector,
  count: number,
  test: (difference: number, most: number) => boolean,
): Vector {
  if (width.kind === 'constant' && width.value === null) return NULL_VECTOR;
  const widths = numbersOf(width, count);
  const timesA = gather(a.set.times, a.rows, count);
  const timesB = gather(b.set.times, b.rows, count);
  const values = new Uint8Array(count);
  for (let i = 0; i < count; i++) values[i] = test(timesA[i]! - timesB[i]!, widths[i]!) ? 1 : 0;
  return { kind: 'boolean', values, nulls: width.kind === 'number' ? width.nulls : undefined };
}
