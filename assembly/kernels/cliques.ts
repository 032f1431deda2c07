// Finds the largest clique by branch and bound, with greedy colouring on bit sets (Tomita and
// Kameda 2007; San Segundo et al. 2011). There is one search per vertex, among its later neighbours
// in a degeneracy order (Eppstein et al. 2010).
//
// A frame of the search stack holds the candidates: the vertices adjacent to all vertices chosen so
// far. Candidates are coloured greedily so that adjacent vertices have different colours. A clique
// has at most one vertex of each colour, so the candidates with colours 1 to c contain a clique of
// at most c vertices. Branches are tried from the highest colour down. As soon as the number of
// chosen vertices + the colour is at most the best size known, no remaining candidate of the frame
// can improve the result, and the frame is dropped. The candidates of a child frame are the
// parent's candidates AND the adjacency row of the chosen vertex, word by word.
//
// Example: if 3 vertices are chosen and the remaining candidates have colours 1 and 2, no clique of
// more than 5 vertices can be found in this frame. If a clique of 5 vertices is known already, the
// frame is dropped.
//
// The search of one vertex keeps its stack in the caller's scratch memory, so that it can stop
// after any branch and be resumed.

import { bytesOf, cell, get, put } from '../memory/cells';

/**
 * Header of a search, four u32: k, words per set, depth, and the offset of the top frame in the
 * stack. The adjacency matrix, three sets and the stack follow.
 */
const HEADER: usize = 16;

function matrixOf(search: usize): usize {
  return search + HEADER;
}

/** Returns the size in bytes of a new search among k vertices, without its stack. */
export function cliqueBytes(k: u32): u32 {
  const words = (k + 63) >>> 6;
  return <u32>HEADER + k * words * 8 + 3 * words * 8;
}

/**
 * Prepares the search among `candidates` u32[k]: writes the bit matrix of their adjacency, in the
 * given order. `marks` u32[n] is zero before and after the call. `search` has at least
 * `cliqueBytes(k)` bytes.
 */
export function beginClique(
  starts: usize,
  neighbours: usize,
  candidates: usize,
  k: u32,
  marks: usize,
  search: usize,
): void {
  const words = (k + 63) >>> 6;
  store<u32>(search, k);
  store<u32>(search, words, 4);
  store<u32>(search, 0, 8);
  const matrix = matrixOf(search);
  const rowBytes = bytesOf<u64>(words);
  memory.fill(matrix, 0, rowBytes * (k + 3));
  for (let i: u32 = 0; i < k; i++) put<u32>(marks, get<u32>(candidates, i), i + 1);
  for (let i: u32 = 0; i < k; i++) {
    const v = get<u32>(candidates, i);
    const row = matrix + rowBytes * i;
    const end = cell<u32>(neighbours, get<u32>(starts, v + 1));
    for (let at = cell<u32>(neighbours, get<u32>(starts, v)); at < end; at += 4) {
      const mark = get<u32>(marks, load<u32>(at));
      if (mark == 0) continue;
      const word = cell<u64>(row, (mark - 1) >>> 6);
      store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>((mark - 1) & 63))));
    }
  }
  for (let i: u32 = 0; i < k; i++) put<u32>(marks, get<u32>(candidates, i), 0);
  // The first frame contains all candidates.
  const scratchSets = matrix + rowBytes * k;
  const all = scratchSets + 2 * rowBytes;
  for (let i: u32 = 0; i < k; i++) {
    const word = cell<u64>(all, i >>> 6);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>(i & 63))));
  }
  store<u32>(search, 0, 12);
}

/**
 * Returns the size in bytes of a frame that lists `count` candidates. A frame consists of: u32
 * count, u32 distance in bytes from the parent's frame, the set of all candidates as bits, then the
 * listed candidates, each with its colour.
 */
function frameBytes(count: u32, words: u32): usize {
  return 8 + bytesOf<u64>(words) + ((bytesOf<u64>(count) + 7) & ~(<usize>7));
}

function countSet(set: usize, words: u32): u32 {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < words; i++) sum += popcnt(get<u64>(set, i));
  return <u32>sum;
}

/**
 * Builds a frame for the set at `set`: copies the set, and lists its vertices in ascending order of
 * colour, each with its colour. If vertex v has colour c, a clique among v and the vertices before
 * it has at most c vertices. The list omits vertices whose colour does not exceed `need`. Returns
 * the length of the list.
 */
function colour(search: usize, set: usize, need: u32, frame: usize, words: u32): u32 {
  const rowBytes = bytesOf<u64>(words);
  const matrix = matrixOf(search);
  const rest = matrix + rowBytes * load<u32>(search);
  const open = rest + rowBytes;
  memory.copy(frame + 8, set, rowBytes);
  memory.copy(rest, set, rowBytes);
  const entries = frame + 8 + rowBytes;
  let count: u32 = 0;
  for (let shade: u32 = 1; ; shade++) {
    let some: u64 = 0;
    for (let i: usize = 0; i < rowBytes; i += 8) {
      const bits = load<u64>(rest + i);
      store<u64>(open + i, bits);
      some |= bits;
    }
    if (some == 0) break;
    for (let i: usize = 0; i < rowBytes; i += 8) {
      for (;;) {
        const bits = load<u64>(open + i);
        if (bits == 0) break;
        const bit = <usize>ctz(bits);
        const v = <u32>(i * 8 + bit);
        store<u64>(rest + i, load<u64>(rest + i) & ~((<u64>1) << (<u64>bit)));
        store<u64>(open + i, bits & (bits - 1));
        const row = matrix + rowBytes * v;
        for (let j = i; j < rowBytes; j += 8) store<u64>(open + j, load<u64>(open + j) & ~load<u64>(row + j));
        if (shade > need) {
          store<u32>(cell<u64>(entries, count), v);
          store<u32>(cell<u64>(entries, count), shade, 4);
          count++;
        }
      }
    }
  }
  store<u32>(frame, count);
  return count;
}

/**
 * Starts or continues a search and stops after `most` branches at the latest. `best` is the size of
 * the largest clique known; sizes count the vertex that the search started from. Returns the
 * largest size now known, with bit 31 set if the search is not finished. Returns 0 if the
 * `capacity` bytes at `search` do not suffice; the search is then lost.
 */
export function goOnClique(search: usize, capacity: u32, best: u32, most: u32): u32 {
  const k = load<u32>(search);
  const words = load<u32>(search, 4);
  const rowBytes = bytesOf<u64>(words);
  const stack = matrixOf(search) + rowBytes * (k + 3);
  const limit = search + capacity;
  let depth = load<u32>(search, 8);
  let frame = stack + load<u32>(search, 12);
  if (depth == 0) {
    if (stack + frameBytes(k, words) > limit) return 0;
    colour(search, stack - rowBytes, best == 0 ? 0 : best - 1, stack, words);
    frame = stack;
    depth = 1;
  }
  // depth: number of vertices chosen, including the vertex that the search started from. Each of
  // them has a frame on the stack.
  let branches: u32 = 0;
  while (depth > 0) {
    const count = load<u32>(frame);
    const entry = cell<u64>(frame + 8 + rowBytes, count - 1);
    // The remaining vertices in the frame's list have the colour of `entry` or a lower one. If
    // depth + this colour is at most `best`, none of them leads to a larger clique.
    if (count == 0 || depth + load<u32>(entry, 4) <= best) {
      depth--;
      if (depth > 0) frame -= <usize>load<u32>(frame, 4);
      continue;
    }
    if (branches == most) {
      store<u32>(search, depth, 8);
      store<u32>(search, <u32>(frame - stack), 12);
      return best | 0x8000_0000;
    }
    branches++;
    const v = load<u32>(entry);
    store<u32>(frame, count - 1);
    const set = frame + 8;
    const word = cell<u64>(set, v >>> 6);
    store<u64>(word, load<u64>(word) & ~((<u64>1) << (<u64>(v & 63))));
    const child = frame + frameBytes(load<u32>(frame) + 1, words);
    if (child + frameBytes(k, words) + rowBytes > limit) return 0;
    // The set of the child is built directly in the child's frame, so `colour` copies it onto
    // itself.
    const row = matrixOf(search) + rowBytes * v;
    const made = child + 8;
    for (let i: usize = 0; i < rowBytes; i += 8) store<u64>(made + i, load<u64>(set + i) & load<u64>(row + i));
    const size = countSet(made, words);
    if (size == 0) {
      if (depth + 1 > best) best = depth + 1;
      continue;
    }
    if (depth + 1 + size <= best) continue;
    const need = best > depth + 1 ? best - depth - 1 : 0;
    colour(search, made, need, child, words);
    store<u32>(child, <u32>(child - frame), 4);
    frame = child;
    depth++;
  }
  return best;
}
