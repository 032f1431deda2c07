// Order among asynchronous work: one at a time (Mutex), or a fixed number at once (Semaphore), first come first served.

export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Work that waits. Long work that can be cut looks here. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `work` when all earlier work has ended, well or not. */
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

  /** `places`: how many hold it at once. */
  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` when there is a place for it. Rejects with the signal's reason when that comes first. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.take(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves with what gives the place back, which may be called more than once. Rejects with the signal's reason when that comes first. */
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

  /** Hands the place to the one that has waited longest. */
  #give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
