// One after the other: runs asynchronous work in the order it came.

export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Work that waits for its turn. Long work that can be cut looks here. */
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
