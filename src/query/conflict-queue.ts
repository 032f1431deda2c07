// Writes that nobody began a transaction for: run again when another commit was faster, one after the other so that all come through.

import type { Database } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';

/** How often a write is tried: each time it lost against one that was new. */
const ATTEMPTS = 20;
/** How long it waits for the commit that it lost against. */
const WAIT_MS = 5000;

export class ConflictQueue {
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  /** `write` begins, stages and commits anew each time it is called. Throws what it throws, `conflict` when it loses again and again. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    const turn = this.#last.then(() => this.#again(write));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #again<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 2; ; attempt++) {
      // A commit on its way to the disk has won already, and is not seen yet.
      await this.#database.whenVisible(this.#database.headLsn, WAIT_MS);
      try {
        return await write();
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof HedgerowError && error.code === 'conflict';
}
