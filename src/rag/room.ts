// Limits the number of questions that are answered at the same time, because derived facts, edges
// and answers stay in memory until the answer is sent.

import { getHeapStatistics } from 'node:v8';
import { refusal } from '../errors.ts';

/** Heap in bytes that one question may need for its facts, proofs, and the texts of its edges. */
const HEAP_OF_ONE = 64 * 2 ** 20;
const FEWEST = 4;
const MOST = 64;

export class ReasoningRoom {
  readonly #most: number;
  #running = 0;

  constructor(most = Math.min(MOST, Math.max(FEWEST, Math.floor(getHeapStatistics().heap_size_limit / HEAP_OF_ONE)))) {
    this.#most = most;
  }

  get running(): number {
    return this.#running;
  }

  /** Reserves room for one question. The returned function frees the room. Throws `overloaded`. */
  enter(): () => void {
    if (this.#running >= this.#most)
      throw refusal(
        'overloaded',
        `${this.#most} questions are being answered, the most there may be at a time. Try again shortly.`,
      );
    this.#running += 1;
    let isIn = true;
    return () => {
      if (isIn) this.#running -= 1;
      isIn = false;
    };
  }
}
