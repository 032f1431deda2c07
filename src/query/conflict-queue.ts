// Retries writes outside of explicit transactions that lost a conflict. The first attempt runs at
// once; retries run one after another, so that every one of them gets through.

import type { Database } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';

/**
 * Attempts per write, the first one included. Every retry can lose only to a commit newer than its
 * own snapshot.
 */
const ATTEMPTS = 20;
/** Milliseconds that a retry waits for the commit it lost against to become visible. */
const WAIT_MS = 5000;

export class ConflictQueue {
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * `write` begins, stages and commits a new transaction on each call. Throws what `write` throws;
   * `conflict` only after `ATTEMPTS` attempts.
   */
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
      // The winning commit may still be on its way to disk; until it is visible, a retry would lose
      // to it again.
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
