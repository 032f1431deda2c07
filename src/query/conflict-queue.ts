// Retries writes that are not part of an explicit transaction and lost a conflict. The first
// attempt runs immediately. Retries run one after another, so that they do not conflict with each
// other.

import type { Database } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';

/**
 * Maximum attempts per write, including the first. A retry conflicts again only if another write
 * commits while the retry runs.
 */
const ATTEMPTS = 20;
/**
 * Maximum time in milliseconds that a retry waits until the commit that it lost against is visible.
 */
const WAIT_MS = 5000;

export class ConflictQueue {
  readonly #database: Database;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Runs `write`, which begins, stages and commits a new transaction on each call. Rejects with the
   * error of `write`; if this is `conflict`, only after `ATTEMPTS` attempts.
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
      // The commit that won may not be on disk yet. Until it is visible, a retry would lose to it
      // again.
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
