// Picks one in 16 answers at random, in a way that clients cannot predict.

/** One call in this many is picked. */
const ONE_OF = 16;

export class Sample {
  #state: number;

  /** `seed` is random. */
  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns true for one in 16 calls. */
  next(): boolean {
    // A linear congruential generator; its high bits are random enough.
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) | 0;
    return this.#state >>> 0 < 2 ** 32 / ONE_OF;
  }
}
