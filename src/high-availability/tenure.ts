// The time for which this process leads: renews the lease each second, and ends when the lease is
// lost or could not be renewed for as long as it lasts.

import type { HedgerowError } from '../errors.ts';
import type { Connection } from './connection.ts';
import { advanceLease, LEASE_MS, RENEW_MS, releaseLease, renewLease } from './lease.ts';
import type { SharedConnection } from './shared-connection.ts';

export interface TenureOptions {
  /** Renews the lease; commits `local`, so that it need not wait for a standby. */
  readonly connection: SharedConnection;
  readonly holder: string;
  readonly epoch: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** When the statement that took the lease was sent. */
  readonly takenMs: number;
  readonly error: () => HedgerowError;
  /** Default 1000. */
  readonly renewMs?: number;
}

export class Tenure {
  readonly #options: TenureOptions;
  #epoch: number;
  #renewedMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Renewals and changes of the epoch, one after another. */
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #isReleased = false;
  #tellLost: (error: HedgerowError) => void = () => undefined;
  /** Resolves when this process does not lead any more. */
  readonly lost = new Promise<HedgerowError>((resolve) => {
    this.#tellLost = resolve;
  });

  constructor(options: TenureOptions) {
    this.#options = options;
    this.#epoch = options.epoch;
    this.#renewedMs = options.takenMs;
    this.#schedule();
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Goes on to the next epoch, after which no append of the present one can be committed. Resolves
   * with false if the lease is lost. Rejects with `ConnectionLost`.
   */
  advance(connection: Connection): Promise<boolean> {
    return this.#alone(async () => {
      if (this.#isOver) return false;
      const epoch = await advanceLease(connection, this.#options.holder, this.#epoch);
      if (epoch === undefined) {
        this.#lose();
        return false;
      }
      this.#epoch = epoch;
      return true;
    });
  }

  /**
   * Whether the server still runs a statement of the connection `pid`. If it does not, and no
   * answer has come, the connection is cut. Resolves with true if that cannot be found out.
   */
  async isRunning(pid: number): Promise<boolean> {
    try {
      const connection = await this.#options.connection.get();
      const rows = await connection.run("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'", [pid]);
      return rows.length > 0;
    } catch {
      return true;
    }
  }

  /** Gives the lease back, so that another can take it at once. Never rejects. */
  async release(): Promise<void> {
    this.#lose();
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#last.catch(() => undefined);
    const { connection, holder } = this.#options;
    await connection
      .get()
      .then((open) => releaseLease(open, holder, RENEW_MS))
      .catch(() => undefined);
    await connection.close();
  }

  /** Ends without giving the lease back. Never rejects. */
  async end(): Promise<void> {
    this.#lose();
    await this.#last.catch(() => undefined);
    await this.#options.connection.close();
  }

  #schedule(): void {
    const { now, renewMs = RENEW_MS } = this.#options;
    if (this.#isOver) return;
    const leftMs = this.#renewedMs + LEASE_MS - now();
    this.#timer = setTimeout(() => void this.#tick(), Math.max(0, Math.min(renewMs, leftMs)));
  }

  async #tick(): Promise<void> {
    const { now } = this.#options;
    const overdue = setTimeout(() => this.#lose(), Math.max(0, this.#renewedMs + LEASE_MS - now()));
    try {
      await this.#alone(() => this.#renew());
    } catch {
      // The connection was lost; the next attempt opens another.
      await new Promise((resolve) => setTimeout(resolve, RENEW_MS / 5));
    } finally {
      clearTimeout(overdue);
    }
    this.#schedule();
  }

  async #renew(): Promise<void> {
    if (this.#isOver) return;
    const { connection, holder, now } = this.#options;
    const sentMs = now();
    const isRenewed = await renewLease(await connection.get(), holder, this.#epoch, LEASE_MS);
    if (isRenewed) this.#renewedMs = sentMs;
    else this.#lose();
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }

  #lose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#tellLost(this.#options.error());
  }
}
