// Attempts that may fail at a price: after one that failed, others are refused for a while without being made.

/** A failed attempt takes this part of the time at most. */
const MOST_PART = 1 / 5;

export class CostlyAttempts<Value> {
  readonly #attempt: () => Value;
  readonly #now: () => number;
  #failure: unknown;
  #untilMs = -Infinity;

  /** `now`: milliseconds. */
  constructor(attempt: () => Value, now: () => number) {
    this.#attempt = attempt;
    this.#now = now;
  }

  /** Throws what the attempt throws, or threw a moment ago. `insist`: the reason may be gone, so it is made in any case. */
  make(insist: boolean): Value {
    const began = this.#now();
    if (!insist && began < this.#untilMs) throw this.#failure;
    try {
      return this.#attempt();
    } catch (error) {
      const ended = this.#now();
      this.#failure = error;
      this.#untilMs = ended + (ended - began) * (1 / MOST_PART - 1);
      throw error;
    }
  }
}
