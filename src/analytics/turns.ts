// Drives long works step by step, in turns, and lets the event loop through in between.

import type { Steps } from '../core/index.ts';

/** Looked at before each step of a work. */
export interface Watch {
  /** Throws what gives the work up. */
  look(): void;
  /** `done`: 0 to 1, never falling. */
  progress?(done: number): void;
}

/** Time all works together take before messages, sockets and timers are looked at. */
const TURN_MS = 5;

export class Turns {
  readonly #now: () => number;
  /** Each does one step; false: it is over. None throws. */
  #works: (() => boolean)[] = [];
  #scheduled = false;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves with the result; rejects with what the work or its watch throws. */
  drive<T>(steps: Steps<T>, watch: Watch): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#works.push(() => {
        try {
          watch.look();
          const step = steps.next();
          if (step.done) {
            resolve(step.value);
            return false;
          }
          watch.progress?.(step.value);
          return true;
        } catch (error) {
          reject(error);
          giveUp(steps);
          return false;
        }
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const end = this.#now() + TURN_MS;
    while (this.#works.length > 0) {
      const work = this.#works.shift()!;
      if (work()) this.#works.push(work);
      if (this.#now() >= end) break;
    }
    this.#scheduled = false;
    if (this.#works.length > 0) this.#schedule();
  }
}

/** Its scratch memory goes back; what that throws comes after the reason for it. */
function giveUp<T>(steps: Steps<T>): void {
  try {
    steps.return(undefined as T);
  } catch {}
}
