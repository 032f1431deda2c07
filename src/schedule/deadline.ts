// Limits how long work may take: one signal that combines a time limit with the caller's signal.

/** Longest delay that timers support, in milliseconds. The signal ignores longer limits. */
const LONGEST_MS = 2 ** 31 - 1;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #endMs: number | undefined;
  readonly #caller: AbortSignal | undefined;

  /**
   * `ms` is the time limit from now; undefined means no limit. `late` returns the abort reason when
   * the limit expires.
   */
  constructor(ms: number | undefined, late: (ms: number) => Error, caller?: AbortSignal) {
    if (ms !== undefined && ms <= LONGEST_MS)
      this.#timer = setTimeout(() => this.#controller.abort(late(ms)), Math.max(0, ms));
    this.#endMs = ms === undefined ? undefined : performance.now() + ms;
    this.#caller = caller;
    if (caller?.aborted === true) this.#leave();
    else caller?.addEventListener('abort', this.#leave, { once: true });
  }

  readonly #leave = (): void => this.#controller.abort(this.#caller!.reason);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the milliseconds left, or undefined if there is no limit. */
  left(): number | undefined {
    return this.#endMs === undefined ? undefined : Math.max(0, this.#endMs - performance.now());
  }

  /**
   * Must be called when the answer has begun: from then on only the caller's signal can abort the
   * work.
   */
  begun(): void {
    clearTimeout(this.#timer);
  }

  /** Releases the timer and the listener when the signal is no longer needed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#leave);
  }
}
