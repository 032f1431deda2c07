// A map that stays fast while it grows. A plain Map blocks for 0.1 s when it grows past a million
// keys, because it rehashes all keys at once. This map is split into many small Maps, each of which
// is rehashed by itself. The split takes time too (17 ms for 16,384 texts with cold code), so it is
// made in small portions: each new key takes two of the old keys with it.

import { LONGEST_HASHED, LongTexts } from './long-texts.ts';

/** Up to this number of keys, one plain Map is used. */
const PLAIN_KEYS = 16_384;
const PARTS = 128;
/** Number of old keys that move to their parts with each new key during a split. */
const MOVED_AT_ONCE = 2;
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
  /** During a split: the keys that are not in the parts yet. No key is in both. */
  #unsplit: Map<K, V> | undefined;
  /**
   * Gives the keys of `#unsplit`. One iterator for all, because a new one skips each deleted key.
   */
  #oldest: MapIterator<[K, V]> | undefined;
  #long: LongTexts<V> | undefined;

  get size(): number {
    let size = (this.#long?.size ?? 0) + (this.#unsplit?.size ?? 0);
    for (const part of this.#parts) size += part.size;
    return size;
  }

  get(key: K): V | undefined {
    if (isLong(key)) return this.#long?.get(key);
    const value = this.#partOf(key).get(key);
    return value === undefined ? this.#unsplit?.get(key) : value;
  }

  has(key: K): boolean {
    if (isLong(key)) return this.#long?.has(key) === true;
    return this.#partOf(key).has(key) || this.#unsplit?.has(key) === true;
  }

  set(key: K, value: V): void {
    if (isLong(key)) {
      this.#long ??= new LongTexts();
      this.#long.set(key, value);
      return;
    }
    if (this.#unsplit !== undefined) this.#splitSome(this.#unsplit, key);
    const part = this.#partOf(key);
    part.set(key, value);
    if (part.size > PLAIN_KEYS && this.#parts.length === 1) {
      this.#unsplit = part;
      this.#oldest = part.entries();
      this.#parts = Array.from({ length: PARTS }, () => new Map());
    }
  }

  delete(key: K): boolean {
    if (isLong(key)) return this.#long?.delete(key) === true;
    return this.#partOf(key).delete(key) || this.#unsplit?.delete(key) === true;
  }

  clear(): void {
    this.#parts = [new Map()];
    this.#unsplit = undefined;
    this.#oldest = undefined;
    this.#long = undefined;
  }

  #partOf(key: K): Map<K, V> {
    return this.#parts.length === 1 ? this.#parts[0]! : this.#parts[placeOf(key)]!;
  }

  /** Makes room for `set(key)`, and moves the two oldest keys to their parts. */
  #splitSome(unsplit: Map<K, V>, key: K): void {
    unsplit.delete(key);
    for (let moved = 0; moved < MOVED_AT_ONCE; moved++) {
      const { done, value: entry } = this.#oldest!.next();
      if (done === true) {
        this.#unsplit = undefined;
        this.#oldest = undefined;
        return;
      }
      unsplit.delete(entry[0]);
      this.#partOf(entry[0]).set(entry[0], entry[1]);
    }
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
