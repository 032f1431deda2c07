// An index from nodes to the rows that have them, for EXISTS. Unlike the index of a member join
// (member-pairs.ts), it depends on the right side only, because the outer rows arrive in many small
// batches.
//
// The nodes get codes 0, 1, 2, ... The rows with code c are `rows[starts[c]]` up to
// `rows[starts[c + 1]]`, exclusive, ascending.

import type { QueryContext } from '../context.ts';
import { NumberTable } from '../rows/number-table.ts';
import { BUILD_STEP, type Building } from './join-pairs.ts';

/**
 * Nodes by row: those of row i are `nodes[offsets[i]]` up to `nodes[offsets[i + 1]]`, exclusive.
 */
export interface NodeLists {
  /** Number of rows. */
  readonly rows: number;
  readonly offsets: Uint32Array;
  readonly nodes: Float64Array;
}

export interface NodeIndex {
  readonly codes: NumberTable;
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
}

export function* nodeIndex(lists: NodeLists, context: QueryContext): Building<NodeIndex> {
  const { offsets, nodes } = lists;
  const first = offsets[0]!;
  const count = offsets[lists.rows]! - first;
  context.charge(count * 8);
  const codes = new NumberTable();
  const codesOf = new Uint32Array(count);
  for (let from = 0; from < count; from += BUILD_STEP) {
    const { bytes } = codes;
    const end = Math.min(count, from + BUILD_STEP);
    for (let i = from; i < end; i++) codesOf[i] = codes.placeOf(nodes[first + i]!);
    context.charge(codes.bytes - bytes);
    yield null;
  }
  context.charge(codes.size * 4);
  // The count of code c is at c + 2, so after summing, its list starts at `starts[c + 1]`. Filling
  // a list advances its start to its end, which is the start of the next list.
  const starts = new Uint32Array(codes.size + 2);
  for (let i = 0; i < count; i++) {
    starts[codesOf[i]! + 2]!++;
    if (i % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) yield null;
  }
  for (let code = 2; code < starts.length; code++) {
    starts[code]! += starts[code - 1]!;
    if (code % COUNTED_AT_ONCE === 0) yield null;
  }
  const rows = new Uint32Array(count);
  for (let from = 0; from < lists.rows; from += BUILD_STEP) {
    fill(lists, from, Math.min(lists.rows, from + BUILD_STEP), codesOf, starts, rows);
    yield null;
  }
  return { codes, starts, rows };
}

const COUNTED_AT_ONCE = 2 ** 18;

function fill(
  { offsets }: NodeLists,
  from: number,
  to: number,
  codesOf: Uint32Array,
  starts: Uint32Array,
  rows: Uint32Array,
): void {
  const first = offsets[0]!;
  for (let row = from; row < to; row++) {
    const end = offsets[row + 1]! - first;
    for (let at = offsets[row]! - first; at < end; at++) rows[starts[codesOf[at]! + 1]!++] = row;
  }
}
