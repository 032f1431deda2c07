// Makes snapshots while this process leads: whenever the log after the newest one has grown beyond
// a size. What the log has before it can then be removed.

import type { Database } from '../engine/index.ts';
import type { PostgresLog } from './postgres-log.ts';
import { newestSnapshot, type SnapshotOptions, storeSnapshot } from './snapshots.ts';
import type { Tenure } from './tenure.ts';

export interface SnapshotMakerOptions {
  readonly database: Database;
  readonly log: PostgresLog;
  readonly tenure: Tenure;
  readonly store: SnapshotOptions;
  /** Bytes of log after the newest snapshot at which another is made. */
  readonly everyBytes: number;
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
  readonly warn: (message: string, fields: Record<string, unknown>) => void;
}

const LOOK_MS = 5000;
/** Wait after a failure. */
const RETRY_MS = 60_000;

export class SnapshotMaker {
  readonly #options: SnapshotMakerOptions;
  /** The newest snapshot needs the log after this LSN; undefined until that was looked up. */
  #logLsn: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SnapshotMakerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(LOOK_MS);
  }

  /** Resolves when no snapshot is being made any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look().then(
        () => this.#schedule(LOOK_MS),
        (error: Error) => {
          if (this.#isClosed || this.#options.tenure.isOver) return;
          this.#options.warn('a snapshot could not be made; trying again in a minute', { detail: error.message });
          this.#schedule(RETRY_MS);
        },
      );
    }, ms);
  }

  async #look(): Promise<void> {
    const { log, everyBytes } = this.#options;
    this.#logLsn ??= await this.#newestLogLsn();
    if (log.bytesAfter(this.#logLsn) >= everyBytes) await this.#make();
    // Other processes may have gone on since.
    await log.trim();
  }

  async #newestLogLsn(): Promise<number> {
    const connection = await this.#options.store.postgres.connect({ commits: 'local' });
    try {
      return (await newestSnapshot(connection))?.logLsn ?? 0;
    } finally {
      await connection.close();
    }
  }

  async #make(): Promise<void> {
    const { database, tenure, store, notice } = this.#options;
    // A new process then has less of the log to apply.
    await database.compact();
    const backup = await database.backupStream();
    try {
      const bytes = await storeSnapshot(store, this.#whileOpen(backup), tenure.epoch);
      this.#logLsn = backup.logLsn;
      notice('a snapshot was made', { last_lsn: backup.lsn, bytes });
    } finally {
      await backup.close();
    }
  }

  /** Ends the snapshot early if this process stops. */
  #whileOpen(backup: Awaited<ReturnType<Database['backupStream']>>) {
    const isOver = () => this.#isClosed || this.#options.tenure.isOver;
    async function* pieces() {
      for await (const piece of backup.pieces) {
        if (isOver()) throw new Error('this server does not lead any more');
        yield piece;
      }
    }
    return { lsn: backup.lsn, logLsn: backup.logLsn, pieces: pieces() };
  }
}
