// Holds the transactions of sessions: at most one per session, which is rolled back when it has
// been idle too long.

import type { Attach, Database, Transaction } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';
import type { MemoryPool } from './executor/memory.ts';

/** Maximum number of open transactions of the service. */
export const MOST_TRANSACTIONS = 100;
/**
 * Maximum number of open transactions that one holder may have, so that it cannot block all others.
 */
export const MOST_TRANSACTIONS_OF_ONE = 90;

/**
 * Maximum number of sessions that are remembered after their idle transaction was rolled back. A
 * session is remembered until its next BEGIN or ROLLBACK; above this number, the oldest are
 * forgotten.
 */
const MOST_EXPIRED = 100_000;

export interface OpenTransaction {
  readonly id: string;
  readonly transaction: Transaction;
  /** The API key whose limit this transaction counts against; null: none. */
  readonly holder: string | null;
  /** Epoch seconds at which the transaction is rolled back unless it is used before. */
  expiresAt: number;
  /** Bytes of the transaction's staged writes that are charged to the memory of statements. */
  chargedBytes: number;
  /**
   * True while one of the transaction's statements runs or that statement's rows are still being
   * read. The session's next statement is then refused, not queued, and the transaction does not
   * count as idle.
   */
  busy: boolean;
}

export interface SessionOptions {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly idleSeconds: number;
  /** Makes the id of a new transaction. */
  readonly newId: () => string;
  /** The memory that all statements share. */
  readonly memory: MemoryPool;
  /**
   * Called when a session begins a transaction (true), and when it has none any more (false). A
   * session whose transaction was rolled back because it was idle still has one.
   */
  readonly onSession?: ((session: string, hasTransaction: boolean) => void) | undefined;
  /** Returns whether the leader, if this database follows one, has a transaction of a session. */
  readonly isAtLeader?: ((session: string) => boolean) | undefined;
}

const LEADER_CHANGED = 'another server has become the leader';

export class Sessions {
  readonly #options: SessionOptions;
  readonly #open = new Map<string, OpenTransaction>();
  /**
   * Transactions that were rolled back without a ROLLBACK, by session, in this order. The id is
   * unknown if the transaction was at the leader.
   */
  readonly #expired = new Map<string, { readonly id: string; readonly why: string }>();

  /**
   * Sessions whose BEGIN was sent to the leader, if this database follows one: when they last had a
   * statement, in epoch milliseconds.
   */
  readonly #led = new Map<string, number>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Number of sessions whose next statement is refused because their transaction has expired. Not
   * persisted: a restart also ends the connections that would send that statement.
   */
  get expired(): number {
    return this.#expired.size;
  }

  /**
   * Throws `not_leader` for BEGIN, COMMIT and ROLLBACK at a follower. From BEGIN on, all statements
   * of the session are refused like this, because its transaction is at the leader. If it has ended
   * because the leader changed, that is known here, and the leader does not know the session.
   */
  atLeader(kind: 'begin' | 'commit' | 'rollback', session: string): void {
    if (kind !== 'begin' && this.#expired.has(session)) return;
    this.#expired.delete(session);
    // If the leader tells which sessions it has, nothing need be remembered.
    if (kind === 'begin' && this.#options.isAtLeader === undefined) this.#led.set(session, this.#options.now());
    else this.#led.delete(session);
    if (this.#led.size > MOST_EXPIRED) this.#led.delete(this.#led.keys().next().value!);
    this.#options.database.assertLeads();
  }

  /**
   * Ends the transactions that are not here, because another server has become the leader, which
   * does not know them.
   */
  leaderChanged(): void {
    for (const session of this.#led.keys()) this.#expire(session, '', LEADER_CHANGED);
    this.#led.clear();
  }

  /**
   * Takes over the sessions of `before`, which end with their transactions because the database was
   * opened again.
   */
  succeed(before: Sessions): void {
    for (const [session, { id, why }] of before.#expired) this.#expire(session, id, why);
    for (const session of before.#led.keys()) this.#expire(session, '', LEADER_CHANGED);
    for (const [session, { id }] of before.#open) this.#expire(session, id, LEADER_CHANGED);
  }

  #expire(session: string, id: string, why: string): void {
    this.#expired.set(session, { id, why });
    if (this.#expired.size <= MOST_EXPIRED) return;
    const oldest = this.#expired.keys().next().value!;
    this.#expired.delete(oldest);
    this.#options.onSession?.(oldest, false);
  }

  #assertNotLed(session: string): void {
    const atMs = this.#led.get(session);
    if (atMs === undefined) return;
    const now = this.#options.now();
    if (now - atMs > this.#options.idleSeconds * 1000) {
      this.#led.delete(session);
      return;
    }
    this.#led.set(session, now);
    this.#options.database.assertLeads();
  }

  /**
   * Returns the session's transaction, if any. This counts as use of the transaction. Throws
   * `not_leader` if the transaction is at the leader.
   */
  find(session: string): OpenTransaction | undefined {
    if (this.#led.size > 0) this.#assertNotLed(session);
    if (this.#options.isAtLeader?.(session) === true) this.#options.database.assertLeads();
    this.sweep();
    const open = this.#open.get(session);
    if (open !== undefined) this.#touch(open);
    return open;
  }

  /**
   * Throws `transaction_expired` if the session's transaction was rolled back without a ROLLBACK.
   * Until the next BEGIN or ROLLBACK, every other statement of the session is refused, because its
   * sender believes that the transaction is still open.
   */
  assertNotExpired(session: string): void {
    const expired = this.#expired.get(session);
    if (expired === undefined) return;
    const { id, why } = expired;
    throw new HedgerowError(
      'transaction_expired',
      `The transaction of this session was rolled back because ${why}; nothing of it was kept. BEGIN starts a new one; ROLLBACK continues without a transaction.`,
      id === '' ? {} : { fields: { transaction_id: id } },
    );
  }

  /**
   * Begins a transaction. Throws `invalid_statement` if the session has one already,
   * `too_many_transactions` if the holder has too many open ones, and `overloaded` if the service
   * has too many.
   */
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
    this.#options.onSession?.(session, true);
    return open;
  }

  /**
   * Commits the session's transaction. Rejects with `invalid_statement` if there is none, with
   * `transaction_expired`, or, while one of its statements runs, with `conflict`. Otherwise the
   * session has no transaction afterwards, even if the commit fails (for example with `conflict`).
   * `attach` is called with the transaction's id.
   */
  async commit(session: string, attach?: Attach<string>): Promise<{ lsn: number; id: string }> {
    const open = this.#ofSession(session, 'COMMIT');
    open.busy = true;
    try {
      const { lsn } = await open.transaction.commit(attach && (() => attach(open.id)));
      return { lsn, id: open.id };
    } finally {
      this.#forget(session, open);
      this.#options.onSession?.(session, false);
    }
  }

  /**
   * Rolls back the session's transaction. If it was already rolled back because it was idle, only
   * returns its id and lets the session run statements again. Throws `invalid_statement` if there
   * is no transaction, and `conflict` while one of its statements runs.
   */
  rollback(session: string): { id: string } {
    this.sweep();
    const expired = this.#expired.get(session);
    if (expired !== undefined) {
      this.#expired.delete(session);
      this.#options.onSession?.(session, false);
      return { id: expired.id };
    }
    const open = this.#ofSession(session, 'ROLLBACK');
    this.#forget(session, open);
    this.#options.onSession?.(session, false);
    open.transaction.rollback();
    return { id: open.id };
  }

  /**
   * Marks the transaction busy, so that no other statement of the session runs. The returned
   * function ends this; the idle time then starts again. Throws `conflict` if the transaction is
   * busy already.
   */
  occupy(open: OpenTransaction): () => void {
    assertIdle(open);
    open.busy = true;
    return () => {
      open.busy = false;
      this.#touch(open);
    };
  }

  /**
   * Charges the memory of a transaction's staged writes. Throws `query_too_large` if the
   * transaction holds more bytes than one statement may. Throws `overloaded` if all open
   * transactions would hold more than half of the memory for statements, or if no memory is left.
   * After an error, the caller must rewind the transaction to the mark before the last statement.
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

  /**
   * Rolls back transactions that have been idle too long. The owner calls this function
   * periodically; it is also called before every use of a transaction.
   */
  sweep(): void {
    const now = this.#options.now();
    for (const [session, open] of this.#open) {
      if (open.busy || open.expiresAt * 1000 > now) continue;
      this.#forget(session, open);
      open.transaction.rollback();
      this.#expire(session, open.id, `no statement came for ${this.#options.idleSeconds} s`);
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
