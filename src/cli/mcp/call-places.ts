// Limits how many calls run at the same time; the others wait in the order in which they came.

/** Calls at the same time, so that a client that asks thousands of things at once is answered one after the other. */
export const MOST_AT_ONCE = 16;

export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number = MOST_AT_ONCE) {
    this.#free = count;
  }

  /** Rejects with the reason of the signal when it is aborted before there is a place. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** The place goes to who waits longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
