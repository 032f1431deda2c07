// A map that stays fast while it grows. A plain Map blocks for 0.1 s when it grows past a million
// keys, because it rehashes all keys at once. This map is split into many small Maps, each of which
// is rehashed by itself.

import { assert } from '../../assert.ts';
import { LONGEST_HASHED, LongTexts } from './long-texts.ts';

/** Up to this number of keys, one plain Map is used. */
const PLAIN_KEYS = 8192;
const PARTS = 128;
const SHARE_BITS = 12;
/**
 * The part for each value of the leading bits of a hash. The first part gets twice as many keys as
 * the last, so that the parts do not all grow at the same moment.
 */
const PART_OF = Uint8Array.from(
  { length: 2 ** SHARE_BITS },
  (_, share) => PARTS * (2 ** (share / 2 ** SHARE_BITS) - 1),
);
/**
 * Odd multiplier that spreads keys over all 32 bits (Knuth, The Art of Computer Programming 3,
 * 6.4).
 */
const SPREAD = 0x9e3779b1;
/**
 * Number of characters at the end of a text that are hashed. In numbers and in JSON, the last
 * characters differ most.
 */
const LAST_CHARACTERS = 8;

/**
 * Keys are compared as in a Map. There is no iteration, because keys in several parts have no
 * common order.
 */
export class WideMap<K, V> {
  #parts: Map<K, V>[] = [new Map()];
  #long: LongTexts<V> | undefined;

  get size(): number {
    let size = this.#long?.size ?? 0;
    for (const part of this.#parts) size += part.size;
    return size;
  }

  get(key: K): V | undefined {
    return isLong(key) ? this.#long?.get(key) : this.#partOf(key).get(key);
  }

  has(key: K): boolean {
    return isLong(key) ? this.#long?.has(key) === true : this.#partOf(key).has(key);
  }

  set(key: K, value: V): void {
    if (isLong(key)) {
      this.#long ??= new LongTexts();
      this.#long.set(key, value);
      return;
    }
    const part = this.#partOf(key);
    part.set(key, value);
    if (part.size > PLAIN_KEYS && this.#parts.length === 1) this.#split(part);
  }

  delete(key: K): boolean {
    return isLong(key) ? this.#long?.delete(key) === true : this.#partOf(key).delete(key);
  }

  clear(): void {
    this.#parts = [new Map()];
    this.#long = undefined;
  }

  #partOf(key: K): Map<K, V> {
    return this.#parts.length === 1 ? this.#parts[0]! : this.#parts[placeOf(key)]!;
  }

  #split(whole: Map<K, V>): void {
    this.#parts = Array.from({ length: PARTS }, () => new Map());
    for (const [key, value] of whole) this.#parts[placeOf(key)]!.set(key, value);
    assert(this.size === whole.size + (this.#long?.size ?? 0), 'a split map has every key once');
  }
}

function isLong(key: unknown): key is string {
  return typeof key === 'string' && key.length > LONGEST_HASHED;
}

function placeOf(key: unknown): number {
  return PART_OF[Math.imul(numberOf(key), SPREAD) >>> (32 - SHARE_BITS)]!;
}

/** Returns a hash of a key; equal keys have equal hashes. */
function numberOf(key: unknown): number {
  if (typeof key === 'number') return Number.isInteger(key) ? key | 0 : (key * 2 ** 24) | 0;
  if (typeof key !== 'string') return 0;
  let sum = key.length;
  for (let at = Math.max(0, key.length - LAST_CHARACTERS); at < key.length; at++)
    sum = (Math.imul(sum, 31) + key.charCodeAt(at)) | 0;
  return sum;
}
