// Measures the duration of the stages of a pipeline.

import type { Timings } from './request.ts';

export class Stopwatch {
  readonly #now: () => number;
  readonly #start: number;
  #last: number;
  readonly #laps: Timings = { retrieval_ms: 0, reasoning_ms: 0, generation_ms: 0, total_ms: 0 };

  /** `now` returns the milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
    this.#start = now();
    this.#last = this.#start;
  }

  /** Records the time since the last lap as the duration of this stage. */
  lap(stage: keyof Timings): void {
    const now = this.#now();
    this.#laps[stage] = rounded(now - this.#last);
    this.#last = now;
  }

  laps(): Timings {
    return { ...this.#laps, total_ms: this.total() };
  }

  total(): number {
    return rounded(this.#now() - this.#start);
  }
}

/** Rounds milliseconds to whole microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
