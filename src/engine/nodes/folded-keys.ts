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
import type { Steps } from '../../schedule/steps.ts';
import type { NodeDirectory } from './node-directory.ts';

/** Number of keys that one step adds, which takes about a millisecond. */
const STEP_KEYS = 500;
const LEAST_SLOTS = 1024;
const BYTES_PER_SLOT = 8;
/** Numbers without a live node that are looked at again. */
const MOST_PENDING = 65_536;

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
  /** Numbers below `#next` that were not live when they were looked at: they may become live. */
  #pending: number[] = [];
  #longest = 0;

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
    const waiting = this.#pending;
    this.#pending = [];
    for (const number of waiting) this.#addIfLive(number);
    while (this.#next < this.#nodes.nextNumber) {
      const end = Math.min(this.#nodes.nextNumber, this.#next + STEP_KEYS);
      while (this.#next < end) this.#addIfLive(this.#next++);
      yield undefined;
    }
  }

  #addIfLive(number: number): void {
    const { keys } = this.#nodes;
    if (keys.isLive(number)) this.#add(number, keys.keyOf(number)!);
    else if (!this.#nodes.isDead(number) && this.#pending.length < MOST_PENDING) this.#pending.push(number);
  }

  #add(number: number, key: string | number): void {
    // Integers are found by their digits.
    if (typeof key === 'number') return;
    const folded = foldKey(key);
    this.#longest = Math.max(this.#longest, folded.length);
    const table = this.#tableWithRoom();
    const hash = this.#hashOf(folded);
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
    const hash = this.#hashOf(folded);
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

  /** HalfSipHash-2-4 of the UTF-16 units of a text (Aumasson, Bernstein 2012). */
  #hashOf(text: string): number {
    let v0 = this.#seed[0]!;
    let v1 = this.#seed[1]!;
    let v2 = 0x6c796765 ^ v0;
    let v3 = 0x74656462 ^ v1;
    const last = text.length >> 1;
    for (let block = 0; block <= last + 1; block++) {
      const isEnd = block > last;
      if (isEnd) v2 ^= 0xff;
      const word = isEnd ? 0 : wordAt(text, block, block === last);
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

/** Returns two units of a text as a word; the last word has its length and its last odd unit. */
function wordAt(text: string, block: number, isLast: boolean): number {
  const at = 2 * block;
  if (!isLast) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  return (text.length << 24) | (at < text.length ? text.charCodeAt(at) : 0);
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
