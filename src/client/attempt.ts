// One attempt to send a call and receive its answer. It ends when the caller's signal aborts, or
// when its time limit passes. While a stream is read, the limit applies to the wait for each chunk.

export class Attempt {
  /** True once the time limit has passed. */
  timedOut = false;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timeoutMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts the clock. A `timeoutMs` of 0 means no limit. */
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

  /** Starts the clock again, with the whole time limit. */
  restart(): void {
    this.pause();
    if (this.#timeoutMs === 0) return;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      this.#controller.abort();
    }, this.#timeoutMs);
  }

  /** Stops the clock while the caller works on what has arrived. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the attempt; data that arrives later is discarded. */
  end(): void {
    this.pause();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }

  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
}
