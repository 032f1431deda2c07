// Searches breadth-first from up to 256 sources at once, with one bit per source (Then et al. 2014,
// "The more the merrier"). Each level runs top-down or bottom-up, whichever is cheaper (Beamer et
// al. 2012).
//
// Every vertex v has two sets of 256 bits: seen(v), the sources that have reached v, and front(v),
// those that reached v on the current level. The next level is next(w) = union of front(v) over the
// neighbours v of w, minus seen(w). So one pass over the arcs serves all sources, and the bits in
// next(w) on level d are the sources at distance d from w. Top-down, each vertex v with a non-empty
// front(v) ORs it into next(w) of each neighbour w. Bottom-up, each vertex w that some source has
// not reached ORs the fronts of its neighbours into next(w). The search ends when a level adds no
// bit.
//
// Distances are symmetric in an undirected graph. So the sums that a vertex accumulates over the
// sources of all batches are the sums over its own distances to these sources.

import { bytesOf, cell, get, put } from '../memory/cells';

const SOURCES: u32 = 256;
/** Size in bytes of a vertex's bit set. */
const WIDTH: usize = 32;
const SHIFT: usize = 5;

function bitsAt(base: usize, v: u32): usize {
  return base + ((<usize>v) << SHIFT);
}

function isEmpty(at: usize): bool {
  return (load<u64>(at) | load<u64>(at, 8) | load<u64>(at, 16) | load<u64>(at, 24)) == 0;
}

function isEqual(a: usize, b: usize): bool {
  return (
    ((load<u64>(a) ^ load<u64>(b)) |
      (load<u64>(a, 8) ^ load<u64>(b, 8)) |
      (load<u64>(a, 16) ^ load<u64>(b, 16)) |
      (load<u64>(a, 24) ^ load<u64>(b, 24))) ==
    0
  );
}

function countBits(at: usize): u32 {
  return <u32>(
    (popcnt(load<u64>(at)) + popcnt(load<u64>(at, 8)) + popcnt(load<u64>(at, 16)) + popcnt(load<u64>(at, 24)))
  );
}

/** ORs the set at `bits` into the set in `next` of each neighbour listed in [at, end). */
function spread(bits: usize, at: usize, end: usize, next: usize): void {
  if (ASC_FEATURE_SIMD) {
    const low = v128.load(bits);
    const high = v128.load(bits, 16);
    for (; at < end; at += 4) {
      const to = bitsAt(next, load<u32>(at));
      v128.store(to, v128.or(v128.load(to), low));
      v128.store(to, v128.or(v128.load(to, 16), high), 16);
    }
  } else {
    const a = load<u64>(bits);
    const b = load<u64>(bits, 8);
    const c = load<u64>(bits, 16);
    const d = load<u64>(bits, 24);
    for (; at < end; at += 4) {
      const to = bitsAt(next, load<u32>(at));
      store<u64>(to, load<u64>(to) | a);
      store<u64>(to, load<u64>(to, 8) | b, 8);
      store<u64>(to, load<u64>(to, 16) | c, 16);
      store<u64>(to, load<u64>(to, 24) | d, 24);
    }
  }
}

/** Writes to `to` the union of the sets in `front` of the neighbours listed in [at, end). */
function collect(front: usize, at: usize, end: usize, to: usize): void {
  if (ASC_FEATURE_SIMD) {
    let low = v128.splat<u64>(0);
    let high = v128.splat<u64>(0);
    for (; at < end; at += 4) {
      const from = bitsAt(front, load<u32>(at));
      low = v128.or(low, v128.load(from));
      high = v128.or(high, v128.load(from, 16));
    }
    v128.store(to, low);
    v128.store(to, high, 16);
  } else {
    let a: u64 = 0;
    let b: u64 = 0;
    let c: u64 = 0;
    let d: u64 = 0;
    for (; at < end; at += 4) {
      const from = bitsAt(front, load<u32>(at));
      a |= load<u64>(from);
      b |= load<u64>(from, 8);
      c |= load<u64>(from, 16);
      d |= load<u64>(from, 24);
    }
    store<u64>(to, a);
    store<u64>(to, b, 8);
    store<u64>(to, c, 16);
    store<u64>(to, d, 24);
  }
}

/**
 * Removes the bits in `seen` from `fresh`, and adds the rest to `seen`; returns the number of new
 * bits.
 */
function settle(fresh: usize, seen: usize): u32 {
  for (let k: usize = 0; k < WIDTH; k += 8) {
    const bits = load<u64>(fresh + k) & ~load<u64>(seen + k);
    store<u64>(fresh + k, bits);
    store<u64>(seen + k, load<u64>(seen + k) | bits);
  }
  return countBits(fresh);
}

/**
 * Searches from k <= 256 distinct vertices, `sources` u32[k]. For each vertex, takes the sources
 * other than itself that reach it, and adds their number to `reached` u32[n], their distances to
 * `sums` f64[n], and 1 / distance to `inverses` f64[n]. Writes the greatest distance from each
 * source to `far` u32[k]. A result whose address is 0 is not computed. `scratch` has 96 n + 96
 * bytes.
 */
export function searchMany(
  starts: usize,
  neighbours: usize,
  n: u32,
  sources: usize,
  k: u32,
  reached: usize,
  sums: usize,
  inverses: usize,
  far: usize,
  scratch: usize,
): void {
  const whole = scratch;
  const anyNew = scratch + WIDTH;
  const seen = scratch + 3 * WIDTH;
  let front = bitsAt(seen, n);
  let next = bitsAt(front, n);
  memory.fill(scratch, 0, 3 * WIDTH + 2 * ((<usize>n) << SHIFT));
  for (let i: u32 = 0; i < k && i < SOURCES; i++) {
    const word = bytesOf<u64>(i >>> 6);
    const bit = (<u64>1) << (<u64>(i & 63));
    const at = bitsAt(seen, get<u32>(sources, i)) + word;
    store<u64>(at, load<u64>(at) | bit);
    store<u64>(whole + word, load<u64>(whole + word) | bit);
    if (far != 0) put<u32>(far, i, 0);
  }
  memory.copy(front, seen, (<usize>n) << SHIFT);
  for (let level: u32 = 1; ; level++) {
    memory.fill(anyNew, 0, WIDTH);
    if (isCheaperFromBelow(starts, n, front, seen, whole)) collectAll(starts, neighbours, n, front, next, seen, whole);
    else spreadAll(starts, neighbours, n, front, next);
    if (!settleAll(n, next, seen, level, reached, sums, inverses, anyNew)) return;
    if (far != 0) noteFar(anyNew, level, far);
    const swap = front;
    front = next;
    next = swap;
  }
}

function isCheaperFromBelow(starts: usize, n: u32, front: usize, seen: usize, whole: usize): bool {
  let above: u64 = 0;
  let below: u64 = 0;
  for (let v: u32 = 0; v < n; v++) {
    const degree = <u64>(get<u32>(starts, v + 1) - get<u32>(starts, v));
    if (!isEmpty(bitsAt(front, v))) above += degree;
    if (!isEqual(bitsAt(seen, v), whole)) below += degree;
  }
  // Top-down reads and writes the bits of the other vertex for each arc; bottom-up only reads them.
  return below < above + (above >> 1);
}

function spreadAll(starts: usize, neighbours: usize, n: u32, front: usize, next: usize): void {
  memory.fill(next, 0, (<usize>n) << SHIFT);
  for (let v: u32 = 0; v < n; v++) {
    const bits = bitsAt(front, v);
    if (isEmpty(bits)) continue;
    spread(bits, cell<u32>(neighbours, get<u32>(starts, v)), cell<u32>(neighbours, get<u32>(starts, v + 1)), next);
  }
}

function collectAll(
  starts: usize,
  neighbours: usize,
  n: u32,
  front: usize,
  next: usize,
  seen: usize,
  whole: usize,
): void {
  for (let v: u32 = 0; v < n; v++) {
    const to = bitsAt(next, v);
    if (isEqual(bitsAt(seen, v), whole)) memory.fill(to, 0, WIDTH);
    else collect(front, cell<u32>(neighbours, get<u32>(starts, v)), cell<u32>(neighbours, get<u32>(starts, v + 1)), to);
  }
}

/**
 * Adds the new bits to `seen`, to `anyNew` and to the results; returns whether there was a new bit.
 */
function settleAll(
  n: u32,
  next: usize,
  seen: usize,
  level: u32,
  reached: usize,
  sums: usize,
  inverses: usize,
  anyNew: usize,
): bool {
  let some = false;
  const inverse: f64 = 1 / <f64>level;
  for (let v: u32 = 0; v < n; v++) {
    const fresh = bitsAt(next, v);
    if (isEmpty(fresh)) continue;
    const count = settle(fresh, bitsAt(seen, v));
    if (count == 0) continue;
    some = true;
    for (let k: usize = 0; k < WIDTH; k += 8) store<u64>(anyNew + k, load<u64>(anyNew + k) | load<u64>(fresh + k));
    if (reached != 0) put<u32>(reached, v, get<u32>(reached, v) + count);
    const place = bytesOf<u64>(v);
    if (sums != 0) store<f64>(sums + place, load<f64>(sums + place) + <f64>level * <f64>count);
    if (inverses != 0) store<f64>(inverses + place, load<f64>(inverses + place) + <f64>count * inverse);
  }
  return some;
}

function noteFar(anyNew: usize, level: u32, far: usize): void {
  for (let word: u32 = 0; word < 4; word++) {
    let bits = get<u64>(anyNew, word);
    while (bits != 0) {
      put<u32>(far, (word << 6) + <u32>ctz(bits), level);
      bits &= bits - 1;
    }
  }
}
