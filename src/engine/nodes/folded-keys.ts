// An index of the TEXT keys of all nodes by their folded form (model/fold-key.ts): which nodes have
// a key that a text contains, without regard to case.
//
// The index is made when it is first needed, in steps, and extended before each use by the nodes
// that were created since then. Keys never change and numbers are not reused, so entries stay
// valid; nodes that were deleted are left out when they are found. An entry is a number and a hash
// of 32 bits; the key itself is read from the key dictionary. The hash has a secret seed, so that
// keys cannot be chosen to collide.
//
// Entries are in tables of open addressing that are never moved: when the last table is half full,
// one as large as all others together is added.

import { assert } from '../../assert.ts';
import { foldKey } from '../../model/fold-key.ts';
import { MOST_KEY_BYTES } from '../../model/node-refs.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { NodeDirectory } from './node-directory.ts';

/** Number of keys that one step adds, which takes about a millisecond. */
const STEP_KEYS = 1000;
const LEAST_SLOTS = 1024;
const BYTES_PER_SLOT = 8;
const BYTES_PER_PENDING = 8;
const SPACE = 0x20;
const BACKTICK = 0x60;
const TILDE = 0x7e;

interface Slots {
  /** Numbers of nodes; 0 for a free slot. */
  readonly numbers: Uint32Array;
  readonly hashes: Uint32Array;
  used: number;
}

export class FoldedKeys {
  readonly #nodes: NodeDirectory;
  readonly #charge: (bytes: number) => void;
  readonly #seed = crypto.getRandomValues(new Uint32Array(2));
  readonly #tables: Slots[] = [];
  /** All numbers below it are indexed or pending. */
  #next = 1;
  /**
   * Numbers below `#next` that were neither live nor dead when they were looked at. Each of them
   * may become live: held ones, and on a follower also those without an entry.
   */
  #pending: number[] = [];
  #chargedPending = 0;
  #longest = 0;
  /** A key as UTF-8, and the UTF-16 units of a folded text. */
  readonly #bytes = new Uint8Array(MOST_KEY_BYTES);
  #units = new Uint16Array(MOST_KEY_BYTES);

  constructor(nodes: NodeDirectory, charge: (bytes: number) => void) {
    this.#nodes = nodes;
    this.#charge = charge;
  }

  /** Length of the longest folded key. */
  get longest(): number {
    return this.#longest;
  }

  /** Adds the nodes that were created since the last call. */
  *extend(): Steps<void> {
    for (let left = this.#pending.length; left > 0; left -= STEP_KEYS) {
      for (const number of this.#pending.splice(0, Math.min(left, STEP_KEYS))) this.#addIfLive(number);
      this.#chargePending();
      yield undefined;
    }
    while (this.#next < this.#nodes.nextNumber) {
      const end = Math.min(this.#nodes.nextNumber, this.#next + STEP_KEYS);
      while (this.#next < end) this.#addIfLive(this.#next++);
      this.#chargePending();
      yield undefined;
    }
  }

  #addIfLive(number: number): void {
    const { keys } = this.#nodes;
    if (keys.isLive(number)) this.#add(number);
    else if (!this.#nodes.isDead(number)) this.#pending.push(number);
  }

  #chargePending(): void {
    const bytes = this.#pending.length * BYTES_PER_PENDING;
    if (bytes !== this.#chargedPending) this.#charge(bytes - this.#chargedPending);
    this.#chargedPending = bytes;
  }

  #add(number: number): void {
    // Integers are found by their digits.
    if (this.#nodes.hasIntegerKey(number)) return;
    const units = this.#unitsOfKey(number);
    this.#longest = Math.max(this.#longest, units);
    const table = this.#tableWithRoom();
    const hash = this.#hashOf(units);
    const mask = table.numbers.length - 1;
    let at = hash & mask;
    while (table.numbers[at] !== 0) at = (at + 1) & mask;
    table.numbers[at] = number;
    table.hashes[at] = hash;
    table.used++;
  }

  #tableWithRoom(): Slots {
    const last = this.#tables.at(-1);
    if (last !== undefined && last.used < last.numbers.length / 2) return last;
    const all = this.#tables.reduce((sum, { numbers }) => sum + numbers.length, 0);
    const expected = this.#nodes.nextNumber - this.#next;
    const slots = Math.max(LEAST_SLOTS, all, 2 ** Math.ceil(Math.log2(Math.max(1, expected) * 2)));
    assert((slots & (slots - 1)) === 0, 'the number of slots is a power of two');
    this.#charge(slots * BYTES_PER_SLOT);
    const table = { numbers: new Uint32Array(slots), hashes: new Uint32Array(slots), used: 0 };
    this.#tables.push(table);
    return table;
  }

  /** Returns the numbers of the live nodes whose key has this folded form, ascending. */
  find(folded: string): number[] {
    const { keys } = this.#nodes;
    const hash = this.#hashOf(this.#unitsOf(folded));
    const found: number[] = [];
    for (const { numbers, hashes } of this.#tables) {
      const mask = numbers.length - 1;
      for (let at = hash & mask; numbers[at] !== 0; at = (at + 1) & mask) {
        if (hashes[at] !== hash || !keys.isLive(numbers[at]!)) continue;
        if (foldKey(String(keys.keyOf(numbers[at]!))) === folded) found.push(numbers[at]!);
      }
    }
    return found.sort((a, b) => a - b);
  }

  /** Puts the units of the folded key of a node into `#units`; returns how many they are. */
  #unitsOfKey(number: number): number {
    const { keys } = this.#nodes;
    const size = keys.writeKey(number, this.#bytes, 0);
    return this.#foldPlain(size) ? size : this.#unitsOf(foldKey(keys.keyOf(number) as string));
  }

  #unitsOf(folded: string): number {
    const { length } = folded;
    if (this.#units.length < length) this.#units = new Uint16Array(2 * length);
    for (let at = 0; at < length; at++) this.#units[at] = folded.charCodeAt(at);
    return length;
  }

  /**
   * Folds a key of printable ASCII, with single blanks inside and without a backtick: only its case
   * changes. Returns false for all others. This is what `foldKey` does, without making a string.
   */
  #foldPlain(size: number): boolean {
    let previous = SPACE;
    for (let at = 0; at < size; at++) {
      const byte = this.#bytes[at]!;
      if (byte < SPACE || byte > TILDE || byte === BACKTICK || (byte === SPACE && previous === SPACE)) return false;
      this.#units[at] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
      previous = byte;
    }
    return previous !== SPACE;
  }

  /** HalfSipHash-2-4 of the first `length` units (Aumasson, Bernstein 2012). */
  #hashOf(length: number): number {
    const units = this.#units;
    let v0 = this.#seed[0]!;
    let v1 = this.#seed[1]!;
    let v2 = 0x6c796765 ^ v0;
    let v3 = 0x74656462 ^ v1;
    const last = length >> 1;
    for (let block = 0; block <= last + 1; block++) {
      const isEnd = block > last;
      if (isEnd) v2 ^= 0xff;
      const word = isEnd ? 0 : wordAt(units, length, block);
      v3 ^= word;
      for (let round = isEnd ? 4 : 2; round > 0; round--) {
        v0 = (v0 + v1) | 0;
        v1 = rotated(v1, 5) ^ v0;
        v0 = rotated(v0, 16);
        v2 = (v2 + v3) | 0;
        v3 = rotated(v3, 8) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = rotated(v3, 7) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = rotated(v1, 13) ^ v2;
        v2 = rotated(v2, 16);
      }
      v0 ^= word;
    }
    return (v1 ^ v3) >>> 0;
  }
}

/** Returns two units as a word; the last word has the length and the last odd unit. */
function wordAt(units: Uint16Array, length: number, block: number): number {
  const at = 2 * block;
  if (at + 1 < length) return units[at]! | (units[at + 1]! << 16);
  return (length << 24) | (at < length ? units[at]! : 0);
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
