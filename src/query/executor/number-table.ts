// Distinct numbers with the places they were first seen at, 0, 1, 2, ...: small integers by themselves, others by open addressing, at most half full.

const FIRST_SLOTS = 64;
/** Integers from 0 on and below it have a place in a table by their value: 4 bytes for each up to the greatest that came. */
const SMALL = 2 ** 21;

const NUMBER = new Float64Array(1);
const HALVES = new Uint32Array(NUMBER.buffer);

/** Of 32 bits. */
function hashOf(value: number): number {
  NUMBER[0] = value;
  let hash = Math.imul(HALVES[0]! ^ Math.imul(HALVES[1]!, 0x9e3779b1), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export class NumberTable {
  /** Number, and place and 1 (0: free), side by side: a look costs one line of the cache. */
  #slots = new Float64Array(2 * FIRST_SLOTS);
  /** How many numbers are in slots. */
  #held = 0;
  /** By small integer: place and 1. */
  #small = new Int32Array(FIRST_SLOTS);
  /** By place. */
  #values = new Float64Array(FIRST_SLOTS);
  #size = 0;

  /** How many places are taken. */
  get size(): number {
    return this.#size;
  }

  /** The number of a place; NaN for one that was only taken. */
  at(place: number): number {
    return this.#values[place]!;
  }

  /** Takes a place that no number has. */
  take(): number {
    return this.#append(Number.NaN);
  }

  #append(value: number): number {
    if (this.#size === this.#values.length) {
      const values = new Float64Array(this.#values.length * 2);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.#size] = value;
    return this.#size++;
  }

  /** The place of a number, a new one when it was not seen before. 0 and -0 are one; never NaN. */
  placeOf(value: number): number {
    const integer = value | 0;
    if (integer === value && integer >= 0 && integer < SMALL) {
      const place = integer < this.#small.length ? this.#small[integer]! : 0;
      return place > 0 ? place - 1 : this.#addSmall(integer);
    }
    return this.#placeOfOther(value);
  }

  #placeOfOther(value: number): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let slot = (hashOf(value) * 2) & mask;
    for (let held = slots[slot + 1]!; held !== 0; held = slots[slot + 1]!) {
      if (slots[slot] === value) return held - 1;
      slot = (slot + 2) & mask;
    }
    if (4 * (this.#held + 1) > slots.length) {
      this.#grow();
      return this.#placeOfOther(value);
    }
    const place = this.#append(value);
    this.#held++;
    slots[slot] = value;
    slots[slot + 1] = place + 1;
    return place;
  }

  #addSmall(value: number): number {
    if (value >= this.#small.length) {
      const small = new Int32Array(Math.max(value + 1, 2 * this.#small.length));
      small.set(this.#small);
      this.#small = small;
    }
    const place = this.#append(value);
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

  #grow(): void {
    const old = this.#slots;
    const slots = new Float64Array(old.length * 2);
    const mask = slots.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      let slot = (hashOf(old[from]!) * 2) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[from]!;
      slots[slot + 1] = old[from + 1]!;
    }
    this.#slots = slots;
  }
}
