// Transactions by session: at most one each, rolled back when idle (contract section 4, Transactions).

import type { Database, Transaction } from '../engine/index.ts';
import type { Attach } from '../engine/replay-entry.ts';
import { HedgerowError } from '../errors.ts';

/** Open transactions of the service, at most. */
export const MOST_TRANSACTIONS = 100;

export interface OpenTransaction {
  readonly id: string;
  readonly transaction: Transaction;
  /** Epoch seconds at which it is rolled back unless it is used before. */
  expiresAt: number;
  /** A statement of it is running, or its rows are still being read: the next one of the session does not wait, it is refused. Never idle meanwhile. */
  busy: boolean;
}

export interface SessionOptions {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly idleSeconds: number;
  /** A new transaction's identifier. */
  readonly newId: () => string;
}

export class Sessions {
  readonly #options: SessionOptions;
  readonly #open = new Map<string, OpenTransaction>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The session's transaction, used now; undefined: it has none. */
  find(session: string): OpenTransaction | undefined {
    this.sweep();
    const open = this.#open.get(session);
    if (open !== undefined) this.#touch(open);
    return open;
  }

  /** Throws `invalid_statement` when the session has one, `overloaded` when too many are open. */
  begin(session: string): OpenTransaction {
    this.sweep();
    if (this.#open.has(session))
      throw new HedgerowError(
        'invalid_statement',
        'A transaction is open in this session; COMMIT or ROLLBACK ends it.',
      );
    if (this.#open.size >= MOST_TRANSACTIONS)
      throw new HedgerowError(
        'overloaded',
        `${MOST_TRANSACTIONS} transactions are open, the most there may be; try again later.`,
      );
    const open: OpenTransaction = {
      id: this.#options.newId(),
      transaction: this.#options.database.begin({ pinned: true }),
      expiresAt: 0,
      busy: false,
    };
    this.#touch(open);
    this.#open.set(session, open);
    return open;
  }

  /**
   * Commits; the session has none afterwards, whatever comes of it. `attach` is given the transaction's id. Throws (rejects) `invalid_statement` without one,
   * `conflict`.
   */
  async commit(session: string, attach?: Attach<string>): Promise<{ lsn: number; id: string }> {
    const open = this.#ofSession(session, 'COMMIT');
    open.busy = true;
    try {
      const { lsn } = await open.transaction.commit(attach && (() => attach(open.id)));
      return { lsn, id: open.id };
    } finally {
      this.#open.delete(session);
    }
  }

  rollback(session: string): { id: string } {
    const open = this.#ofSession(session, 'ROLLBACK');
    this.#open.delete(session);
    open.transaction.rollback();
    return { id: open.id };
  }

  /** Nothing else of the session runs until the function that comes back is called, and the idle time begins anew then. Throws `conflict`. */
  occupy(open: OpenTransaction): () => void {
    assertIdle(open);
    open.busy = true;
    return () => {
      open.busy = false;
      this.#touch(open);
    };
  }

  #ofSession(session: string, word: string): OpenTransaction {
    this.sweep();
    const open = this.#open.get(session);
    if (open === undefined)
      throw new HedgerowError(
        'invalid_statement',
        `${word} without a transaction; BEGIN opens one (an idle one is rolled back after ${this.#options.idleSeconds} s).`,
      );
    assertIdle(open);
    return open;
  }

  /** Rolls back what has been idle too long. Called now and then by the owner, and before every use. */
  sweep(): void {
    const now = this.#options.now();
    for (const [session, open] of this.#open) {
      if (open.busy || open.expiresAt * 1000 > now) continue;
      this.#open.delete(session);
      open.transaction.rollback();
    }
  }

  close(): void {
    for (const { transaction } of this.#open.values()) transaction.rollback();
    this.#open.clear();
  }

  #touch(open: OpenTransaction): void {
    open.expiresAt = Math.ceil(this.#options.now() / 1000) + this.#options.idleSeconds;
  }
}

/** Throws `conflict` while another statement of the same session runs. */
function assertIdle(open: OpenTransaction): void {
  if (open.busy)
    throw new HedgerowError(
      'conflict',
      'Another statement of this session is still running, or its answer is still being read; send them one after the other.',
    );
}
