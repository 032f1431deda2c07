// How long work may take: one signal for its time and for the signal of its caller.

/** Timers take no longer times. */
const LONGEST_MS = 2 ** 31 - 1;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #endMs: number | undefined;
  readonly #caller: AbortSignal | undefined;

  /** `ms`: from now on; undefined: no limit. `late` makes the reason when it is over. */
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

  /** Milliseconds that are left; undefined: no limit. */
  left(): number | undefined {
    return this.#endMs === undefined ? undefined : Math.max(0, this.#endMs - performance.now());
  }

  /** The work's answer has begun: from now on only its caller ends it. */
  begun(): void {
    clearTimeout(this.#timer);
  }

  /** Nothing is to be ended any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#leave);
  }
}
