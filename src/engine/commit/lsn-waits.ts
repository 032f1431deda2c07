// Implements waiting, with a timeout, until an LSN is visible.

import { assert } from '../../assert.ts';

interface Wait {
  lsn: number;
  /** Deadline on the clock of `nowUs`. */
  deadlineUs: number;
  resolve: (reached: boolean) => void;
}

export interface LsnWaitsOptions {
  /** Monotonic microseconds. */
  nowUs: () => number;
  /**
   * Calls back once after `delayMs` milliseconds. Callbacks cannot be cancelled, so all waits share
   * one timer.
   */
  schedule: (callback: () => void, delayMs: number) => void;
  /** Called with the newest visible LSN before a write up to it is acknowledged. */
  onVisible?: ((lsn: number) => void) | undefined;
}

/**
 * The pending waits. A wait ends when its LSN is reached, when it times out, or when `end` is
 * called. At most one timer is in use, for the earliest deadline.
 */
export class LsnWaits {
  readonly #options: LsnWaitsOptions;
  readonly #waits = new Set<Wait>();
  /** Deadline for which the timer in use was armed; Infinity if there is none. */
  #timerUs = Infinity;
  #ended = false;

  constructor(options: LsnWaitsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with true if `reached` is called with `lsn` or a greater LSN before the timeout, else
   * with false.
   */
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

  /** Reports that reads see `lsn` from now on. */
  visible(lsn: number): void {
    this.#options.onVisible?.(lsn);
  }

  /** Ends the waits for `lsn`. */
  reached(lsn: number): void {
    if (this.#waits.size > 0) this.#settle((wait) => wait.lsn <= lsn, true);
  }

  /**
   * Resolves all waits, now and in future, with false, because no further LSN will be reached.
   */
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
    // A timer with an earlier deadline has replaced this one. When that timer expires, it arms the
    // next.
    if (deadlineUs !== this.#timerUs) return;
    this.#timerUs = Infinity;
    this.#settle((wait) => wait.deadlineUs <= deadlineUs, false);
    let nextUs = Infinity;
    for (const wait of this.#waits) nextUs = Math.min(nextUs, wait.deadlineUs);
    if (nextUs < Infinity) this.#arm(nextUs, Math.max(1, (nextUs - this.#options.nowUs()) / 1000));
  }
}
