// Looks up rows by node in a segment (FMI): searches the dictionary and intersects the posting
// lists of k nodes.

import { toInteger } from '../codec/record';
import { after, cell, get, put } from '../memory/cells';
import {
  packed,
  S_NODE_IDS,
  S_NODE_MIN,
  S_NODE_WIDTH,
  S_NODES,
  S_POSTING_OFFSETS,
  S_POSTINGS,
  S_ROWS,
} from '../segment/layout';
import { BAD_ARGUMENT, setRows } from '../status';
import { intersect16, lowerBound16, widen16 } from './sets';

/** Maximum number of nodes in one lookup. */
export const MAX_LOOKUP_NODES: u32 = 255;

const lists: usize = memory.data(255 * 8, 16);

/** Returns the ordinal of a node in the dictionary, or -1. */
export function findNode(s: usize, node: i64): i32 {
  const least = load<i64>(s + S_NODE_MIN);
  if (node < least) return -1;
  const target = <u64>(node - least);
  const ids = <usize>load<u32>(s + S_NODE_IDS);
  const width = load<u32>(s + S_NODE_WIDTH);
  let base: u32 = 0;
  let length = load<u32>(s + S_NODES);
  if (width == 4) {
    if (target > 0xffffffff) return -1;
    const wanted = <u32>target;
    while (length > 1) {
      const half = length >> 1;
      base += select<u32>(half, 0, get<u32>(ids, base + half) <= wanted);
      length -= half;
    }
    return get<u32>(ids, base) == wanted ? <i32>base : -1;
  }
  while (length > 1) {
    const half = length >> 1;
    base += select<u32>(half, 0, packed(ids, width, base + half) <= target);
    length -= half;
  }
  return packed(ids, width, base) == target ? <i32>base : -1;
}

/**
 * Fills `lists` with one {address, length} per node: the part of the node's postings that is in
 * rows [from, to). Shorter parts come first. Returns false if one of these parts is empty.
 */
function gatherLists(s: usize, nodes: usize, k: u32, from: u32, to: u32): bool {
  const offsets = <usize>load<u32>(s + S_POSTING_OFFSETS);
  const postings = <usize>load<u32>(s + S_POSTINGS);
  for (let i: u32 = 0; i < k; i++) {
    const node = toInteger(get<f64>(nodes, i));
    const ordinal = findNode(s, node);
    if (ordinal < 0) return false;
    let start = get<u32>(offsets, ordinal);
    const end = after<u32>(offsets, ordinal);
    if (!ASC_NO_ASSERT) assert(start < end, 'a posting list is not empty, and offsets ascend');
    if (from) start += lowerBound16(cell<u16>(postings, start), end - start, from);
    const length = to < 65536 ? lowerBound16(cell<u16>(postings, start), end - start, to) : end - start;
    if (!length) return false;
    let j = i;
    while (j > 0 && load<u32>(cell<u64>(lists, j - 1) + 4) > length) {
      put<u64>(lists, j, get<u64>(lists, j - 1));
      j--;
    }
    store<u32>(cell<u64>(lists, j), <u32>cell<u16>(postings, start));
    store<u32>(cell<u64>(lists, j) + 4, length);
  }
  return true;
}

/** Widens n u16 at `ptr` to u32 in place, from the last to the first. */
function widenInPlace(ptr: usize, n: u32): void {
  for (let i = n; i > 0; i--) put<u32>(ptr, i - 1, <u32>get<u16>(ptr, i - 1));
}

/**
 * Writes the rows in [from, to) that contain all k nodes (f64[k]), ascending, as u32 at `out`,
 * which has space for `capacity` entries and HG_ROWS_SLACK_BYTES more. Returns the number of rows
 * written; `hg_result_rows` returns the row to continue from (`to` if all were written).
 */
export function lookupRows(s: usize, nodes: usize, k: u32, from: u32, to: u32, out: usize, capacity: u32): i32 {
  if (!k || k > MAX_LOOKUP_NODES || !capacity) return BAD_ARGUMENT;
  setRows(to);
  if (from >= to || !gatherLists(s, nodes, k, from, to)) return 0;
  const first = <usize>load<u32>(lists);
  let shortest = load<u32>(lists + 4);
  if (shortest > capacity) {
    setRows(get<u16>(first, capacity));
    shortest = capacity;
  }
  if (k == 1) {
    widen16(first, shortest, out);
    return <i32>shortest;
  }
  let count = intersect16(first, shortest, load<u32>(lists + 8), load<u32>(lists + 12), out);
  for (let i: u32 = 2; i < k && count; i++) {
    count = intersect16(out, count, load<u32>(cell<u64>(lists, i)), load<u32>(cell<u64>(lists, i) + 4), out);
  }
  if (!ASC_NO_ASSERT)
    assert(count <= shortest && shortest <= capacity, 'no more rows are found than the shortest list contains');
  widenInPlace(out, count);
  return <i32>count;
}

/** Returns the value at `index` of the node dictionary, whose width is 4 or another one. */
function idAt(ids: usize, width: u32, index: u32): u64 {
  return width == 4 ? <u64>get<u32>(ids, index) : packed(ids, width, index);
}

/**
 * Returns the first index from `base` on, below `count`, whose value is not below `target`; `count`
 * if there is none. Takes steps of doubling length, then searches the last step: the nodes of one
 * call ascend, so the next one is usually near.
 */
function leapToNode(ids: usize, width: u32, base: u32, count: u32, target: u64): u32 {
  let step: u32 = 1;
  while (base + step < count && idAt(ids, width, base + step) < target) {
    base += step;
    step <<= 1;
  }
  let length = min(step + 1, count - base);
  while (length > 0) {
    const half = length >> 1;
    if (idAt(ids, width, base + half) < target) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}

/**
 * For each of n nodes (f64[n], strictly ascending), adds the number of rows in [from, to) that
 * contain it to the count (u32[n]) at the same index. Returns n, or BAD_ARGUMENT if the nodes do
 * not ascend; counts before that node are then added.
 */
export function countEach(s: usize, nodes: usize, n: u32, from: u32, to: u32, counts: usize): i32 {
  const ids = <usize>load<u32>(s + S_NODE_IDS);
  const width = load<u32>(s + S_NODE_WIDTH);
  const known = load<u32>(s + S_NODES);
  const least = load<i64>(s + S_NODE_MIN);
  const offsets = <usize>load<u32>(s + S_POSTING_OFFSETS);
  const postings = <usize>load<u32>(s + S_POSTINGS);
  const isWhole = from == 0 && to >= load<u32>(s + S_ROWS);
  let at: u32 = 0;
  let before = i64.MIN_VALUE;
  for (let i: u32 = 0; i < n; i++) {
    const node = toInteger(get<f64>(nodes, i));
    // A value that is no integer is the least one, so it does not ascend either.
    if (node <= before) return BAD_ARGUMENT;
    before = node;
    if (node < least || at == known || from >= to) continue;
    const target = <u64>(node - least);
    at = leapToNode(ids, width, at, known, target);
    if (at == known || idAt(ids, width, at) != target) continue;
    const start = get<u32>(offsets, at);
    const length = after<u32>(offsets, at) - start;
    put<u32>(
      counts,
      i,
      get<u32>(counts, i) + (isWhole ? length : rowsBetween(cell<u16>(postings, start), length, from, to)),
    );
  }
  return <i32>n;
}

/**
 * For each node of the dictionary from `least` on and below `least + n`, adds the number of rows in
 * [from, to) that contain it to the count (u32[n]) at index node - least. Reads the dictionary in
 * order, so for many nodes it is faster than `countEach`. Returns the number of nodes found, or
 * BAD_ARGUMENT if `least` is not an integer.
 */
export function tallyNodes(s: usize, least: f64, n: u32, from: u32, to: u32, counts: usize): i32 {
  const first = toInteger(least);
  if (first == i64.MIN_VALUE) return BAD_ARGUMENT;
  const ids = <usize>load<u32>(s + S_NODE_IDS);
  const width = load<u32>(s + S_NODE_WIDTH);
  const known = load<u32>(s + S_NODES);
  const offsets = <usize>load<u32>(s + S_POSTING_OFFSETS);
  const postings = <usize>load<u32>(s + S_POSTINGS);
  const isWhole = from == 0 && to >= load<u32>(s + S_ROWS);
  // The dictionary contains distances from its own least node.
  const shift = first - load<i64>(s + S_NODE_MIN);
  const end = shift + <i64>n;
  if (from >= to || end <= 0) return 0;
  const begin = shift > 0 ? leapToNode(ids, width, 0, known, <u64>shift) : 0;
  let at = begin;
  for (; at < known; at++) {
    const id = <i64>idAt(ids, width, at);
    if (id >= end) break;
    const start = get<u32>(offsets, at);
    const length = after<u32>(offsets, at) - start;
    const rows = isWhole ? length : rowsBetween(cell<u16>(postings, start), length, from, to);
    const index = <u32>(id - shift);
    put<u32>(counts, index, get<u32>(counts, index) + rows);
  }
  return <i32>(at - begin);
}

function rowsBetween(rows: usize, length: u32, from: u32, to: u32): u32 {
  const end = to < 65536 ? lowerBound16(rows, length, to) : length;
  return end - lowerBound16(rows, length, from);
}

/** Returns the number of rows in [from, to) that contain a node. */
export function countRows(s: usize, node: f64, from: u32, to: u32): u32 {
  const at = memory.data(8, 16);
  store<f64>(at, node);
  if (from >= to || !gatherLists(s, at, 1, from, to)) return 0;
  return load<u32>(lists + 4);
}
