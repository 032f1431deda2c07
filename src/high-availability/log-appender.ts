// Appends groups of frames to the log in PostgreSQL, while this process leads.
//
// An INSERT names the epoch of the lease and the frame before it, so it does nothing if another
// process has led since (log-rows.ts). If the connection is cut before the answer, the outcome is
// found out, and nothing is sent again: the epoch is advanced, which waits for the INSERT if it
// still runs and forbids it if it comes later, and then the log either has the frames or never
// will.

import { HedgerowError } from '../errors.ts';
import { type Connection, ConnectionLost, type Postgres } from './connection.ts';
import { type ChainedFrame, hasFrame, insertFrames, type LogEnd, lastLsnOf, readEnd } from './log-rows.ts';
import { checkDurability } from './schema.ts';
import type { Tenure } from './tenure.ts';

const RETRY_MS = 100;
/** While an INSERT has no answer, it is looked this often whether the server still runs it. */
const LOOK_MS = 3000;

export class LogAppender {
  readonly #postgres: Postgres;
  readonly #tenure: Tenure;
  /** Returns the error with which the log was poisoned; null if it was not. */
  readonly #failed: () => HedgerowError | null;
  #connection: Connection;

  private constructor(postgres: Postgres, tenure: Tenure, failed: () => HedgerowError | null, connection: Connection) {
    this.#postgres = postgres;
    this.#tenure = tenure;
    this.#failed = failed;
    this.#connection = connection;
  }

  /**
   * Connects, and reads where the log ends: as the lease is held, nobody else appends to it.
   * Rejects with `ConnectionLost`, or with `invalid_input` if commits would not be durable.
   */
  static async open(
    postgres: Postgres,
    tenure: Tenure,
    failed: () => HedgerowError | null,
  ): Promise<{ appender: LogAppender; end: LogEnd }> {
    const connection = await connect(postgres);
    try {
      const end = await readEnd(connection);
      return { appender: new LogAppender(postgres, tenure, failed, connection), end };
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /**
   * Appends frames after the frame `after`; resolves when they are durable. Rejects if they are
   * not, or if this process does not lead any more.
   */
  async insert(after: LogEnd, frames: readonly ChainedFrame[]): Promise<void> {
    const connection = this.#connection;
    const { warnings } = connection;
    const look = setInterval(() => void this.#look(connection), LOOK_MS);
    try {
      if (!(await insertFrames(connection, this.#tenure.epoch, after, frames))) throw notLeader();
      // The server warns if it has not waited for the standby.
      if (connection.warnings === warnings) return;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    } finally {
      clearInterval(look);
    }
    connection.destroy();
    await this.#resolve(frames.at(-1)!);
  }

  /** Ends a connection that is cut, although neither side was told. */
  async #look(connection: Connection): Promise<void> {
    if (await this.#tenure.isRunning(connection.pid)) return;
    // The answer may have arrived in between.
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (connection.isBusy) connection.destroy(new Error('the server has answered, but the answer did not arrive'));
  }

  /** Finds out whether a group, which ends with `last`, is in the log. Rejects if it is not. */
  async #resolve(last: ChainedFrame): Promise<void> {
    for (;;) {
      const failed = this.#failed();
      if (failed !== null) throw failed;
      let connection: Connection | undefined;
      try {
        connection = await connect(this.#postgres);
        if (!(await this.#tenure.advance(connection))) throw notLeader();
        // From here on the group is in the log, or never will be.
        if (!(await hasFrame(connection, { lsn: lastLsnOf(last), crc: last.crc }))) throw notCommitted();
        this.#connection = connection;
        return;
      } catch (error) {
        connection?.destroy();
        if (!(error instanceof ConnectionLost)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Ends the connection at once, with a statement that is still running. */
  destroy(): void {
    this.#connection.destroy();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

async function connect(postgres: Postgres): Promise<Connection> {
  const connection = await postgres.connect({ commits: 'wait' });
  try {
    await checkDurability(connection);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function notCommitted(): HedgerowError {
  return new HedgerowError(
    'log_failed',
    'The connection to PostgreSQL was lost before a write was committed: it was not carried out. Try again.',
  );
}

/** Returns the error of a process that does not lead any more. */
export function notLeader(): HedgerowError {
  return new HedgerowError(
    'leader_unavailable',
    'This server has lost the lease of the leader. It is not known whether the write was carried out. Try again; with an Idempotency-Key it is not done twice.',
  );
}
