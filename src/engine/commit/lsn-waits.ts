// Those who wait, for a limited time, until an LSN can be read.

import { assert } from '../../assert.ts';

interface Wait {
  lsn: number;
  /** On the clock of `nowUs`. */
  deadlineUs: number;
  resolve: (reached: boolean) => void;
}

export interface LsnWaitsOptions {
  /** Monotonic microseconds. */
  nowUs: () => number;
  /** Calls back once after so many milliseconds. It cannot be taken back, so all waits share one call. */
  schedule: (callback: () => void, delayMs: number) => void;
}

/** Waits end when their LSN is reached, when their time is over, or all at once; one timer runs at most for the earliest deadline. */
export class LsnWaits {
  readonly #options: LsnWaitsOptions;
  readonly #waits = new Set<Wait>();
  /** Deadline of the earliest timer that runs. */
  #timerUs = Infinity;
  #ended = false;

  constructor(options: LsnWaitsOptions) {
    this.#options = options;
  }

  /** True when `reached` comes to `lsn` in time. */
  wait(lsn: number, timeoutMs: number): Promise<boolean> {
    if (this.#ended || !(timeoutMs > 0)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const deadlineUs = this.#options.nowUs() + timeoutMs * 1000;
      this.#waits.add({ lsn, deadlineUs, resolve });
      this.#arm(deadlineUs, timeoutMs);
    });
  }

  get size(): number {
    return this.#waits.size;
  }

  reached(lsn: number): void {
    if (this.#waits.size > 0) this.#settle((wait) => wait.lsn <= lsn, true);
  }

  /** Nothing more will be reached. */
  end(): void {
    this.#ended = true;
    this.#settle(() => true, false);
  }

  #settle(chosen: (wait: Wait) => boolean, reached: boolean): void {
    for (const wait of this.#waits) {
      if (!chosen(wait)) continue;
      this.#waits.delete(wait);
      wait.resolve(reached);
    }
  }

  #arm(deadlineUs: number, delayMs: number): void {
    if (deadlineUs >= this.#timerUs) return;
    assert(deadlineUs < this.#timerUs, 'the one timer is for the earliest deadline');
    this.#timerUs = deadlineUs;
    this.#options.schedule(() => this.#expire(deadlineUs), delayMs);
  }

  #expire(deadlineUs: number): void {
    // An earlier deadline took this timer's place, and set the next one itself.
    if (deadlineUs !== this.#timerUs) return;
    this.#timerUs = Infinity;
    this.#settle((wait) => wait.deadlineUs <= deadlineUs, false);
    let nextUs = Infinity;
    for (const wait of this.#waits) nextUs = Math.min(nextUs, wait.deadlineUs);
    if (nextUs < Infinity) this.#arm(nextUs, Math.max(1, (nextUs - this.#options.nowUs()) / 1000));
  }
}
