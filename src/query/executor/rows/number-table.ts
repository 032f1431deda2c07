// Assigns places 0, 1, 2, ... to distinct numbers, in the order in which they first occur.
//
// Small integers are looked up directly, by value, in an array. All other numbers are in a hash
// table with open addressing, at most half full, whose slots contain the number and its place + 1
// side by side. Above 8,192 numbers it is split into 64 parts by the upper bits of the hash. The
// parts grow independently and at different times, so that no single step moves very many numbers.
//
// Invariant: each number is in the array or in the slots, and `#values[place]` is the number with
// this place. A small integer may be in both: it was put into the slots ("stray") while the array
// would have been too sparse for it. Both then contain the same place.

import { GrowingNumbers } from '../folds/growing-numbers.ts';

const FIRST_SLOTS = 64;
/**
 * With more numbers than this, the hash table is split into parts: moving a million numbers at once
 * would block other work for too long.
 */
const WHOLE_NUMBERS = 8192;
const PARTS = 64;
/** Number of places for which room is made at once. */
const RESERVED_AT_ONCE = 1024;
const PART_SHIFT = 26;
/**
 * Integers from 0 up to this (exclusive) may be looked up by value in the array. The array takes 4
 * bytes for each integer up to the greatest one in it.
 */
const SMALL = 2 ** 21;
/**
 * The array is extended for an integer only if the integer is below this many times the count of
 * numbers; otherwise the integer is put into the slots. Without this limit a single integer could
 * take megabytes, and a statement may have some thousand tables.
 */
const SMALL_FOR_EACH = 8;

const NUMBER = new Float64Array(1);
const HALVES = new Uint32Array(NUMBER.buffer);

/** Random values for each process, so that clients cannot choose numbers that collide. */
const SEEDS = crypto.getRandomValues(new Int32Array(3));
const SEED = SEEDS[0]!;
const FACTOR = SEEDS[1]! | 1;
const LAST_FACTOR = SEEDS[2]! | 1;

/** Returns a 32-bit hash. */
function hashOf(value: number): number {
  NUMBER[0] = value;
  let hash = Math.imul(HALVES[0]! ^ SEED, FACTOR);
  hash = Math.imul(hash ^ (hash >>> 15) ^ HALVES[1]!, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), LAST_FACTOR);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Returns the maximum count of numbers in a part, from a quarter to half of its slots. The parts
 * hold about equally many numbers, so different maxima keep them from all growing at the same
 * moment.
 */
function mostOf(slots: number, part: number): number {
  return Math.floor((slots * (PARTS + part + 1)) / (4 * PARTS));
}

export class NumberTable {
  /**
   * The slots of each part. A slot is a number followed by its place + 1 (0: the slot is free).
   * Both are adjacent, so that a lookup reads one cache line.
   */
  #slots = [new Float64Array(2 * FIRST_SLOTS)];
  #slotBytes = this.#slots[0]!.byteLength;
  /**
   * The count of numbers in the slots of each part, and the maximum count before the part grows.
   */
  #held = [0];
  #most = [FIRST_SLOTS / 2];
  /**
   * Place + 1 for each small integer. 0: the integer did not occur or, if `#hasStrays` is true, may
   * be in the slots.
   */
  #small = new Int32Array(FIRST_SLOTS);
  /** True if there are small integers in the slots. */
  #hasStrays = false;
  /** Numbers by place. */
  readonly #values = new GrowingNumbers();
  #size = 0;
  /** Places for which there is room. */
  #reserved = 0;

  /** Number of places in use. */
  get size(): number {
    return this.#size;
  }

  /** Memory in bytes. */
  get bytes(): number {
    return this.#slotBytes + this.#small.byteLength + this.#values.bytes;
  }

  /** Returns the number with this place, or NaN if the place was reserved by `take`. */
  at(place: number): number {
    return this.#values.values[place]!;
  }

  /** Reserves a place that belongs to no number. */
  take(): number {
    return this.#append(Number.NaN);
  }

  #append(value: number): number {
    if (this.#size === this.#reserved) {
      this.#reserved += RESERVED_AT_ONCE;
      this.#values.reserve(this.#reserved);
    }
    this.#values.values[this.#size] = value;
    return this.#size++;
  }

  /** Returns the place of a number, or -1 if it did not occur. The number must not be NaN. */
  find(value: number): number {
    const integer = value | 0;
    if (integer === value && integer >= 0 && integer < SMALL) {
      const held = integer < this.#small.length ? this.#small[integer]! : 0;
      if (held > 0) return held - 1;
      if (!this.#hasStrays) return -1;
    }
    return this.#findOther(value);
  }

  #findOther(value: number): number {
    const hash = hashOf(value);
    const slots = this.#slots[this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT]!;
    const mask = slots.length - 2;
    let slot = (hash * 2) & mask;
    for (let held = slots[slot + 1]!; held !== 0; held = slots[slot + 1]!) {
      if (slots[slot] === value) return held - 1;
      slot = (slot + 2) & mask;
    }
    return -1;
  }

  /**
   * Returns the place of a number, which is a new place if the number did not occur before. 0 and
   * -0 have the same place. The number must not be NaN.
   */
  placeOf(value: number): number {
    const integer = value | 0;
    if (integer === value && integer >= 0 && integer < SMALL) {
      const place = integer < this.#small.length ? this.#small[integer]! : 0;
      return place > 0 ? place - 1 : this.#placeOfSmall(integer);
    }
    return this.#placeOfOther(value);
  }

  #placeOfOther(value: number): number {
    const hash = hashOf(value);
    const part = this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT;
    const slots = this.#slots[part]!;
    const mask = slots.length - 2;
    let slot = (hash * 2) & mask;
    for (let held = slots[slot + 1]!; held !== 0; held = slots[slot + 1]!) {
      if (slots[slot] === value) return held - 1;
      slot = (slot + 2) & mask;
    }
    if (this.#held[part]! >= this.#most[part]!) {
      this.#grow(part);
      return this.#placeOfOther(value);
    }
    const place = this.#append(value);
    this.#held[part]!++;
    slots[slot] = value;
    slots[slot + 1] = place + 1;
    return place;
  }

  /** Returns the place of a small integer that is not in the array. */
  #placeOfSmall(value: number): number {
    if (value >= this.#small.length) {
      if (value >= SMALL_FOR_EACH * this.#size) {
        this.#hasStrays = true;
        return this.#placeOfOther(value);
      }
      const small = new Int32Array(Math.max(value + 1, 2 * this.#small.length));
      small.set(this.#small);
      this.#small = small;
    }
    const known = this.#hasStrays ? this.#findOther(value) : -1;
    const place = known === -1 ? this.#append(value) : known;
    this.#small[value] = place + 1;
    return place;
  }

  /**
   * Writes the place of each number to `places`, or `ofNull()` where `nulls` is 1. Equal neighbours
   * are looked up only once, because they are frequent.
   */
  placesOf(numbers: Float64Array, nulls: Uint8Array | undefined, ofNull: () => number, places: Uint32Array): void {
    let last = Number.NaN;
    let place = 0;
    for (let i = 0, end = places.length; i < end; i++) {
      if (nulls !== undefined && nulls[i] === 1) {
        places[i] = ofNull();
        continue;
      }
      const value = numbers[i]!;
      if (value !== last) {
        place = this.placeOf(value);
        last = value;
      }
      places[i] = place;
    }
  }

  #grow(part: number): void {
    const old = this.#slots[part]!;
    this.#slotBytes -= old.byteLength;
    if (this.#slots.length === 1 && this.#held[0]! >= WHOLE_NUMBERS) {
      const room = (4 * old.length) / PARTS;
      this.#slots = Array.from({ length: PARTS }, () => new Float64Array(room));
      this.#slotBytes += PARTS * this.#slots[0]!.byteLength;
      this.#held = new Array<number>(PARTS).fill(0);
      this.#most = Array.from({ length: PARTS }, (_, index) => mostOf(room / 2, index));
    } else {
      this.#slots[part] = new Float64Array(old.length * 2);
      this.#slotBytes += this.#slots[part]!.byteLength;
      this.#held[part] = 0;
      this.#most[part] = this.#slots.length === 1 ? old.length / 2 : mostOf(old.length, part);
    }
    for (let from = 0; from < old.length; from += 2) if (old[from + 1] !== 0) this.#put(old[from]!, old[from + 1]!);
  }

  /** Inserts a number that is not in the slots. */
  #put(value: number, held: number): void {
    const hash = hashOf(value);
    const part = this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT;
    // The parts fill at different rates, so this part may be full already.
    if (this.#held[part]! >= this.#most[part]!) this.#grow(part);
    const slots = this.#slots[part]!;
    const mask = slots.length - 2;
    let slot = (hash * 2) & mask;
    while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
    slots[slot] = value;
    slots[slot + 1] = held;
    this.#held[part]!++;
  }
}
