// One attempt to send a call and receive its answer. It ends when the caller's signal aborts, or
// when its time limit passes. While a stream is read, the limit applies to the wait for each chunk.
//
// `fetch` gets the attempt's signal, but that is not enough: the fetch of Node (undici) holds what
// listens to the signal weakly, and once the garbage collector has run, as it does while an answer
// takes long, the signal no longer has an effect. So whatever waits for `fetch` also waits for the
// signal itself: with `untilEnd`, or in `readAhead`.

export class Attempt {
  /** True once the time limit has passed. */
  timedOut = false;
  /** Address of the server to which the request was sent last. */
  url = '';
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

  /**
   * Settles as `work` does, or rejects with the signal's reason if the attempt ends before that.
   */
  untilEnd<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    // The listener stays: the signal lives no longer than the attempt.
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      work.then(resolve, reject);
    });
  }

  /** Ends the attempt; data that arrives later is discarded. */
  end(): void {
    this.pause();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }

  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
}
