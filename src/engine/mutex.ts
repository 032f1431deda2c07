// One after the other: runs asynchronous work in the order it came.

export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all earlier work has ended, well or not. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work, work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
