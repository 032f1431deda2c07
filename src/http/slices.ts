// Shares the event loop between long work: many tasks take turns, together at most a few milliseconds per turn of the loop.

/** One bounded piece of work (a few ms at most). True: call again; false: finished, or waiting to be added again. Must not throw. */
export type Step = () => boolean;

/** Time all tasks together may take before sockets and timers are looked at again. */
const TURN_MS = 5;

export class SliceQueue {
  readonly #now: () => number;
  #steps: Step[] = [];
  #scheduled = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(step: Step): void {
    this.#steps.push(step);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  /** Runs `step` until it gives false; what it throws rejects the promise. */
  run(step: Step): Promise<void> {
    return new Promise((resolve, reject) => {
      this.add(() => {
        try {
          if (step()) return true;
          resolve();
        } catch (error) {
          reject(error);
        }
        return false;
      });
    });
  }

  readonly #turn = (): void => {
    const end = this.#now() + TURN_MS;
    do {
      const step = this.#steps.shift();
      if (step === undefined) break;
      if (step()) this.#steps.push(step);
    } while (this.#now() < end);
    this.#scheduled = this.#steps.length > 0;
    if (this.#scheduled) setImmediate(this.#turn);
  };
}
