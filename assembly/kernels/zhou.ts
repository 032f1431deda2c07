// Computes the clustering of nodes by the extra overlap of their edges (Zhou and Nakhleh 2011),
// with sets of edges as bits.
//
// Two nodes are adjacent if an edge contains both. For two edges e and f, let E be the nodes that
// only e contains, and F the nodes that only f contains. A node of E counts if it is adjacent to a
// node of F, and a node of F counts if it is adjacent to a node of E. The extra overlap of e and f
// is the number of nodes that count, divided by |E| + |F|. The coefficient of a node v is the mean
// of the extra overlap over all pairs of edges that contain v.
//
// This file handles the pairs {e, f} that share only v. For such a pair, |E| + |F| = |e| + |f| - 2;
// call this number s. Each node that counts adds 1 / s to the extra overlap. The edges of v are
// sorted by size, and a set of them has one bit per edge, in this order. Let f be an edge of v, and
// u a node of f other than v. The edges e for which u counts in the pair {e, f} are reach(u)
// without shared(f):
//
// - reach(u) is the set of v's edges that contain a node, other than v, adjacent to u;
// - shared(f) is the set of v's edges that share a node besides v with f.
//
// A word of 64 edges is cut into pieces of edges of equal size, for which s is the same. In a
// piece, the sum takes one popcount per node u, and one division. The loop over f takes every edge
// of v, so the nodes of e are counted when e takes the place of f. zhou-pairs.ts handles the pairs
// of edges that share several nodes.
//
// Example: e = {v, a}, f = {v, b}, and there is an edge {a, b}. a and b are adjacent, so both nodes
// count, and the extra overlap is 2 / (2 + 2 - 2) = 1.

import { bytesOf, cell, element, get, put } from '../memory/cells';

/**
 * Offsets of the fields of a block. Each field is a u32: the address of an array, or a number. The
 * first four fields are the incidence in both directions: the nodes of each edge, then the edges of
 * each node.
 */
export const EDGE_STARTS: usize = 0;
export const EDGE_NODES: usize = 4;
export const NODE_STARTS: usize = 8;
export const NODE_EDGES: usize = 12;
/** STARTS and NEIGHBOURS are the co-member graph: the arcs of each node, and where they lead. */
export const STARTS: usize = 16;
export const NEIGHBOURS: usize = 20;
/**
 * The adjacency matrix of the co-member graph as bits, u64[n][w], where w is the value of the field
 * ROW_WORDS. If the address is 0, there is no matrix, and NEIGHBOURS is read instead.
 */
export const MATRIX: usize = 24;
export const ROW_WORDS: usize = 28;
/** f64[n]: for each node, the sum of the extra overlap over the pairs of its edges. */
export const SUMS: usize = 32;
/** u32[n]: numbers of the neighbours of the current node, from 1 on; zero between calls. */
const LOCAL: usize = 36;
/** u32[maximum degree]: the edges of the current node, sorted by size. */
const ORDERED: usize = 40;
/** A buffer for rows of bits, and its size in bytes. */
const BITS: usize = 44;
const BITS_BYTES: usize = 48;
/**
 * CURSORS and the fields after it are used only by zhou-pairs.ts. CURSORS is u32[n], at first a
 * copy of NODE_STARTS: for each node, the place in NODE_EDGES of its first edge that is not yet
 * processed.
 */
export const CURSORS: usize = 52;
/**
 * u32[m], zero at first: a mark for each edge. Its low 8 bits are the number of nodes that the edge
 * shares with an edge f; the other bits identify f.
 */
export const MET: usize = 56;
/** u32[m + 1]: the later edges that share more than one node with the current edge. */
export const LIST: usize = 60;
/**
 * For each node u, the two masks near(u) and own(u) (zhou-pairs.ts): 16 bytes in all, or 64 bytes
 * if any edge has more than 64 members. Zero between calls.
 */
export const MASKS: usize = 64;
export const ZHOU_BLOCK_BYTES: u32 = 68;

const MOST_WORDS: u32 = 64;
/** Pieces of words: {u32 word, u32 size, u64 mask of the edges in the word that have this size}. */
const pieces: usize = memory.data((64 + 256) * 16, 16);
const shared: usize = memory.data(64 * 8, 16);
const bins: usize = memory.data(257 * 4, 16);
/**
 * For each member of the current edge except the current node: the offset in bytes (u32) of its row
 * of bits.
 */
const rows: usize = memory.data(256 * 4, 16);

export function bitsAt(base: usize, row: u32, words: u32): usize {
  return cell<u64>(base, <usize>row * words);
}

/**
 * Sets the adjacency bits of a graph in `matrix`, u64[n][rowWords], which the caller has zeroed.
 */
export function adjacencyBits(starts: usize, neighbours: usize, n: u32, matrix: usize, rowWords: u32): void {
  for (let v: u32 = 0; v < n; v++) {
    const row = bitsAt(matrix, v, rowWords);
    const end = get<u32>(starts, v + 1);
    for (let arc = get<u32>(starts, v); arc < end; arc++) {
      const w = get<u32>(neighbours, arc);
      const word = cell<u64>(row, w >>> 6);
      store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>(w & 63))));
    }
  }
}

/**
 * Adds to the sum of `v` the extra overlap of pairs of edges that share only v. In the order by
 * size, one call handles the pairs of every edge f of v with the edges e in a range that begins at
 * position `from`, and counts only nodes of f. Begin with 0, then continue from the position
 * returned, until it is the degree of v.
 */
export function zhouNode(block: usize, v: u32, from: u32): u32 {
  const nodeStarts = <usize>load<u32>(block, NODE_STARTS);
  const begin = get<u32>(nodeStarts, v);
  const degree = get<u32>(nodeStarts, v + 1) - begin;
  const graphStarts = <usize>load<u32>(block, STARTS);
  const near = get<u32>(graphStarts, v);
  const others = get<u32>(graphStarts, v + 1) - near;
  if (degree < 2 || others == 0) return degree;
  if (from == 0) orderBySize(block, begin, degree);
  const words = wordsFor(degree - from, others, load<u32>(block, BITS_BYTES));
  const to = min(degree, from + words * 64);
  numberNeighbours(block, near, others, 1);
  const holds = <usize>load<u32>(block, BITS);
  const reach = bitsAt(holds, others, words);
  fillHolds(block, v, from, to, holds, others, words);
  fillReach(block, v, near, others, holds, reach, words);
  const count = cutPieces(block, from, to);
  let sum: f64 = 0;
  for (let at: u32 = 0; at < degree; at++) sum += ofEdge(block, v, at, holds, reach, words, count);
  const place = cell<u64>(load<u32>(block, SUMS), v);
  store<f64>(place, load<f64>(place) + sum);
  numberNeighbours(block, near, others, 0);
  return to;
}

/**
 * Returns the number of words for a range of at most `edges` edges: no more than MOST_WORDS or than
 * fit in the buffer of `bytes` bytes, but at least one.
 */
function wordsFor(edges: u32, others: u32, bytes: u32): u32 {
  const wanted = min(MOST_WORDS, (edges + 63) >>> 6);
  return max(1, min(wanted, bytes / (others * 16)));
}

export function sizeOf(block: usize, e: u32): u32 {
  const starts = <usize>load<u32>(block, EDGE_STARTS);
  return get<u32>(starts, e + 1) - get<u32>(starts, e);
}

export function membersOf(block: usize, e: u32): usize {
  return cell<u32>(<usize>load<u32>(block, EDGE_NODES), get<u32>(load<u32>(block, EDGE_STARTS), e));
}

function orderBySize(block: usize, begin: u32, degree: u32): void {
  const edges = cell<u32>(<usize>load<u32>(block, NODE_EDGES), begin);
  const ordered = <usize>load<u32>(block, ORDERED);
  memory.fill(bins, 0, 257 * 4);
  for (let i: u32 = 0; i < degree; i++) {
    const bin = cell<u32>(bins, sizeOf(block, get<u32>(edges, i)) + 1);
    store<u32>(bin, load<u32>(bin) + 1);
  }
  for (let size: u32 = 1; size < 257; size++) put<u32>(bins, size, get<u32>(bins, size) + get<u32>(bins, size - 1));
  for (let i: u32 = 0; i < degree; i++) {
    const e = get<u32>(edges, i);
    const bin = cell<u32>(bins, sizeOf(block, e));
    const at = load<u32>(bin);
    store<u32>(bin, at + 1);
    put<u32>(ordered, at, e);
  }
}

/** Gives v's neighbours the numbers 1, 2, ... in `LOCAL`, or clears these numbers if `on` is 0. */
function numberNeighbours(block: usize, near: u32, others: u32, on: u32): void {
  const neighbours = cell<u32>(<usize>load<u32>(block, NEIGHBOURS), near);
  const local = <usize>load<u32>(block, LOCAL);
  for (let i: u32 = 0; i < others; i++) put<u32>(local, get<u32>(neighbours, i), on == 0 ? 0 : i + 1);
}

/** Fills holds[u] with the edges of the range that contain u. */
function fillHolds(block: usize, v: u32, from: u32, to: u32, holds: usize, others: u32, words: u32): void {
  const ordered = <usize>load<u32>(block, ORDERED);
  const local = <usize>load<u32>(block, LOCAL);
  memory.fill(holds, 0, bytesOf<u64>(<usize>others * words));
  for (let at = from; at < to; at++) {
    const e = get<u32>(ordered, at);
    const members = membersOf(block, e);
    const size = sizeOf(block, e);
    const offset = bytesOf<u64>((at - from) >>> 6);
    const bit = (<u64>1) << (<u64>((at - from) & 63));
    for (let k: u32 = 0; k < size; k++) {
      const u = get<u32>(members, k);
      if (u == v) continue;
      const word = bitsAt(holds, get<u32>(local, u) - 1, words) + offset;
      store<u64>(word, load<u64>(word) | bit);
    }
  }
}

/** Fills reach[u] with the edges of the range that contain a node, other than v, adjacent to u. */
function fillReach(block: usize, v: u32, near: u32, others: u32, holds: usize, reach: usize, words: u32): void {
  const neighbours = <usize>load<u32>(block, NEIGHBOURS);
  const bytes = bytesOf<u64>(words);
  memory.fill(reach, 0, <usize>others * bytes);
  for (let i: u32 = 0; i < others; i++) {
    const u = get<u32>(neighbours, near + i);
    const row = element(reach, i, bytes);
    if (load<u32>(block, MATRIX) != 0) reachByBits(block, v, u, holds, row, bytes);
    else reachByArcs(block, u, holds, row, bytes);
  }
}

function reachByBits(block: usize, v: u32, u: u32, holds: usize, row: usize, bytes: usize): void {
  const local = <usize>load<u32>(block, LOCAL);
  const matrix = <usize>load<u32>(block, MATRIX);
  const rowWords = load<u32>(block, ROW_WORDS);
  const ofV = bitsAt(matrix, v, rowWords);
  const ofU = bitsAt(matrix, u, rowWords);
  for (let word: u32 = 0; word < rowWords; word++) {
    const offset = bytesOf<u64>(word);
    let bits = load<u64>(ofU + offset) & load<u64>(ofV + offset);
    for (; bits != 0; bits &= bits - 1) {
      const w = (word << 6) + <u32>ctz(bits);
      join(row, holds + <usize>(get<u32>(local, w) - 1) * bytes, bytes);
    }
  }
}

function reachByArcs(block: usize, u: u32, holds: usize, row: usize, bytes: usize): void {
  const local = <usize>load<u32>(block, LOCAL);
  const starts = <usize>load<u32>(block, STARTS);
  const neighbours = <usize>load<u32>(block, NEIGHBOURS);
  const end = get<u32>(starts, u + 1);
  for (let arc = get<u32>(starts, u); arc < end; arc++) {
    const w = get<u32>(local, get<u32>(neighbours, arc));
    if (w != 0) join(row, holds + <usize>(w - 1) * bytes, bytes);
  }
}

/**
 * Splits the range into pieces at word boundaries and at changes of size; returns the number of
 * pieces.
 */
function cutPieces(block: usize, from: u32, to: u32): u32 {
  const ordered = <usize>load<u32>(block, ORDERED);
  let count: u32 = 0;
  let lastSize: u32 = 0;
  for (let at = from; at < to; at++) {
    const size = sizeOf(block, get<u32>(ordered, at));
    const place = at - from;
    if (size != lastSize || (place & 63) == 0) {
      const piece = pieces + ((<usize>count) << 4);
      store<u32>(piece, place >>> 6);
      store<u32>(piece, size, 4);
      store<u64>(piece, 0, 8);
      lastSize = size;
      count++;
    }
    const piece = pieces + ((<usize>(count - 1)) << 4);
    store<u64>(piece, load<u64>(piece, 8) | ((<u64>1) << (<u64>(place & 63))), 8);
  }
  return count;
}

/**
 * Handles the pairs of one edge f of v with the edges of the range that share only v with f.
 * Returns what the nodes of f add to the extra overlap of these pairs.
 */
function ofEdge(block: usize, v: u32, at: u32, holds: usize, reach: usize, words: u32, count: u32): f64 {
  const f = get<u32>(load<u32>(block, ORDERED), at);
  const members = membersOf(block, f);
  const size = sizeOf(block, f);
  const local = <usize>load<u32>(block, LOCAL);
  const bytes = bytesOf<u64>(words);
  memory.fill(shared, 0, bytes);
  let end = rows;
  for (let k: u32 = 0; k < size; k++) {
    const u = get<u32>(members, k);
    if (u == v) continue;
    const row = (get<u32>(local, u) - 1) * <u32>bytes;
    join(shared, holds + row, bytes);
    store<u32>(end, row);
    end += 4;
  }
  let sum: f64 = 0;
  for (let p: u32 = 0; p < count; p++) {
    const piece = pieces + ((<usize>p) << 4);
    const word = bytesOf<u64>(load<u32>(piece));
    const mask = load<u64>(piece, 8) & ~load<u64>(shared + word);
    if (mask == 0) continue;
    const base = reach + word;
    let found: u64 = 0;
    for (let row = rows; row < end; row += 4) found += popcnt(load<u64>(base + load<u32>(row)) & mask);
    if (found != 0) sum += <f64>found / <f64>(size + load<u32>(piece, 4) - 2);
  }
  return sum;
}

function join(to: usize, from: usize, bytes: usize): void {
  let i: usize = 0;
  if (ASC_FEATURE_SIMD) {
    for (; i + 16 <= bytes; i += 16) v128.store(to + i, v128.or(v128.load(to + i), v128.load(from + i)));
  }
  for (; i < bytes; i += 8) store<u64>(to + i, load<u64>(to + i) | load<u64>(from + i));
}
