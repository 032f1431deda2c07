// How long a call may take: one signal for the caller's own and for the time that is over.

import { timeoutError } from './failure.ts';

/** Timers take no longer times. */
const LONGEST_MS = 2 ** 31 - 1;

export class Patience {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #caller: AbortSignal | undefined;

  /** `times`: milliseconds; the shortest counts, none: no limit. */
  constructor(times: readonly number[], caller: AbortSignal | undefined) {
    const shortestMs = Math.min(...times);
    if (shortestMs <= LONGEST_MS)
      this.#timer = setTimeout(() => this.#controller.abort(timeoutError(shortestMs)), shortestMs);
    this.#caller = caller;
    if (caller?.aborted === true) this.#leave();
    else caller?.addEventListener('abort', this.#leave, { once: true });
  }

  readonly #leave = (): void => this.#controller.abort(this.#caller!.reason);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nothing is to be ended any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#leave);
  }
}
