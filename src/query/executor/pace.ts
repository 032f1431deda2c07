// Adapts the size of a statement's steps to how long its steps take.
//
// The weight of an expression (batch-size.ts) says what it costs once its code is compiled and the
// machine is free. Code that runs for the first time is some twenty times slower, memory may be
// short, and a weight may be wrong. So a statement begins with small steps, doubles them while they
// are short, and makes them smaller as soon as one is long.

/** Share of a full step that a statement begins with. */
const FIRST_SHARE = 1 / 8;
const LEAST_SHARE = 1 / 64;
/** Steps shorter than this are doubled, in microseconds. */
const SHORT_US = 2_000;
/** Steps longer than this are cut to about this length. */
const LONG_US = 5_000;

export class Pace {
  #share = FIRST_SHARE;

  /** Share of a full step that the next step may take: from 1/64 to 1. */
  get share(): number {
    return this.#share;
  }

  /** `us`: duration of the last step in microseconds. */
  ended(us: number): void {
    if (us < SHORT_US) this.#share = Math.min(1, 2 * this.#share);
    else if (us > LONG_US) this.#share = Math.max(LEAST_SHARE, (this.#share * LONG_US) / us);
  }
}
