// The scheduler of a simulation. All work that waits for a later turn of the event loop is queued
// here, and the seed decides what runs next.

import type { Random } from '../support/random.ts';

/** Number of idle turns after which a simulation counts as hung. Streams need a few of them. */
const MOST_IDLE_TURNS = 100_000;

export class SimHang extends Error {}

export class SimLoop {
  readonly #random: Random;
  #tasks: (() => void)[] = [];
  turns = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs the callback in some later turn. */
  readonly defer = (task: () => void): void => {
    this.#tasks.push(task);
  };

  /** Resolves in some later turn. */
  readonly pace = (): Promise<void> => new Promise((resolve) => void this.#tasks.push(resolve));

  /** Forgets the queued work, because its process has ended. */
  forget(): void {
    this.#tasks = [];
  }

  /** Runs one queued task, chosen by the seed, and everything that follows immediately from it. */
  async turn(): Promise<void> {
    const tasks = this.#tasks;
    if (tasks.length > 0) {
      this.turns++;
      const [task] = tasks.splice(tasks.length === 1 ? 0 : this.#random.below(tasks.length), 1);
      task!();
    }
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }

  async turnsOf(count: number): Promise<void> {
    for (let turn = 0; turn < count && this.#tasks.length > 0; turn++) await this.turn();
  }

  /**
   * Runs tasks until `isDone` returns true. Throws SimHang if `isDone` still returns false after
   * many turns in which nothing was queued.
   */
  async until(isDone: () => boolean, what: string): Promise<void> {
    let idle = 0;
    while (!isDone()) {
      idle = this.#tasks.length === 0 ? idle + 1 : 0;
      if (idle > MOST_IDLE_TURNS) throw new SimHang(`it hangs: ${what} never ends`);
      await this.turn();
    }
  }
}
