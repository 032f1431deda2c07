// The JavaScript peers of `core-leaf.ts`: the same work on typed arrays, without branches where
// possible.

type List = Uint16Array | Uint32Array;

const crcTables = Array.from({ length: 16 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  crcTables[0]![byte] = crc;
}
for (let t = 1; t < 16; t++) {
  for (let byte = 0; byte < 256; byte++) {
    const previous = crcTables[t - 1]![byte]!;
    crcTables[t]![byte] = (previous >>> 8) ^ crcTables[0]![previous & 255]!;
  }
}
const [t0, t1, t2, t3, t4, t5, t6, t7] = crcTables as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

/** Computes CRC-32C, slicing by 8; slicing by 16 is not faster in JavaScript. */
export function crc32c(bytes: Uint8Array, seed: number): number {
  let crc = ~seed;
  let at = 0;
  for (const last = bytes.length - 7; at < last; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      t7[crc & 255]! ^
      t6[(crc >>> 8) & 255]! ^
      t5[(crc >>> 16) & 255]! ^
      t4[crc >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}

export function intersect32(a: List, b: List, out: List): number {
  let i = 0;
  let j = 0;
  let count = 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    out[count] = x;
    count += Number(x === y);
    i += Number(x <= y);
    j += Number(y <= x);
  }
  return count;
}

export function intersect16(a: List, b: List, out: List): number {
  let i = 0;
  let j = 0;
  let count = 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    out[count] = x;
    count += Number(x === y);
    i += Number(x <= y);
    j += Number(y <= x);
  }
  return count;
}

export function difference32(a: List, b: List, out: List): number {
  let i = 0;
  let j = 0;
  let count = 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    out[count] = x;
    count += Number(x < y);
    i += Number(x <= y);
    j += Number(y <= x);
  }
  while (i < a.length) out[count++] = a[i++]!;
  return count;
}

export function union32(a: List, b: List, out: List): number {
  let i = 0;
  let j = 0;
  let count = 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    out[count++] = Math.min(x, y);
    i += Number(x <= y);
    j += Number(y <= x);
  }
  while (i < a.length) out[count++] = a[i++]!;
  while (j < b.length) out[count++] = b[j++]!;
  return count;
}

/** Intersects a short list with a long one by galloping search. */
export function gallop(a: List, b: List, out: List): number {
  let low = 0;
  let count = 0;
  for (let i = 0; i < a.length; i++) {
    const value = a[i]!;
    let step = 1;
    while (low + step < b.length && b[low + step]! < value) {
      low += step;
      step <<= 1;
    }
    let n = Math.min(low + step, b.length) - low;
    while (n > 1) {
      const half = n >> 1;
      low += b[low + half - 1]! < value ? half : 0;
      n -= half;
    }
    if (n === 1 && b[low]! < value) low++;
    if (low >= b.length) break;
    out[count] = value;
    count += Number(b[low] === value);
  }
  return count;
}

export function widen16(from: Uint16Array, to: Uint32Array): number {
  to.set(from);
  return 0;
}

/**
 * Counts the filters that report a node, out of `count` filters of `bytesEach` bytes each. Hashes
 * the node once, to the same bits as the core.
 */
export function filtersProbe(words: Uint32Array, bytesEach: number, count: number, node: number): number {
  const hash = mix(BigInt(node));
  const block = Number(((hash >> 32n) * BigInt(bytesEach >> 6)) >> 32n) * 16;
  const positions = BigInt.asUintN(64, hash * 0x9e3779b97f4a7c15n);
  const wanted = Array.from({ length: 7 }, (_, k) => Number((positions >> BigInt(55 - 9 * k)) & 511n));
  let found = 0;
  for (let index = 0; index < count; index++) {
    const base = index * (bytesEach >> 2) + block;
    let k = 0;
    while (k < 7 && (words[base + (wanted[k]! >> 5)]! >>> (wanted[k]! & 31)) & 1) k++;
    found += Number(k === 7);
  }
  return found;
}

function mix(node: bigint): bigint {
  let z = BigInt.asUintN(64, node + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

const numberBytes = new Uint8Array(32);
const encoder = new TextEncoder();

/** Writes each number as text, as a JSON encoder would; returns the number of bytes written. */
export function textLength(values: ArrayLike<number | bigint>): number {
  let length = 0;
  for (let i = 0; i < values.length; i++) length += encoder.encodeInto(String(values[i]), numberBytes).written;
  return length;
}

/** Orders row indexes by key with the built-in sort, then gathers the keys. */
export function psiOrder(keys: Float64Array): number {
  const order = Uint32Array.from(keys, (_, i) => i).sort((x, y) => keys[x]! - keys[y]! || x - y);
  const sorted = new Float64Array(keys.length);
  for (let i = 0; i < order.length; i++) sorted[i] = keys[order[i]!]!;
  return order[0]! + sorted[sorted.length - 1]!;
}
