// Limits attempts that are expensive when they fail: for some time after a failure, further
// attempts are refused without being made.

/** Upper bound on the share of time that failing attempts take. */
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
   * Makes the attempt. Throws what the attempt throws; soon after a failure, throws that failure
   * again without a new attempt. If `insist` is true, makes the attempt in any case, because the
   * cause of the failure may have been removed.
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
