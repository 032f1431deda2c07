// Reads the frames of the log in PostgreSQL for those who use it as a LogStore.

import { assert } from '../assert.ts';
import { corruption } from '../errors.ts';
import type { Crc32c, LogBatches, LogFollower, LogFrame } from '../storage/index.ts';
import type { Connection } from './connection.ts';
import { LOG_TABLE, lastLsnOf, readFrames, readOldest, removed } from './log-rows.ts';
import type { SharedConnection } from './shared-connection.ts';

export class LogReads {
  readonly #connection: SharedConnection;
  readonly #crc32c: Crc32c;

  constructor(connection: SharedConnection, crc32c: Crc32c) {
    this.#connection = connection;
    this.#crc32c = crc32c;
  }

  /** Yields the frames with LSNs from `fromLsn` to `lastLsn`, all of which the log has. */
  async *frames(fromLsn: number, lastLsn: number): LogBatches {
    for (let lsn = fromLsn; lsn <= lastLsn; ) {
      const frames = await this.#next(lsn, lastLsn);
      lsn = lastLsnOf(frames.at(-1)!) + 1;
      yield frames;
    }
  }

  /** Returns a reader that goes on while the log is written. */
  follow(fromLsn: number): LogFollower {
    let lsn = fromLsn;
    return {
      next: async (upToLsn) => {
        if (lsn > upToLsn) return [];
        const frames = await this.#next(lsn, upToLsn);
        lsn = lastLsnOf(frames.at(-1)!) + 1;
        return frames;
      },
      close: () => undefined,
    };
  }

  /** Resolves with at least one frame, which contains `lsn`. */
  async #next(lsn: number, upToLsn: number): Promise<readonly LogFrame[]> {
    assert(lsn <= upToLsn, 'a frame that is read is in the log');
    const connection = await this.#connection.get();
    const frames = await readFrames(connection, this.#crc32c, lsn, upToLsn);
    const [first] = frames;
    if (first !== undefined && first.firstLsn <= lsn) return frames;
    const oldestLsn = await readOldest(connection);
    if (oldestLsn === undefined || oldestLsn > lsn) throw removed(lsn, oldestLsn);
    throw corruption(LOG_TABLE, lsn, `LSN ${lsn} must be in it, but it is not there`);
  }

  /** Resolves with the connection that all readers share. */
  connection(): Promise<Connection> {
    return this.#connection.get();
  }

  /** Resolves with the oldest LSN in the log; undefined if it is empty. */
  async oldestLsn(): Promise<number | undefined> {
    return readOldest(await this.#connection.get());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
