// Assigns places 0, 1, 2, ... to distinct lists of numbers, in the order in which they first occur.
//
// The numbers of all lists are stored one after another in one array: the list with place p is
// `numbers[starts[p]]` up to `numbers[starts[p + 1]]`, exclusive. So a million lists are three
// arrays and not a million objects, which garbage collection would have to move.
//
// A hash table with open addressing, at most half full, finds the place of a list. A slot contains
// the list's hash and its place + 1. Above 8,192 lists the table is split into 64 parts by the
// upper bits of the hash, which grow at different times, as in number-table.ts.

import { GrowingNumbers } from '../folds/growing-numbers.ts';

const FIRST_SLOTS = 64;
const WHOLE_LISTS = 8192;
const PARTS = 64;
const PART_SHIFT = 26;
/** Number of lists or numbers for which room is made at once. */
const RESERVED_AT_ONCE = 1024;
/** The size that `bytes` gives for an empty table. */
const FIRST_BYTES = 2 * FIRST_SLOTS * Uint32Array.BYTES_PER_ELEMENT;

const NUMBER = new Float64Array(1);
const HALVES = new Uint32Array(NUMBER.buffer);

/** Random values for each process, so that clients cannot choose lists that collide. */
const SEEDS = crypto.getRandomValues(new Int32Array(3));
const SEED = SEEDS[0]!;
const FACTOR = SEEDS[1]! | 1;
const LAST_FACTOR = SEEDS[2]! | 1;

/** Returns a 32-bit hash. */
function hashOf(list: readonly number[]): number {
  let hash = SEED ^ list.length;
  for (let i = 0; i < list.length; i++) {
    // Adding 0 makes 0 of -0, which is the same number.
    NUMBER[0] = list[i]! + 0;
    hash = Math.imul(hash ^ HALVES[0]!, FACTOR);
    hash = Math.imul(hash ^ (hash >>> 15) ^ HALVES[1]!, 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash, LAST_FACTOR);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the maximum count of lists in a part, from a quarter to half of its slots. */
function mostOf(slots: number, part: number): number {
  return Math.floor((slots * (PARTS + part + 1)) / (4 * PARTS));
}

export class ListTable {
  /** The slots of each part: pairs of a hash and a place + 1 (0: the slot is free). */
  #slots = [new Uint32Array(2 * FIRST_SLOTS)];
  #slotBytes = FIRST_BYTES;
  /** The count of lists in each part, and the maximum count before the part grows. */
  #held = [0];
  #most = [FIRST_SLOTS / 2];
  readonly #starts = new GrowingNumbers();
  readonly #numbers = new GrowingNumbers();
  #size = 0;
  /** Number of numbers in all lists. */
  #used = 0;
  /** Places and numbers for which there is room. */
  #reservedPlaces = 0;
  #reservedNumbers = 0;

  /** Number of places in use. */
  get size(): number {
    return this.#size;
  }

  /** Memory in bytes. */
  get bytes(): number {
    return this.#slotBytes + this.#starts.bytes + this.#numbers.bytes;
  }

  /** Returns the list with this place, or an empty list if the place was reserved by `take`. */
  at(place: number): number[] {
    const { values: starts } = this.#starts;
    const { values: numbers } = this.#numbers;
    const start = starts[place]!;
    const list = new Array<number>(starts[place + 1]! - start);
    for (let i = 0; i < list.length; i++) list[i] = numbers[start + i]!;
    return list;
  }

  /** Reserves a place that belongs to no list. */
  take(): number {
    return this.#append([]);
  }

  /** Returns the place of a list, or -1 if it did not occur. No number may be NaN. */
  find(list: readonly number[]): number {
    const hash = hashOf(list);
    const slots = this.#slots[this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT]!;
    const slot = this.#slotOf(list, hash, slots);
    return slots[slot + 1]! - 1;
  }

  /**
   * Returns the place of a list, which is a new place if the list did not occur before. No number
   * may be NaN.
   */
  placeOf(list: readonly number[]): number {
    const hash = hashOf(list);
    for (;;) {
      const part = this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT;
      const slots = this.#slots[part]!;
      const slot = this.#slotOf(list, hash, slots);
      if (slots[slot + 1] !== 0) return slots[slot + 1]! - 1;
      if (this.#held[part]! < this.#most[part]!) {
        const place = this.#append(list);
        this.#held[part]!++;
        slots[slot] = hash;
        slots[slot + 1] = place + 1;
        return place;
      }
      this.#grow(part);
    }
  }

  /** Returns the slot of a list, or the free slot into which it belongs. */
  #slotOf(list: readonly number[], hash: number, slots: Uint32Array): number {
    const mask = slots.length - 2;
    let slot = (hash * 2) & mask;
    for (let held = slots[slot + 1]!; held !== 0; held = slots[slot + 1]!) {
      if (slots[slot] === hash && this.#equals(held - 1, list)) break;
      slot = (slot + 2) & mask;
    }
    return slot;
  }

  #equals(place: number, list: readonly number[]): boolean {
    const { values: starts } = this.#starts;
    const { values: numbers } = this.#numbers;
    const start = starts[place]!;
    if (starts[place + 1]! - start !== list.length) return false;
    for (let i = 0; i < list.length; i++) if (numbers[start + i] !== list[i]) return false;
    return true;
  }

  #append(list: readonly number[]): number {
    if (this.#size === this.#reservedPlaces) {
      this.#reservedPlaces += RESERVED_AT_ONCE;
      this.#starts.reserve(this.#reservedPlaces + 1);
    }
    if (this.#used + list.length > this.#reservedNumbers) {
      this.#reservedNumbers = this.#used + list.length + RESERVED_AT_ONCE;
      this.#numbers.reserve(this.#reservedNumbers);
    }
    const { values: numbers } = this.#numbers;
    for (let i = 0; i < list.length; i++) numbers[this.#used + i] = list[i]!;
    this.#used += list.length;
    const place = this.#size++;
    this.#starts.values[place + 1] = this.#used;
    return place;
  }

  #grow(part: number): void {
    const old = this.#slots[part]!;
    this.#slotBytes -= old.byteLength;
    if (this.#slots.length === 1 && this.#held[0]! >= WHOLE_LISTS) {
      const room = (4 * old.length) / PARTS;
      this.#slots = Array.from({ length: PARTS }, () => new Uint32Array(room));
      this.#slotBytes += PARTS * this.#slots[0]!.byteLength;
      this.#held = new Array<number>(PARTS).fill(0);
      this.#most = Array.from({ length: PARTS }, (_, index) => mostOf(room / 2, index));
    } else {
      this.#slots[part] = new Uint32Array(old.length * 2);
      this.#slotBytes += this.#slots[part]!.byteLength;
      this.#held[part] = 0;
      this.#most[part] = this.#slots.length === 1 ? old.length / 2 : mostOf(old.length, part);
    }
    for (let from = 0; from < old.length; from += 2) if (old[from + 1] !== 0) this.#put(old[from]!, old[from + 1]!);
  }

  /** Inserts a list that is not in the slots. */
  #put(hash: number, held: number): void {
    const part = this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT;
    // The parts fill at different rates, so this part may be full already.
    if (this.#held[part]! >= this.#most[part]!) this.#grow(part);
    const slots = this.#slots[part]!;
    const mask = slots.length - 2;
    let slot = (hash * 2) & mask;
    while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
    slots[slot] = hash;
    slots[slot + 1] = held;
    this.#held[part]!++;
  }
}
