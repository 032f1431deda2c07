// Locks for asynchronous work: one holder at a time (Mutex) or a fixed number (Semaphore), first
// come, first served.

export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Number of waiting callers. Long work that can be split checks this number to let them in. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `work` once all earlier work has settled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const begin = () => {
      this.#waiting--;
      return work();
    };
    const result = this.#tail.then(begin, begin);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `places`: number of concurrent holders. */
  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` once a place is free. Rejects with the signal's reason if it aborts first. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.take(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Resolves with a function that releases the place; calling it more than once is harmless.
   * Rejects with the signal's reason if it aborts first.
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isOver = false;
    return () => {
      if (!isOver) this.#give();
      isOver = true;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal!.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Hands the place to the longest waiting caller. */
  #give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
