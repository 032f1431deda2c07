// Follows the log in PostgreSQL: reads its new frames and applies them, and takes the lease when it
// is free and every frame was applied here.

import type { Database } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { type Connection, ConnectionLost, type Postgres } from './connection.ts';
import { LEASE_MS, readLease } from './lease.ts';
import type { PostgresLog } from './postgres-log.ts';
import type { Tenure } from './tenure.ts';

export interface TailOptions {
  readonly database: Database;
  readonly log: PostgresLog;
  readonly postgres: Postgres;
  /** Name of the notifications about new frames. */
  readonly channel: string;
  /** Names this process in the lease. */
  readonly holder: string;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Receives the address of the leader; undefined while nobody leads. */
  readonly leader: (url: string | undefined) => void;
  /** Tells the others the state of this process. */
  readonly state: (connection: Connection) => Promise<void>;
  /** Receives why this process cannot follow; null when it can again. */
  readonly problem: (problem: string | null) => void;
  /** Takes the lease; resolves with undefined if another has it. */
  readonly take: () => Promise<Tenure | undefined>;
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
  readonly warn: (message: string, fields: Record<string, unknown>) => void;
}

/** How far a process is behind the log. */
export interface Followed {
  /** Number of LSNs that are not visible here; undefined while the end of the log is unknown. */
  readonly lsns: number | undefined;
  /** Milliseconds since it last knew that it was at the end of the log. */
  readonly ms: number;
}

/** Without notifications, the log is read this often. */
const POLL_MS = 200;
const STATE_MS = 3000;
/** A statement without an answer for this long means that the connection is cut. */
const SILENCE_MS = LEASE_MS;
const RETRY_MS = 200;
/** Wait after an error that another attempt will hardly change. */
const LONG_RETRY_MS = 3000;

export class Tail {
  readonly #options: TailOptions;
  #connection: Connection | undefined;
  #atHeadMs = Number.NEGATIVE_INFINITY;
  #stateMs = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;
  #isNotified = false;
  #problem: string | null = null;

  constructor(options: TailOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  get lag(): Followed {
    const { database, log, now } = this.#options;
    const isKnown = this.#atHeadMs !== Number.NEGATIVE_INFINITY;
    return { lsns: isKnown ? Math.max(0, log.headLsn - database.lastLsn) : undefined, ms: now() - this.#atHeadMs };
  }

  /**
   * Follows. Resolves with the tenure when this process leads; its log leads then, too. Resolves
   * with undefined when it is stopped. Rejects if the database must be opened again.
   */
  async run(): Promise<Tenure | undefined> {
    const { signal, log } = this.#options;
    try {
      while (!signal.aborted) {
        try {
          const tenure = await this.#step();
          this.#tellProblem(null);
          if (tenure !== undefined) return tenure;
        } catch (error) {
          await this.#failed(error);
        }
      }
      return undefined;
    } finally {
      await this.#connection?.close();
      await log.flush().catch(() => undefined);
    }
  }

  /** Applies what is new; then looks at the lease, and waits. */
  async #step(): Promise<Tenure | undefined> {
    const { now, log, leader, holder, state } = this.#options;
    const connection = await this.#connected();
    this.#isNotified = false;
    const askedMs = now();
    if (await this.#apply(connection)) return undefined;
    await log.flush();
    this.#atHeadMs = askedMs;
    if (now() - this.#stateMs > STATE_MS) {
      await state(connection);
      await log.refresh();
      this.#stateMs = now();
    }
    const lease = await readLease(connection);
    const isFree = lease.leftMs <= 0;
    leader(isFree || lease.holder === holder ? undefined : lease.url);
    const tenure = isFree ? await this.#lead(connection) : undefined;
    if (tenure === undefined) await this.#rest(isFree ? POLL_MS : Math.min(POLL_MS, Math.max(1, lease.leftMs)));
    return tenure;
  }

  /** Applies the next frames; resolves with false if there are none. */
  async #apply(connection: Connection): Promise<boolean> {
    const { log, database } = this.#options;
    const frames = await log.fetch(connection);
    if (frames.length > 0) await database.applier!.apply(frames);
    return frames.length > 0;
  }

  /** Takes the lease and applies what the leader before has appended last. */
  async #lead(connection: Connection): Promise<Tenure | undefined> {
    const { take, log } = this.#options;
    const tenure = await take();
    if (tenure === undefined) return undefined;
    try {
      // As the lease is held, the log has an end.
      while (await this.#apply(connection));
      await log.lead(tenure);
      return tenure;
    } catch (error) {
      await tenure.release();
      throw error;
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.isOpen === true) return this.#connection;
    const { postgres, channel } = this.#options;
    const connection = await postgres.connect({ commits: 'local', timeoutMs: SILENCE_MS });
    connection.onNotification = () => {
      this.#isNotified = true;
      this.#wake();
    };
    this.#connection = connection;
    await connection.run(`LISTEN ${channel}`);
    await connection.confirm();
    return connection;
  }

  async #failed(error: unknown): Promise<void> {
    const { database, leader, signal } = this.#options;
    if (signal.aborted) return;
    this.#tellProblem((error as Error).message, error);
    if (database.applier!.failed !== null) throw error;
    // Nothing is known of the leader.
    leader(undefined);
    await this.#rest(error instanceof ConnectionLost ? RETRY_MS : LONG_RETRY_MS);
  }

  #tellProblem(problem: string | null, error?: unknown): void {
    const { problem: tell, notice, warn } = this.#options;
    if (problem === this.#problem) return;
    this.#problem = problem;
    tell(problem);
    if (problem === null) notice('following the log in PostgreSQL', { last_lsn: this.#options.log.headLsn });
    else if (error instanceof HedgerowError) warn('the log cannot be followed', { detail: problem });
    else notice('PostgreSQL is lost; trying again', { detail: problem });
  }

  /** Waits for a notification, but not longer than `ms` milliseconds. */
  #rest(ms: number): Promise<void> {
    if (this.#isNotified || this.#options.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
