// The JavaScript peers of `core-kernels.ts`: the same work on typed arrays, without branches where
// possible.

import { gallop, intersect16 } from './core-leaf-peers.ts';

/** Edges as columns: the input of both sides. */
export interface Columns {
  rows: number;
  times: Float64Array;
  counts: Uint32Array;
  members: Float64Array;
}

const RECORD_HEADER_BYTES = 24;
const TWO_32 = 2 ** 32;

type WriteMembers = (members: Float64Array, from: number, count: number, view: DataView, at: number) => number;

/**
 * Encodes records back to back as described in section 1 of `assembly/FORMAT.md`, except that
 * `write` chooses the encoding of the members.
 */
function encodeWith(write: WriteMembers, { rows, times, counts, members }: Columns, view: DataView): number {
  let at = 0;
  let from = 0;
  for (let row = 0; row < rows; row++) {
    const count = counts[row]!;
    const end = write(members, from, count, view, at + RECORD_HEADER_BYTES);
    view.setUint32(at, end - at, true);
    view.setUint32(at + 4, count, true);
    setInteger(view, at + 8, times[row]!);
    setInteger(view, at + 16, row + 1);
    from += count;
    at = end;
  }
  return at;
}

function setInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, true);
  view.setInt32(at + 4, Math.floor(value / TWO_32), true);
}

export function encodeStreamVbyte(columns: Columns, view: DataView): number {
  return encodeWith(writeStreamVbyte, columns, view);
}

export function encodeLeb128(columns: Columns, view: DataView): number {
  return encodeWith(writeLeb128, columns, view);
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : value * -2 - 1;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : (value + 1) / -2;
}

function writeStreamVbyte(members: Float64Array, from: number, count: number, view: DataView, at: number): number {
  let data = at + ((count + 3) >> 2);
  let control = 0;
  let previous = 0;
  for (let i = 0; i < count; i++) {
    const member = members[from + i]!;
    const value = i === 0 ? zigzag(member) : member - previous;
    previous = member;
    const code = Number(value > 0xff) + Number(value > 0xffff) + Number(value > 0xffffffff);
    view.setUint32(data, value, true);
    if (code === 3) view.setUint32(data + 4, value / TWO_32, true);
    data += 1 << code;
    control |= code << ((i & 3) << 1);
    if ((i & 3) === 3) {
      view.setUint8(at + (i >> 2), control);
      control = 0;
    }
  }
  if (count & 3) view.setUint8(at + (count >> 2), control);
  return data;
}

function writeLeb128(members: Float64Array, from: number, count: number, view: DataView, at: number): number {
  let data = at;
  let previous = 0;
  for (let i = 0; i < count; i++) {
    const member = members[from + i]!;
    let value = i === 0 ? zigzag(member) : member - previous;
    previous = member;
    for (; value > 0x7fffffff; value = Math.floor(value / 128)) view.setUint8(data++, (value % 128) | 128);
    for (; value > 127; value >>>= 7) view.setUint8(data++, value | 128);
    view.setUint8(data++, value);
  }
  return data;
}

/**
 * Reads the members of one record after the other into `out`. Returns the sum, modulo 2^32, of the
 * last member of each record.
 */
export function decodeStreamVbyte(rows: number, view: DataView, out: Float64Array): number {
  let sum = 0;
  for (let row = 0, at = 0; row < rows; row++) {
    const count = view.getUint8(at + 4);
    const controls = at + RECORD_HEADER_BYTES;
    let data = controls + ((count + 3) >> 2);
    let member = 0;
    for (let i = 0; i < count; i++) {
      const code = (view.getUint8(controls + (i >> 2)) >> ((i & 3) << 1)) & 3;
      let value = view.getUint32(data, true);
      if (code < 2) value &= 0xffff >> (8 * (1 - code));
      else if (code === 3) value += view.getUint32(data + 4, true) * TWO_32;
      data += 1 << code;
      member = i === 0 ? unzigzag(value) : member + value;
      out[i] = member;
    }
    sum = (sum + out[count - 1]!) >>> 0;
    at += view.getUint32(at, true);
  }
  return sum;
}

export function decodeLeb128(rows: number, view: DataView, out: Float64Array): number {
  let sum = 0;
  for (let row = 0, at = 0; row < rows; row++) {
    const count = view.getUint8(at + 4);
    let data = at + RECORD_HEADER_BYTES;
    let member = 0;
    for (let i = 0; i < count; i++) {
      let value = 0;
      let scale = 1;
      for (; ; scale *= 128) {
        const byte = view.getUint8(data++);
        value += (byte & 127) * scale;
        if (byte < 128) break;
      }
      member = i === 0 ? unzigzag(value) : member + value;
      out[i] = member;
    }
    sum = (sum + out[count - 1]!) >>> 0;
    at += view.getUint32(at, true);
  }
  return sum;
}

/** The JavaScript counterpart of a segment: columns, a dictionary and posting lists. */
export interface PeerSegment {
  times: Uint32Array;
  sizes: Uint8Array;
  /** For each row, the index of its first incidence; after the last row, the total count. */
  starts: Uint32Array;
  ordinals: Uint16Array;
  nodes: Uint32Array;
  offsets: Uint32Array;
  postings: Uint16Array;
}

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/**
 * Builds a segment for nodes below 2^32: a radix sort of the incidences, then one pass. It leaves
 * out the filter and the checksums, which the core adds.
 */
export function buildSegment({ rows, times, counts, members }: Columns): PeerSegment {
  const n = members.length;
  const least = times[0]!;
  const starts = new Uint32Array(rows + 1);
  const rowOf = new Uint16Array(n);
  const sizes = new Uint8Array(rows);
  const offsetsOfTime = new Uint32Array(rows);
  for (let row = 0, at = 0; row < rows; row++) {
    const end = at + counts[row]!;
    starts[row + 1] = end;
    sizes[row] = counts[row]!;
    offsetsOfTime[row] = times[row]! - least;
    for (; at < end; at++) rowOf[at] = row;
  }
  let keys = Uint32Array.from(members);
  let order = Uint32Array.from({ length: n }, (_, i) => i);
  let nextKeys = new Uint32Array(n);
  let nextOrder = new Uint32Array(n);
  const greatest = keys.reduce((most, key) => Math.max(most, key), 0);
  const tally = new Uint32Array(DIGITS);
  for (let shift = 0; shift < 32 && greatest >>> shift > 0; shift += DIGIT_BITS) {
    tally.fill(0);
    for (let i = 0; i < n; i++) tally[(keys[i]! >>> shift) & (DIGITS - 1)]!++;
    for (let digit = 0, sum = 0; digit < DIGITS; digit++) {
      const count = tally[digit]!;
      tally[digit] = sum;
      sum += count;
    }
    for (let i = 0; i < n; i++) {
      const to = tally[(keys[i]! >>> shift) & (DIGITS - 1)]!++;
      nextKeys[to] = keys[i]!;
      nextOrder[to] = order[i]!;
    }
    [keys, nextKeys] = [nextKeys, keys];
    [order, nextOrder] = [nextOrder, order];
  }
  const nodes = new Uint32Array(n);
  const offsets = new Uint32Array(n + 1);
  const ordinals = new Uint16Array(n);
  const postings = new Uint16Array(n);
  let count = 0;
  for (let i = 0; i < n; i++) {
    if (i === 0 || keys[i] !== keys[i - 1]) {
      nodes[count] = keys[i]!;
      offsets[count++] = i;
    }
    ordinals[order[i]!] = count - 1;
    postings[i] = rowOf[order[i]!]!;
  }
  offsets[count] = n;
  return {
    times: offsetsOfTime,
    sizes,
    starts,
    ordinals,
    nodes: nodes.slice(0, count),
    offsets: offsets.slice(0, count + 1),
    postings,
  };
}

/**
 * Returns the index of the first value that is not below `value`; the loop has no data-dependent
 * branch.
 */
export function lowerBound(list: Uint32Array, value: number): number {
  let base = 0;
  let length = list.length;
  while (length > 1) {
    const half = length >> 1;
    base += half * Number(list[base + half - 1]! < value);
    length -= half;
  }
  return base + Number(length === 1 && list[base]! < value);
}

export function rangeRows(times: Uint32Array, from: number, to: number, out: Uint32Array): number {
  const first = lowerBound(times, from);
  const end = lowerBound(times, to + 1);
  for (let row = first; row < end; row++) out[row - first] = row;
  return end - first;
}

function postingsOf({ nodes, offsets, postings }: PeerSegment, node: number): Uint16Array | undefined {
  const ordinal = lowerBound(nodes, node);
  return nodes[ordinal] === node ? postings.subarray(offsets[ordinal], offsets[ordinal + 1]) : undefined;
}

export function lookup(segment: PeerSegment, node: number, out: Uint32Array): number {
  const list = postingsOf(segment, node);
  if (list === undefined) return 0;
  out.set(list);
  return list.length;
}

const GALLOP_FROM = 32;

export function lookupBoth(segment: PeerSegment, left: number, right: number, out: Uint32Array): number {
  const a = postingsOf(segment, left);
  const b = postingsOf(segment, right);
  if (a === undefined || b === undefined) return 0;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return long.length > short.length * GALLOP_FROM ? gallop(short, long, out) : intersect16(short, long, out);
}

/** Writes the rows 0 to n - 1 that are not in `dead` into `rows`, and returns their number. */
export function reconcile(n: number, dead: Uint32Array, rows: Uint32Array): number {
  for (let row = 0; row < n; row++) rows[row] = row;
  let kept = 0;
  let j = 0;
  for (let i = 0; i < n; i++) {
    const row = rows[i]!;
    while (j < dead.length && dead[j]! < row) j++;
    rows[kept] = row;
    kept += Number(!(j < dead.length && dead[j] === row));
  }
  return kept;
}

export interface KeyRun {
  times: Float64Array;
  ids: Float64Array;
}

/**
 * Merges runs by (time, id). Writes one number per record, which packs the run of the record and
 * its index in that run.
 */
export function mergeRuns(runs: readonly KeyRun[], out: Uint32Array): number {
  const heads = new Uint32Array(runs.length);
  let count = 0;
  while (true) {
    let best = -1;
    let time = Infinity;
    let id = Infinity;
    for (let r = 0; r < runs.length; r++) {
      const head = heads[r]!;
      const run = runs[r]!;
      if (head === run.times.length) continue;
      const t = run.times[head]!;
      if (t > time || (t === time && run.ids[head]! >= id)) continue;
      best = r;
      time = t;
      id = run.ids[head]!;
    }
    if (best < 0) return count;
    out[count++] = best * 2 ** 28 + heads[best]!++;
  }
}

/** Builds the rows as one JSON string, then encodes it as UTF-8. */
export function jsonRows({ starts, ordinals, nodes }: PeerSegment, times: Float64Array, out: Uint8Array): number {
  let text = '';
  for (let row = 0; row < times.length; row++) {
    let members = '';
    for (let i = starts[row]!; i < starts[row + 1]!; i++)
      members += `${members === '' ? '' : ','}${nodes[ordinals[i]!]}`;
    text += `${row > 0 ? ',' : ''}{"id":${row + 1},"event_ts":${times[row]},"members":[${members}],"weight":null,"mean_dist_m":null,"formation":null}`;
  }
  return new TextEncoder().encodeInto(text, out).written;
}

/**
 * Does what `jsonRows` does, but with objects and `JSON.stringify`. The returned length does not
 * count the brackets around all rows.
 */
export function stringifyRows({ starts, ordinals, nodes }: PeerSegment, times: Float64Array, out: Uint8Array): number {
  const rows: unknown[] = [];
  for (let row = 0; row < times.length; row++) {
    const members: number[] = [];
    for (let i = starts[row]!; i < starts[row + 1]!; i++) members.push(nodes[ordinals[i]!]!);
    rows.push({ id: row + 1, event_ts: times[row], members, weight: null, mean_dist_m: null, formation: null });
  }
  return new TextEncoder().encodeInto(JSON.stringify(rows), out).written - 2;
}

/**
 * Writes the numbers of the rows whose value is in [low, high], ascending, and returns how many.
 * `sorted` are the sorted values, `order` their rows.
 */
export function psiRange(
  sorted: Float64Array,
  order: Uint16Array,
  low: number,
  high: number,
  out: Uint32Array,
): number {
  const from = bound(sorted, low, false);
  const to = bound(sorted, high, true);
  const words = new Uint32Array(2048);
  for (let i = from; i < to; i++) words[order[i]! >> 5]! |= 1 << (order[i]! & 31);
  let count = 0;
  for (let w = 0; w < words.length; w++) {
    for (let word = words[w]!; word !== 0; word &= word - 1) out[count++] = (w << 5) + 31 - Math.clz32(word & -word);
  }
  return count;
}

function bound(sorted: Float64Array, value: number, orEqual: boolean): number {
  let base = 0;
  let length = sorted.length;
  while (length > 0) {
    const half = length >> 1;
    const found = sorted[base + half]!;
    if (found < value || (orEqual && found === value)) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}
