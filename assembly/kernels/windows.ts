// Core numbers of the co-member graph of one window: a stretch of edges in order of time.

import { coreNumbers } from './cores';

function wordAt(base: usize, i: u32): usize {
  return base + ((<usize>i) << 2);
}

/** Bytes of scratch for a window of `incidences` members in edges of `pairs` ordered pairs of members in all. */
export function windowBytes(incidences: u32, pairs: u32): u32 {
  return (incidences * 6 + pairs + 8) * 4;
}

/**
 * Of the edges [from, to): members u32[] gets the distinct nodes, cores u32[] their core numbers; gives how many. slots: u32[n], zero before and after. members and cores have
 * room for all incidences.
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
  const first = load<u32>(wordAt(edgeStarts, from));
  const incidences = load<u32>(wordAt(edgeStarts, to)) - first;
  const starts = scratch;
  const order = wordAt(starts, incidences + 2);
  const marks = wordAt(order, incidences);
  const work = wordAt(marks, incidences);
  const neighbours = wordAt(work, 2 * incidences + 2);
  memory.fill(starts, 0, (<usize>(incidences + 2)) << 2);
  memory.fill(marks, 0, (<usize>incidences) << 2);
  const n = countNeighbours(edgeStarts, edgeNodes, from, to, slots, members, starts);
  for (let v: u32 = 0; v < n; v++)
    store<u32>(wordAt(starts, v + 2), load<u32>(wordAt(starts, v + 2)) + load<u32>(wordAt(starts, v + 1)));
  fillNeighbours(edgeStarts, edgeNodes, from, to, slots, starts, neighbours);
  keepDistinct(n, starts, neighbours, marks);
  coreNumbers(starts, neighbours, n, cores, order, work);
  for (let v: u32 = 0; v < n; v++) store<u32>(wordAt(slots, load<u32>(wordAt(members, v))), 0);
  return n;
}

/** Numbers the nodes and counts their neighbours, repeats too, at starts[v + 2]. */
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
    const begin = load<u32>(wordAt(edgeStarts, e));
    const end = load<u32>(wordAt(edgeStarts, e + 1));
    for (let at = begin; at < end; at++) {
      const node = load<u32>(wordAt(edgeNodes, at));
      let slot = load<u32>(wordAt(slots, node));
      if (slot == 0) {
        store<u32>(wordAt(members, n), node);
        slot = ++n;
        store<u32>(wordAt(slots, node), slot);
      }
      const place = wordAt(starts, slot + 1);
      store<u32>(place, load<u32>(place) + end - begin - 1);
    }
  }
  return n;
}

/** starts[v + 1] is where the next neighbour of v goes, and where its neighbours end in the end. */
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
    const begin = load<u32>(wordAt(edgeStarts, e));
    const end = load<u32>(wordAt(edgeStarts, e + 1));
    for (let at = begin; at < end; at++) {
      const slot = load<u32>(wordAt(slots, load<u32>(wordAt(edgeNodes, at))));
      const place = wordAt(starts, slot);
      let next = load<u32>(place);
      for (let other = begin; other < end; other++) {
        if (other == at) continue;
        store<u32>(wordAt(neighbours, next++), load<u32>(wordAt(slots, load<u32>(wordAt(edgeNodes, other)))) - 1);
      }
      store<u32>(place, next);
    }
  }
}

/** Each neighbour once, the lists closed up. */
function keepDistinct(n: u32, starts: usize, neighbours: usize, marks: usize): void {
  let begin: u32 = 0;
  let kept: u32 = 0;
  for (let v: u32 = 0; v < n; v++) {
    const end = load<u32>(wordAt(starts, v + 1));
    for (let at = begin; at < end; at++) {
      const w = load<u32>(wordAt(neighbours, at));
      if (load<u32>(wordAt(marks, w)) == v + 1) continue;
      store<u32>(wordAt(marks, w), v + 1);
      store<u32>(wordAt(neighbours, kept++), w);
    }
    begin = end;
    store<u32>(wordAt(starts, v + 1), kept);
  }
}
