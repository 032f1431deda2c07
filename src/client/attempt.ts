// One try of a call: ends when the caller's signal says so, or when nothing has come for too long.

export class Attempt {
  /** The time was over. */
  timedOut = false;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `timeoutMs` 0: no limit. The clock runs from now on. */
  constructor(outer: AbortSignal | undefined, timeoutMs: number) {
    this.#outer = outer;
    this.#timeoutMs = timeoutMs;
    if (outer?.aborted === true) this.#controller.abort(outer.reason);
    outer?.addEventListener('abort', this.#abort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something has come: the clock starts again. */
  restart(): void {
    this.pause();
    if (this.#timeoutMs === 0) return;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      this.#controller.abort();
    }, this.#timeoutMs);
  }

  /** The next move is the caller's: no clock runs. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Over: what the connection still brings is not wanted. */
  end(): void {
    this.pause();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }

  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
}
