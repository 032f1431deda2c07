// Finds connected components by union-find. The forest is an array of u32 parents, in which every
// vertex is at first its own parent. Every root is the least vertex of its tree.

import { cell, get, put } from '../memory/cells';

export function rootOf(parents: usize, vertex: u32): u32 {
  let parent = get<u32>(parents, vertex);
  while (parent != vertex) {
    const above = get<u32>(parents, parent);
    put<u32>(parents, vertex, above); // path halving
    vertex = above;
    parent = get<u32>(parents, vertex);
  }
  return vertex;
}

/** Joins the trees of a and b; returns their common root. */
export function unite(parents: usize, a: u32, b: u32): u32 {
  const rootA = rootOf(parents, a);
  const rootB = rootOf(parents, b);
  const low = min(rootA, rootB);
  put<u32>(parents, max(rootA, rootB), low);
  return low;
}

/** Makes each vertex in [from, to) a tree of its own. */
export function separate(parents: usize, from: u32, to: u32): void {
  for (let vertex = from; vertex < to; vertex++) put<u32>(parents, vertex, vertex);
}

/**
 * Replaces the parent of each vertex in [from, to) by the root of its tree. The vertices before
 * `from` must have been done already.
 */
export function labelRoots(parents: usize, from: u32, to: u32): void {
  for (let vertex = from; vertex < to; vertex++) {
    const at = cell<u32>(parents, vertex);
    store<u32>(at, get<u32>(parents, load<u32>(at)));
  }
}

/** Joins the rows that share an item, for the items in [from, to). */
export function joinItems(itemStarts: usize, itemRows: usize, from: u32, to: u32, parents: usize): void {
  for (let item = from; item < to; item++) {
    const start = cell<u32>(itemStarts, item);
    const end = cell<u32>(itemRows, load<u32>(start, 4));
    let at = cell<u32>(itemRows, load<u32>(start));
    if (at == end) continue;
    const first = load<u32>(at);
    for (at += 4; at < end; at += 4) unite(parents, first, load<u32>(at));
  }
}

/** Joins the ends of every arc that leads from a vertex in [from, to) to a higher vertex. */
export function joinArcs(starts: usize, neighbours: usize, from: u32, to: u32, parents: usize): void {
  for (let vertex = from; vertex < to; vertex++) {
    const start = cell<u32>(starts, vertex);
    const end = cell<u32>(neighbours, load<u32>(start, 4));
    for (let at = cell<u32>(neighbours, load<u32>(start)); at < end; at += 4) {
      const other = load<u32>(at);
      if (other > vertex) unite(parents, vertex, other);
    }
  }
}
