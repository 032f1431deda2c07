// Adapts the size of a statement's steps to the time that they take.
//
// The weight of an expression (batch-size.ts) is its cost when the code has been compiled and the
// machine is not busy. Code that runs for the first time is about twenty times slower, memory may
// be short, and a weight may be wrong. So a statement begins with small steps, doubles them while
// they are short, and makes them smaller as soon as one is long.

/** The share of a full step with which a statement begins. */
const FIRST_SHARE = 1 / 8;
const LEAST_SHARE = 1 / 64;
/**
 * After a step shorter than this (in microseconds), the next one is twice as large, up to a full
 * step.
 */
const SHORT_US = 2_000;
/** After a step longer than this, the next one is reduced so that it takes about this long. */
const LONG_US = 4_000;

export class Pace {
  #share = FIRST_SHARE;
  /**
   * The longest step since the share was last taken, in microseconds; negative if none has ended.
   */
  #longestUs = -1;

  /**
   * Returns the share of a full step that the next rows may take, from 1/64 to 1. The rows may pass
   * through several operators, each in a step of its own. The share grows only if all of these
   * steps were short, since a short one says nothing about the others.
   */
  take(): number {
    if (this.#longestUs >= 0 && this.#longestUs < SHORT_US) this.#share = Math.min(1, 2 * this.#share);
    this.#longestUs = -1;
    return this.#share;
  }

  /** `us` is the duration of the last step in microseconds. */
  ended(us: number): void {
    this.#longestUs = Math.max(this.#longestUs, us);
    if (us > LONG_US) this.#share = Math.max(LEAST_SHARE, (this.#share * LONG_US) / us);
  }
}
