// Limits attempts that are expensive when they fail: after a failure, further attempts are refused
// for a while without being made.

/** Upper bound on the share of time spent on failing attempts. */
const MOST_PART = 1 / 5;

export class CostlyAttempts<Value> {
  readonly #attempt: () => Value;
  readonly #now: () => number;
  #failure: unknown;
  #untilMs = -Infinity;

  /** `now`: clock in milliseconds. */
  constructor(attempt: () => Value, now: () => number) {
    this.#attempt = attempt;
    this.#now = now;
  }

  /**
   * Throws what the attempt throws, or its recent failure. `insist`: the cause may be gone, so the
   * attempt is made in any case.
   */
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
