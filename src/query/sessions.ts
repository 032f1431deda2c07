// Transactions by session: at most one each, rolled back when idle (contract sections 4 and 12, Transactions).

import type { Attach, Database, Transaction } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';
import type { MemoryPool } from './executor/memory.ts';

/** Open transactions of the service, at most. */
export const MOST_TRANSACTIONS = 100;
/** Of these: of one holder, so that others can always begin. */
export const MOST_TRANSACTIONS_OF_ONE = 90;

/** Sessions whose transaction was rolled back when idle and that have not learned it yet, at most; beyond that the oldest are forgotten. */
const MOST_EXPIRED = 100_000;

export interface OpenTransaction {
  readonly id: string;
  readonly transaction: Transaction;
  /** Whose transactions are counted together (an API key); null: nobody's. */
  readonly holder: string | null;
  /** Epoch seconds at which it is rolled back unless it is used before. */
  expiresAt: number;
  /** Bytes of its staged writes that are counted against the memory of statements. */
  chargedBytes: number;
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
  /** Of all statements. */
  readonly memory: MemoryPool;
}

export class Sessions {
  readonly #options: SessionOptions;
  readonly #open = new Map<string, OpenTransaction>();
  /** By session, in the order they expired: the id of the transaction that was rolled back when idle. */
  readonly #expired = new Map<string, string>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Sessions whose next statement is refused. Not kept across a restart, which ends the connections that would send it. */
  get expired(): number {
    return this.#expired.size;
  }

  /** The session's transaction, used now; undefined: it has none. */
  find(session: string): OpenTransaction | undefined {
    this.sweep();
    const open = this.#open.get(session);
    if (open !== undefined) this.#touch(open);
    return open;
  }

  /**
   * Throws `transaction_expired` when the session's transaction was rolled back when idle. BEGIN and ROLLBACK end that state: until then no statement runs,
   * since its sender believes it to be part of the transaction.
   */
  assertNotExpired(session: string): void {
    const id = this.#expired.get(session);
    if (id === undefined) return;
    throw new HedgerowError(
      'transaction_expired',
      `The transaction of this session was rolled back because no statement came for ${this.#options.idleSeconds} s; nothing of it was kept. BEGIN starts it anew, ROLLBACK goes on without one.`,
      { fields: { transaction_id: id } },
    );
  }

  /** Throws `invalid_statement` when the session has one, `too_many_transactions` when the holder has too many open, `overloaded` when all together have. */
  begin(session: string, holder: string | null): OpenTransaction {
    this.sweep();
    if (this.#open.has(session))
      throw new HedgerowError(
        'invalid_statement',
        'A transaction is open in this session; COMMIT or ROLLBACK ends it.',
      );
    if (holder !== null && this.#openOf(holder) >= MOST_TRANSACTIONS_OF_ONE) throw this.#tooMany();
    if (this.#open.size >= MOST_TRANSACTIONS)
      throw new HedgerowError(
        'overloaded',
        `${MOST_TRANSACTIONS} transactions are open, the most there may be; try again later.`,
      );
    const open: OpenTransaction = {
      id: this.#options.newId(),
      transaction: this.#options.database.begin({ pinned: true }),
      holder,
      expiresAt: 0,
      chargedBytes: 0,
      busy: false,
    };
    this.#touch(open);
    this.#open.set(session, open);
    this.#expired.delete(session);
    return open;
  }

  /**
   * Commits; the session has none afterwards, whatever comes of it. `attach` is given the transaction's id. Throws (rejects) `invalid_statement` without one,
   * `transaction_expired`, `conflict`.
   */
  async commit(session: string, attach?: Attach<string>): Promise<{ lsn: number; id: string }> {
    const open = this.#ofSession(session, 'COMMIT');
    open.busy = true;
    try {
      const { lsn } = await open.transaction.commit(attach && (() => attach(open.id)));
      return { lsn, id: open.id };
    } finally {
      this.#forget(session, open);
    }
  }

  /** Also of a transaction that was rolled back when idle. Throws `invalid_statement` without one, `conflict` while a statement of it runs. */
  rollback(session: string): { id: string } {
    this.sweep();
    const expired = this.#expired.get(session);
    if (expired !== undefined) {
      this.#expired.delete(session);
      return { id: expired };
    }
    const open = this.#ofSession(session, 'ROLLBACK');
    this.#forget(session, open);
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

  /**
   * Counts what a transaction has staged. Throws `query_too_large` when it holds more than a statement may, `overloaded` when all open ones hold half of what
   * all statements may, or there is no more: what was staged last must be taken back then.
   */
  charge(open: OpenTransaction): void {
    const { memory } = this.#options;
    const { statementBytes, totalBytes } = memory.limits;
    const bytes = open.transaction.heldBytes;
    if (bytes > statementBytes)
      throw new HedgerowError(
        'query_too_large',
        `The transaction holds more than ${megabytes(statementBytes)} MB of writes that are not committed. This statement was taken back; COMMIT what came before it and begin another one.`,
      );
    let all = bytes - open.chargedBytes;
    for (const { chargedBytes } of this.#open.values()) all += chargedBytes;
    if (all > totalBytes / 2 || !memory.take(bytes - open.chargedBytes))
      throw new HedgerowError(
        'overloaded',
        'The open transactions hold all the memory there is for writes that are not committed. This statement was taken back; COMMIT, or try again shortly.',
      );
    open.chargedBytes = bytes;
  }

  #forget(session: string, open: OpenTransaction): void {
    if (this.#open.delete(session)) this.#options.memory.take(-open.chargedBytes);
  }

  #openOf(holder: string): number {
    let count = 0;
    for (const open of this.#open.values()) if (open.holder === holder) count += 1;
    return count;
  }

  #tooMany(): HedgerowError {
    const { idleSeconds } = this.#options;
    return refusal(
      'too_many_transactions',
      `${MOST_TRANSACTIONS_OF_ONE} transactions of this key are open, the most one key may have. COMMIT or ROLLBACK some of them; idle ones are rolled back after ${idleSeconds} s.`,
      { fields: { retryAfter: Math.max(1, Math.ceil(idleSeconds)) } },
    );
  }

  #ofSession(session: string, word: string): OpenTransaction {
    this.sweep();
    const open = this.#open.get(session);
    if (open === undefined) this.assertNotExpired(session);
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
      this.#forget(session, open);
      open.transaction.rollback();
      this.#expired.set(session, open.id);
      if (this.#expired.size > MOST_EXPIRED) this.#expired.delete(this.#expired.keys().next().value!);
    }
  }

  close(): void {
    for (const [session, open] of this.#open) {
      this.#forget(session, open);
      open.transaction.rollback();
    }
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

function megabytes(bytes: number): number {
  return Math.max(1, Math.round(bytes / MEGABYTE));
}
