// Computes the extra overlap (zhou.ts) for pairs of edges that share more than one node. Each pair
// is handled once, at its first edge.
//
// For an edge f, every node u gets two bit masks over the members of f. near(u) marks the members
// that are adjacent to u; it is empty if u is itself a member. own(u) marks u if u is a member. Let
// e be another edge. The OR of own(u) over the nodes u of e marks the common nodes of e and f. The
// OR of near(u) over the nodes u of e, without the common nodes, marks the nodes that only f has
// and that are adjacent to a node that only e has. A node u of e counts likewise if near(u)
// contains a node that only f has. A mask is one word, or four words if f has more than 64 members.

import { bytesOf, cell, get, put } from '../memory/cells';
import {
  bitsAt,
  CURSORS,
  EDGE_NODES,
  EDGE_STARTS,
  LIST,
  MASKS,
  MATRIX,
  MET,
  membersOf,
  NEIGHBOURS,
  NODE_EDGES,
  NODE_STARTS,
  ROW_WORDS,
  STARTS,
  SUMS,
  sizeOf,
} from './zhou';

const onlyFirst: usize = memory.data(256 * 4, 16);
const onlySecond: usize = memory.data(256 * 4, 16);
const common: usize = memory.data(256 * 4, 16);
const hits: usize = memory.data(256, 16);

/**
 * The low 8 bits of a mark in `MET` contain the number of members shared with an edge f. The other
 * bits identify f: they are f modulo MARKS, plus 1.
 */
const MARKS: u32 = 0xffffff;
/**
 * NARROW and WIDE: base-2 logarithm of the size in bytes of a node's two masks, of one and of four
 * words each. near(u) is the first half, own(u) the second.
 */
const NARROW: usize = 4;
const WIDE: usize = 6;

/**
 * Handles the edges f from `from` on: for every later edge that shares more than one node with f,
 * adds the extra overlap to each node that they share. Stops once about `most` incidences have been
 * examined; returns the edge to continue from. Begin with 0, then continue where the previous call
 * stopped.
 */
export function zhouPairs(block: usize, m: u32, from: u32, most: u32): u32 {
  let f = from;
  for (let seen: u32 = 0; f < m && seen < most; f++) {
    const mark = (f % MARKS) + 1;
    // Marks repeat after MARKS edges, so the old ones are cleared.
    if (mark == 1 && f != 0) memory.fill(<usize>load<u32>(block, MET), 0, bytesOf<u32>(m));
    const size = sizeOf(block, f);
    // If f has two nodes, an edge that shares both contains f, and there is no extra overlap.
    const met = size < 3 ? pass(block, f) : meet(block, f, mark);
    seen += size + met * 8;
    if (met == 0) continue;
    seen += laterEdges(block, f);
    const count = dropNested(block, size, met);
    // Setting the masks takes one step per arc of f's members, and so does clearing them. Without
    // masks, each pair of edges takes one test for each pair of nodes.
    if (arcsOf(block, f) > <u64>count * size * size) oneByOne(block, f, count);
    else if (size <= 64) byMasks(block, f, size, count);
    else byWideMasks(block, f, size, count);
    seen += (count * size) >>> 1;
  }
  return f;
}

/** Moves the cursors of f's members past f. */
function pass(block: usize, f: u32): u32 {
  const members = membersOf(block, f);
  const end = cell<u32>(members, sizeOf(block, f));
  const cursors = <usize>load<u32>(block, CURSORS);
  for (let at = members; at < end; at += 4) {
    const cursor = cell<u32>(cursors, load<u32>(at));
    store<u32>(cursor, load<u32>(cursor) + 1);
  }
  return 0;
}

/** Returns the number of incidences that `meet` examined for f. */
function laterEdges(block: usize, f: u32): u32 {
  const members = membersOf(block, f);
  const end = cell<u32>(members, sizeOf(block, f));
  const cursors = <usize>load<u32>(block, CURSORS);
  const nodeStarts = <usize>load<u32>(block, NODE_STARTS);
  let sum: u32 = 0;
  for (let at = members; at < end; at += 4) {
    const u = load<u32>(at);
    sum += get<u32>(nodeStarts, u + 1) - get<u32>(cursors, u);
  }
  return sum;
}

/**
 * Lists the edges after f that share at least two members with f; returns the length of the list.
 * The marks contain the numbers of shared members. Edges are processed in ascending order, so the
 * cursor of each member is at f.
 */
function meet(block: usize, f: u32, mark: u32): u32 {
  const members = membersOf(block, f);
  const end = cell<u32>(members, sizeOf(block, f));
  const cursors = <usize>load<u32>(block, CURSORS);
  const nodeStarts = <usize>load<u32>(block, NODE_STARTS);
  const nodeEdges = <usize>load<u32>(block, NODE_EDGES);
  const met = <usize>load<u32>(block, MET);
  const list = <usize>load<u32>(block, LIST);
  const none = mark << 8;
  let count: u32 = 0;
  for (let at = members; at < end; at += 4) {
    const u = load<u32>(at);
    const next = get<u32>(cursors, u) + 1;
    put<u32>(cursors, u, next);
    const last = cell<u32>(nodeEdges, get<u32>(nodeStarts, u + 1));
    for (let other = cell<u32>(nodeEdges, next); other < last; other += 4) {
      const e = load<u32>(other);
      const place = cell<u32>(met, e);
      const before = load<u32>(place);
      const now = select<u32>(before, none, before >>> 8 == mark) + 1;
      store<u32>(place, now);
      put<u32>(list, count, e);
      count += u32(now == none + 2);
    }
  }
  return count;
}

function sharedOf(block: usize, e: u32): u32 {
  return get<u32>(load<u32>(block, MET), e) & 255;
}

/**
 * Keeps the edges that neither contain f nor are contained in f. The dropped edges have no extra
 * overlap with f.
 */
function dropNested(block: usize, size: u32, count: u32): u32 {
  const list = <usize>load<u32>(block, LIST);
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const e = get<u32>(list, i);
    const both = sharedOf(block, e);
    put<u32>(list, kept, e);
    kept += u32(both < size) & u32(both < sizeOf(block, e));
  }
  return kept;
}

/** Returns the number of arcs of f's members. */
function arcsOf(block: usize, f: u32): u64 {
  const members = membersOf(block, f);
  const end = cell<u32>(members, sizeOf(block, f));
  const starts = <usize>load<u32>(block, STARTS);
  let sum: u64 = 0;
  for (let at = members; at < end; at += 4) {
    const u = load<u32>(at);
    sum += get<u32>(starts, u + 1) - get<u32>(starts, u);
  }
  return sum;
}

function byMasks(block: usize, f: u32, size: u32, count: u32): void {
  const list = <usize>load<u32>(block, LIST);
  const edgeStarts = <usize>load<u32>(block, EDGE_STARTS);
  const edgeNodes = <usize>load<u32>(block, EDGE_NODES);
  const masks = <usize>load<u32>(block, MASKS);
  const sums = <usize>load<u32>(block, SUMS);
  const members = membersOf(block, f);
  setMasks(block, members, size, NARROW);
  for (let i: u32 = 0; i < count; i++) {
    const e = get<u32>(list, i);
    const begin = get<u32>(edgeStarts, e);
    const until = get<u32>(edgeStarts, e + 1);
    const first = cell<u32>(edgeNodes, begin);
    const last = cell<u32>(edgeNodes, until);
    let near: u64 = 0;
    let inside: u64 = 0;
    if (ASC_FEATURE_SIMD) {
      let both = i64x2.splat(0);
      for (let at = first; at < last; at += 4) both = v128.or(both, v128.load(masks + ((<usize>load<u32>(at)) << 4)));
      near = i64x2.extract_lane(both, 0);
      inside = i64x2.extract_lane(both, 1);
    } else {
      for (let at = first; at < last; at += 4) {
        const mask = masks + ((<usize>load<u32>(at)) << 4);
        near |= load<u64>(mask);
        inside |= load<u64>(mask, 8);
      }
    }
    const outside = ~inside;
    near &= outside;
    if (near == 0) continue;
    let found = <u32>popcnt(near);
    for (let at = first; at < last; at += 4)
      found += u32((load<u64>(masks + ((<usize>load<u32>(at)) << 4)) & outside) != 0);
    const overlap = <f64>found / <f64>(size + until - begin - 2 * <u32>popcnt(inside));
    for (; inside != 0; inside &= inside - 1) {
      const place = cell<u64>(sums, get<u32>(members, <u32>ctz(inside)));
      store<f64>(place, load<f64>(place) + overlap);
    }
  }
  clearMasks(block, members, size, NARROW);
}

/** Same as `byMasks` with masks of four words, for up to 256 members. */
function byWideMasks(block: usize, f: u32, size: u32, count: u32): void {
  const list = <usize>load<u32>(block, LIST);
  const masks = <usize>load<u32>(block, MASKS);
  const sums = <usize>load<u32>(block, SUMS);
  const members = membersOf(block, f);
  setMasks(block, members, size, WIDE);
  for (let i: u32 = 0; i < count; i++) {
    const e = get<u32>(list, i);
    const first = membersOf(block, e);
    const last = cell<u32>(first, sizeOf(block, e));
    const both = sharedOf(block, e);
    const found = countWide(masks, first, last);
    if (found == 0) continue;
    const overlap = <f64>found / <f64>(size + sizeOf(block, e) - 2 * both);
    for (let at = first; at < last; at += 4) {
      const u = <usize>load<u32>(at);
      const own = masks + (u << WIDE) + 32;
      if ((load<u64>(own) | load<u64>(own, 8) | load<u64>(own, 16) | load<u64>(own, 24)) == 0) continue;
      put<f64>(sums, u, get<f64>(sums, u) + overlap);
    }
  }
  clearMasks(block, members, size, WIDE);
}

/**
 * Counts the nodes that only one of the two edges contains and that are adjacent to a node that
 * only the other contains.
 */
function countWide(masks: usize, first: usize, last: usize): u32 {
  let near0: u64 = 0;
  let near1: u64 = 0;
  let near2: u64 = 0;
  let near3: u64 = 0;
  let out0: u64 = -1;
  let out1: u64 = -1;
  let out2: u64 = -1;
  let out3: u64 = -1;
  for (let at = first; at < last; at += 4) {
    const mask = masks + ((<usize>load<u32>(at)) << WIDE);
    near0 |= load<u64>(mask);
    near1 |= load<u64>(mask, 8);
    near2 |= load<u64>(mask, 16);
    near3 |= load<u64>(mask, 24);
    out0 &= ~load<u64>(mask, 32);
    out1 &= ~load<u64>(mask, 40);
    out2 &= ~load<u64>(mask, 48);
    out3 &= ~load<u64>(mask, 56);
  }
  let found = <u32>(popcnt(near0 & out0) + popcnt(near1 & out1) + popcnt(near2 & out2) + popcnt(near3 & out3));
  if (found == 0) return 0;
  for (let at = first; at < last; at += 4) {
    const mask = masks + ((<usize>load<u32>(at)) << WIDE);
    const low = (load<u64>(mask) & out0) | (load<u64>(mask, 8) & out1);
    const high = (load<u64>(mask, 16) & out2) | (load<u64>(mask, 24) & out3);
    found += u32((low | high) != 0);
  }
  return found;
}

/**
 * Sets both masks of the nodes: near(u) for the neighbours of f's members, own(u) for the members.
 * `width`: NARROW or WIDE.
 */
function setMasks(block: usize, members: usize, size: u32, width: usize): void {
  const starts = <usize>load<u32>(block, STARTS);
  const neighbours = <usize>load<u32>(block, NEIGHBOURS);
  const masks = <usize>load<u32>(block, MASKS);
  const half = (<usize>1) << (width - 1);
  for (let k: u32 = 0; k < size; k++) {
    const w = get<u32>(members, k);
    const bit = (<u64>1) << (<u64>(k & 63));
    const word = cell<u64>(masks, k >>> 6);
    const end = cell<u32>(neighbours, get<u32>(starts, w + 1));
    for (let arc = cell<u32>(neighbours, get<u32>(starts, w)); arc < end; arc += 4) {
      const mask = word + ((<usize>load<u32>(arc)) << width);
      store<u64>(mask, load<u64>(mask) | bit);
    }
  }
  for (let k: u32 = 0; k < size; k++) {
    const mask = masks + ((<usize>get<u32>(members, k)) << width);
    for (let at: usize = 0; at < half; at += 8) store<u64>(mask + at, 0);
    put<u64>(mask + half, k >>> 6, (<u64>1) << (<u64>(k & 63)));
  }
}

function clearMasks(block: usize, members: usize, size: u32, width: usize): void {
  const starts = <usize>load<u32>(block, STARTS);
  const neighbours = <usize>load<u32>(block, NEIGHBOURS);
  const masks = <usize>load<u32>(block, MASKS);
  const half = (<usize>1) << (width - 1);
  for (let k: u32 = 0; k < size; k++) {
    const w = get<u32>(members, k);
    const word = cell<u64>(masks, k >>> 6);
    for (let at = half; at < 2 * half; at += 8) store<u64>(masks + ((<usize>w) << width) + at, 0);
    const end = cell<u32>(neighbours, get<u32>(starts, w + 1));
    for (let arc = cell<u32>(neighbours, get<u32>(starts, w)); arc < end; arc += 4)
      store<u64>(word + ((<usize>load<u32>(arc)) << width), 0);
  }
}

function bitOf(row: usize, w: u32): u64 {
  return (get<u64>(row, w >>> 6) >>> <u64>(w & 63)) & 1;
}

/** Handles the pairs of f without masks, which is cheaper for few pairs. */
function oneByOne(block: usize, f: u32, count: u32): void {
  const list = <usize>load<u32>(block, LIST);
  for (let i: u32 = 0; i < count; i++) ofPair(block, f, get<u32>(list, i));
}

/** Adds the extra overlap of two edges to all nodes that they share. */
function ofPair(block: usize, e: u32, f: u32): void {
  let a = membersOf(block, e);
  let b = membersOf(block, f);
  const aEnd = cell<u32>(a, sizeOf(block, e));
  const bEnd = cell<u32>(b, sizeOf(block, f));
  let first: u32 = 0;
  let second: u32 = 0;
  let both: u32 = 0;
  while (a < aEnd && b < bEnd) {
    const u = load<u32>(a);
    const w = load<u32>(b);
    if (u == w) {
      put<u32>(common, both++, u);
      a += 4;
      b += 4;
    } else if (u < w) {
      put<u32>(onlyFirst, first++, u);
      a += 4;
    } else {
      put<u32>(onlySecond, second++, w);
      b += 4;
    }
  }
  for (; a < aEnd; a += 4) put<u32>(onlyFirst, first++, load<u32>(a));
  for (; b < bEnd; b += 4) put<u32>(onlySecond, second++, load<u32>(b));
  const found = countAdjacent(block, first, second);
  if (found == 0) return;
  const overlap = <f64>found / <f64>(first + second);
  const sums = <usize>load<u32>(block, SUMS);
  for (let i: u32 = 0; i < both; i++) {
    const place = cell<u64>(sums, get<u32>(common, i));
    store<f64>(place, load<f64>(place) + overlap);
  }
}

/**
 * Counts the nodes in `onlyFirst` and `onlySecond` that are adjacent to a node in the other list.
 */
function countAdjacent(block: usize, first: u32, second: u32): u32 {
  const matrix = <usize>load<u32>(block, MATRIX);
  const rowWords = load<u32>(block, ROW_WORDS);
  memory.fill(hits, 0, second);
  let found: u32 = 0;
  for (let i: u32 = 0; i < first; i++) {
    const u = get<u32>(onlyFirst, i);
    const row = bitsAt(matrix, u, rowWords);
    let some: u32 = 0;
    for (let j: u32 = 0; j < second; j++) {
      const w = get<u32>(onlySecond, j);
      const adjacent = matrix == 0 ? isAdjacent(block, u, w) : <u32>bitOf(row, w);
      some |= adjacent;
      store<u8>(hits + j, load<u8>(hits + j) | <u8>adjacent);
    }
    found += some;
  }
  for (let j: u32 = 0; j < second; j++) found += load<u8>(hits + j);
  return found;
}

function isAdjacent(block: usize, u: u32, w: u32): u32 {
  const starts = <usize>load<u32>(block, STARTS);
  const neighbours = <usize>load<u32>(block, NEIGHBOURS);
  let low = get<u32>(starts, u);
  const end = get<u32>(starts, u + 1);
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (get<u32>(neighbours, middle) < w) low = middle + 1;
    else high = middle;
  }
  return u32(low < end && get<u32>(neighbours, low) == w);
}
