// Computes the core numbers of the co-member graph of one window: a range of edges in time order.

import { bytesOf, cell, get, put } from '../memory/cells';
import { coreNumbers } from './cores';

/**
 * Returns the size in bytes of the scratch memory for a window whose edges have `incidences`
 * members and `pairs` ordered pairs of members in total.
 */
export function windowBytes(incidences: u32, pairs: u32): u32 {
  return (incidences * 6 + pairs + 8) * 4;
}

/**
 * Computes the core numbers for the edges [from, to): `members` u32[] receives the distinct nodes,
 * and `cores` u32[] their core numbers. Returns the number of these nodes. `slots` u32[n] is zero
 * before and after the call. `members` and `cores` need space for all incidences of these edges.
 */
export function windowCores(
  edgeStarts: usize,
  edgeNodes: usize,
  from: u32,
  to: u32,
  slots: usize,
  members: usize,
  cores: usize,
  scratch: usize,
): u32 {
  const first = get<u32>(edgeStarts, from);
  const incidences = get<u32>(edgeStarts, to) - first;
  const starts = scratch;
  const order = cell<u32>(starts, incidences + 2);
  const marks = cell<u32>(order, incidences);
  const work = cell<u32>(marks, incidences);
  const neighbours = cell<u32>(work, 2 * incidences + 2);
  memory.fill(starts, 0, bytesOf<u32>(incidences + 2));
  memory.fill(marks, 0, bytesOf<u32>(incidences));
  const n = countNeighbours(edgeStarts, edgeNodes, from, to, slots, members, starts);
  for (let v: u32 = 0; v < n; v++) put<u32>(starts, v + 2, get<u32>(starts, v + 2) + get<u32>(starts, v + 1));
  fillNeighbours(edgeStarts, edgeNodes, from, to, slots, starts, neighbours);
  keepDistinct(n, starts, neighbours, marks);
  coreNumbers(starts, neighbours, n, cores, order, work);
  for (let v: u32 = 0; v < n; v++) put<u32>(slots, get<u32>(members, v), 0);
  return n;
}

/**
 * Gives the nodes the numbers 0, 1, ..., and counts the neighbours of each node v, including
 * repetitions, in starts[v + 2]. Returns the number of nodes.
 */
function countNeighbours(
  edgeStarts: usize,
  edgeNodes: usize,
  from: u32,
  to: u32,
  slots: usize,
  members: usize,
  starts: usize,
): u32 {
  let n: u32 = 0;
  for (let e = from; e < to; e++) {
    const begin = get<u32>(edgeStarts, e);
    const end = get<u32>(edgeStarts, e + 1);
    for (let at = begin; at < end; at++) {
      const node = get<u32>(edgeNodes, at);
      let slot = get<u32>(slots, node);
      if (slot == 0) {
        put<u32>(members, n, node);
        slot = ++n;
        put<u32>(slots, node, slot);
      }
      const place = cell<u32>(starts, slot + 1);
      store<u32>(place, load<u32>(place) + end - begin - 1);
    }
  }
  return n;
}

/**
 * Writes the neighbours of each node. starts[v + 1] is where v's next neighbour is written, and
 * finally the end of v's list.
 */
function fillNeighbours(
  edgeStarts: usize,
  edgeNodes: usize,
  from: u32,
  to: u32,
  slots: usize,
  starts: usize,
  neighbours: usize,
): void {
  for (let e = from; e < to; e++) {
    const begin = get<u32>(edgeStarts, e);
    const end = get<u32>(edgeStarts, e + 1);
    for (let at = begin; at < end; at++) {
      const slot = get<u32>(slots, get<u32>(edgeNodes, at));
      const place = cell<u32>(starts, slot);
      let next = load<u32>(place);
      for (let other = begin; other < end; other++) {
        if (other == at) continue;
        put<u32>(neighbours, next++, get<u32>(slots, get<u32>(edgeNodes, other)) - 1);
      }
      store<u32>(place, next);
    }
  }
}

/** Keeps each neighbour of a vertex once, and closes the gaps between the lists. */
function keepDistinct(n: u32, starts: usize, neighbours: usize, marks: usize): void {
  let begin: u32 = 0;
  let kept: u32 = 0;
  for (let v: u32 = 0; v < n; v++) {
    const end = get<u32>(starts, v + 1);
    for (let at = begin; at < end; at++) {
      const w = get<u32>(neighbours, at);
      if (get<u32>(marks, w) == v + 1) continue;
      put<u32>(marks, w, v + 1);
      put<u32>(neighbours, kept++, w);
    }
    begin = end;
    put<u32>(starts, v + 1, kept);
  }
}
