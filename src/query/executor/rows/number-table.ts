// Distinct numbers with the places they were first seen at, 0, 1, 2, ...: small integers by themselves, others by open addressing, at most half full.

import { GrowingNumbers } from '../folds/growing-numbers.ts';

const FIRST_SLOTS = 64;
/** A table of more numbers is cut into parts that grow by themselves: to move a million numbers at once would be felt. */
const WHOLE_NUMBERS = 16_384;
const PARTS = 64;
/** Places that room is made for at a time. */
const RESERVED_AT_ONCE = 1024;
const PART_SHIFT = 26;
/** Integers from 0 on and below it may have a place in a table by their value: 4 bytes for each up to the greatest of them. */
const SMALL = 2 ** 21;
/**
 * That table is not made longer than as many times the numbers there are: one number alone would take megabytes, and a
 * statement may have some thousand tables. A greater number is in the slots.
 */
const SMALL_FOR_EACH = 8;

const NUMBER = new Float64Array(1);
const HALVES = new Uint32Array(NUMBER.buffer);

/** Of this process: who chooses numbers cannot choose them so that they fall into the same slots. */
const SEEDS = crypto.getRandomValues(new Int32Array(3));
const SEED = SEEDS[0]!;
const FACTOR = SEEDS[1]! | 1;
const LAST_FACTOR = SEEDS[2]! | 1;

/** Of 32 bits. */
function hashOf(value: number): number {
  NUMBER[0] = value;
  let hash = Math.imul(HALVES[0]! ^ SEED, FACTOR);
  hash = Math.imul(hash ^ (hash >>> 15) ^ HALVES[1]!, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), LAST_FACTOR);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A quarter of the slots to a half of them: parts hold about as many numbers each, and should not grow at the same moment. */
function mostOf(slots: number, part: number): number {
  return Math.floor((slots * (PARTS + part + 1)) / (4 * PARTS));
}

export class NumberTable {
  /** Of each part: number, and place and 1 (0: free), side by side: a look costs one line of the cache. */
  #slots = [new Float64Array(2 * FIRST_SLOTS)];
  #slotBytes = this.#slots[0]!.byteLength;
  /** How many numbers are in the slots of each part, and how many may be. */
  #held = [0];
  #most = [FIRST_SLOTS / 2];
  /** By small integer: place and 1; 0: it may be in the slots, if #hasStrays. */
  #small = new Int32Array(FIRST_SLOTS);
  /** Whether small integers are in the slots. */
  #hasStrays = false;
  /** By place. */
  readonly #values = new GrowingNumbers();
  #size = 0;
  /** Places that there is room for. */
  #reserved = 0;

  /** How many places are taken. */
  get size(): number {
    return this.#size;
  }

  /** That it takes. */
  get bytes(): number {
    return this.#slotBytes + this.#small.byteLength + this.#values.bytes;
  }

  /** The number of a place; NaN for one that was only taken. */
  at(place: number): number {
    return this.#values.values[place]!;
  }

  /** Takes a place that no number has. */
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

  /** The place of a number; -1: it was not seen. Never NaN. */
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

  /** The place of a number, a new one when it was not seen before. 0 and -0 are one; never NaN. */
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

  /** The place of a small integer that the table of those does not have. */
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

  /** The places of many numbers; where `nulls` is 1 that of null. Neighbours are often equal. */
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

  /** A number that is in no slot. */
  #put(value: number, held: number): void {
    const hash = hashOf(value);
    const part = this.#slots.length === 1 ? 0 : hash >>> PART_SHIFT;
    // Parts are never equally full.
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
