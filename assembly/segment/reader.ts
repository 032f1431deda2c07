// Opens a segment, and reads the time, id and members of a row in place.

import { alloc } from '../memory/alloc';
import { bytesOf, element, get, put } from '../memory/cells';
import {
  BLOCK_BYTES,
  E_BYTES,
  findEntry,
  H_ID_MIN,
  H_ID_WIDTH,
  H_NODE_MIN,
  H_NODE_WIDTH,
  H_NODES,
  H_ORDINAL_WIDTH,
  H_ROWS,
  H_TIME_MAX,
  H_TIME_MIN,
  H_TIME_WIDTH,
  K_BLOCKS,
  K_FILTER,
  K_IDS,
  K_MEMBERS,
  K_NODES,
  K_POSTING_OFFSETS,
  K_POSTINGS,
  K_ROLES,
  K_SIZES,
  K_TIMES,
  packed,
  S_BASE,
  S_BLOCKS,
  S_BYTES,
  S_FILTER,
  S_FILTER_BYTES,
  S_ID_MIN,
  S_ID_WIDTH,
  S_IDS,
  S_MEMBERS,
  S_NODE_IDS,
  S_NODE_MIN,
  S_NODE_WIDTH,
  S_NODES,
  S_ORDINAL_WIDTH,
  S_POSTING_OFFSETS,
  S_POSTINGS,
  S_ROLES,
  S_ROWS,
  S_SCRATCH,
  S_SIZES,
  S_TIME_MAX,
  S_TIME_MIN,
  S_TIME_WIDTH,
  S_TIMES,
  sectionOf,
} from './layout';

/**
 * Opens the checked file at `base`; returns its handle, or 0 if out of memory. The bytes of the
 * file must not be moved afterwards.
 */
export function openSegment(base: usize): usize {
  const s = alloc(S_BYTES);
  const scratch = alloc(bytesOf<u64>(255));
  if (!s || !scratch) return 0;
  store<u32>(s + S_BASE, <u32>base);
  store<u32>(s + S_ROWS, load<u32>(base + H_ROWS));
  store<u32>(s + S_NODES, load<u32>(base + H_NODES));
  store<u32>(s + S_TIME_WIDTH, load<u8>(base + H_TIME_WIDTH));
  store<u32>(s + S_ID_WIDTH, load<u8>(base + H_ID_WIDTH));
  store<u32>(s + S_ORDINAL_WIDTH, load<u8>(base + H_ORDINAL_WIDTH));
  store<u32>(s + S_NODE_WIDTH, load<u8>(base + H_NODE_WIDTH));
  store<u32>(s + S_BLOCKS, <u32>sectionOf(base, K_BLOCKS));
  store<u32>(s + S_TIMES, <u32>sectionOf(base, K_TIMES));
  store<u32>(s + S_IDS, <u32>sectionOf(base, K_IDS));
  store<u32>(s + S_SIZES, <u32>sectionOf(base, K_SIZES));
  store<u32>(s + S_MEMBERS, <u32>sectionOf(base, K_MEMBERS));
  store<u32>(s + S_NODE_IDS, <u32>sectionOf(base, K_NODES));
  store<u32>(s + S_POSTING_OFFSETS, <u32>sectionOf(base, K_POSTING_OFFSETS));
  store<u32>(s + S_POSTINGS, <u32>sectionOf(base, K_POSTINGS));
  store<u32>(s + S_FILTER, <u32>sectionOf(base, K_FILTER));
  store<u32>(s + S_FILTER_BYTES, load<u32>(findEntry(base, K_FILTER, 0) + E_BYTES));
  store<u32>(s + S_SCRATCH, <u32>scratch);
  store<i64>(s + S_TIME_MIN, load<i64>(base + H_TIME_MIN));
  store<i64>(s + S_TIME_MAX, load<i64>(base + H_TIME_MAX));
  store<i64>(s + S_ID_MIN, load<i64>(base + H_ID_MIN));
  store<i64>(s + S_NODE_MIN, load<i64>(base + H_NODE_MIN));
  store<u32>(s + S_ROLES, <u32>sectionOf(base, K_ROLES));
  return s;
}

export function rowTime(s: usize, row: u32): i64 {
  if (!ASC_NO_ASSERT) assert(row < load<u32>(s + S_ROWS), 'a row is one of the segment');
  return load<i64>(s + S_TIME_MIN) + <i64>packed(load<u32>(s + S_TIMES), load<u32>(s + S_TIME_WIDTH), row);
}

export function rowId(s: usize, row: u32): i64 {
  if (!ASC_NO_ASSERT) assert(row < load<u32>(s + S_ROWS), 'a row is one of the segment');
  const width = load<u32>(s + S_ID_WIDTH);
  const least = load<i64>(s + S_ID_MIN);
  if (!width) return least + <i64>row;
  return least + <i64>packed(load<u32>(s + S_IDS), width, row);
}

export function rowSize(s: usize, row: u32): u32 {
  if (!ASC_NO_ASSERT) assert(row < load<u32>(s + S_ROWS), 'a row is one of the segment');
  return load<u8>(<usize>load<u32>(s + S_SIZES) + row);
}

/** Returns the sum of the 8 bytes of a word. */
function sumBytes(word: u64): u32 {
  const pairs = (word & 0x00ff00ff00ff00ff) + ((word >> 8) & 0x00ff00ff00ff00ff);
  return <u32>((pairs * 0x0001000100010001) >> 48);
}

/**
 * Returns the number of incidences before `row`: the count in the directory entry of the row's
 * block, plus the sizes of the rows before `row` in the block.
 */
export function firstIncidence(s: usize, row: u32): u32 {
  const block = row >> 6;
  let sum = load<u32>(element(load<u32>(s + S_BLOCKS), block, BLOCK_BYTES));
  let at = <usize>load<u32>(s + S_SIZES) + ((<usize>block) << 6);
  let left = row & 63;
  while (left >= 8) {
    sum += sumBytes(load<u64>(at));
    at += 8;
    left -= 8;
  }
  if (left) sum += sumBytes(load<u64>(at) & (((<u64>1) << (left * 8)) - 1));
  return sum;
}

/** Returns the node ordinal of incidence `index`. */
export function memberOrdinal(s: usize, index: u32): u32 {
  const members = <usize>load<u32>(s + S_MEMBERS);
  return load<u32>(s + S_ORDINAL_WIDTH) == 2 ? <u32>get<u16>(members, index) : get<u32>(members, index);
}

export function nodeId(s: usize, ordinal: u32): i64 {
  if (!ASC_NO_ASSERT) assert(ordinal < load<u32>(s + S_NODES), 'an ordinal is one of the dictionary');
  return load<i64>(s + S_NODE_MIN) + <i64>packed(load<u32>(s + S_NODE_IDS), load<u32>(s + S_NODE_WIDTH), ordinal);
}

/** Writes the members of `row` as ascending i64 at `out`; returns their number. */
export function rowMembers(s: usize, row: u32, out: usize): u32 {
  const first = firstIncidence(s, row);
  const n = rowSize(s, row);
  for (let i: u32 = 0; i < n; i++) put<i64>(out, i, nodeId(s, memberOrdinal(s, first + i)));
  return n;
}
