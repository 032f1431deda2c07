// Generates seeded random numbers (mulberry32), the same as test/support/random.ts, for processes
// that run without a TypeScript loader.

export class Draws {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  below(limit) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}
