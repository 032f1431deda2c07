// The part of an open database that http/ itself uses. The engine's `Database` implements it, and
// any other store that numbers its writes may implement it too.

import type { AnswerToKeep, KeptAnswer } from '../model/kept-answer.ts';

/** Keeps the answers of writes that carried an Idempotency-Key. */
export interface AnswerStore {
  /**
   * Returns the durable answer stored under `id`. Throws `answers_damaged` if there is no answer
   * but one may have been lost.
   */
  find(id: string): KeptAnswer | undefined;
  /** Resolves when the answer is durable. */
  store(entry: AnswerToKeep): Promise<void>;
  /**
   * Returns the time for a new answer in epoch milliseconds, which is never before the time of an
   * older answer.
   */
  time(): number;
}

export interface DatabasePort {
  /** The log position that readers see now. */
  readonly lastLsn: number;
  readonly replays: AnswerStore;
  /** Resolves with true when readers see `lsn`, with false after `timeoutMs` milliseconds. */
  whenVisible(lsn: number, timeoutMs: number): Promise<boolean>;
}
