// Reads the frames of the log as they are, for followers that apply them (frame-applier.ts).

import { HedgerowError } from '../../errors.ts';
import type { Crc32c, LogFollower, LogFrame, LogStore } from '../../storage/index.ts';
import type { ChangeHistory } from '../changes/change-history.ts';
import type { Committer } from '../commit/committer.ts';

export interface FrameFeedOptions {
  readonly committer: Committer;
  /** Without a history, the log does not say which rows a TTL has dropped. */
  readonly history: ChangeHistory;
  readonly crc32c: Crc32c;
}

export class FrameFeed {
  readonly #options: FrameFeedOptions;
  /** Number of readers that are open. */
  readers = 0;

  constructor(options: FrameFeedOptions) {
    this.#options = options;
  }

  /** The oldest LSN after which all frames are still in the log. */
  get oldestLsn(): number {
    return this.#options.committer.log.oldestLsn - 1;
  }

  /**
   * Returns a reader of the frames after `fromLsn`, which must be the last LSN of a frame, or 0.
   * `sum` is the checksum of that frame (`checksumAt`). Rejects with `invalid_input` if this
   * database cannot be followed, with `lsn_gone` if the log begins later, with `lsn_ahead` if
   * `fromLsn` was never assigned, and with `log_diverged` if the frame that ends at `fromLsn` is
   * another one.
   */
  async read(fromLsn: number, sum?: number): Promise<FrameReader> {
    const { committer } = this.#options;
    this.assertServes();
    if (fromLsn > committer.visibleLsn)
      throw new HedgerowError(
        'lsn_ahead',
        `The newest LSN is ${committer.visibleLsn}, so LSN ${fromLsn} is of another history: this database was restored, perhaps. Follow it from the beginning, with an empty directory.`,
        { fields: { last_lsn: committer.visibleLsn } },
      );
    const own = sum === undefined ? undefined : await this.checksumAt(fromLsn);
    if (own !== undefined && own !== sum)
      throw new HedgerowError(
        'log_diverged',
        `The commit that ends at LSN ${fromLsn} is another one here, so the follower has a history of its own. Follow this database from the beginning, with an empty directory.`,
        { fields: { last_lsn: committer.visibleLsn } },
      );
    this.assertKept(fromLsn);
    this.readers++;
    return new FrameReader(this, committer, fromLsn);
  }

  /** Throws `invalid_input` if this database cannot be followed. */
  assertServes(): void {
    if (this.#options.history.isKept) return;
    throw new HedgerowError(
      'invalid_input',
      'This database cannot be followed: keeping changes is turned off, which followers need.',
      { fields: { settings: ['changesKeepSeconds'] } },
    );
  }

  /** Throws `lsn_gone` if frames after `lsn` are no longer in the log. */
  assertKept(lsn: number): void {
    const { oldestLsn } = this;
    if (lsn >= oldestLsn) return;
    throw new HedgerowError(
      'lsn_gone',
      `The log after LSN ${lsn} is no longer kept; it begins after LSN ${oldestLsn}. Follow this database from the beginning, with an empty directory.`,
      { fields: { oldest_lsn: oldestLsn } },
    );
  }

  /**
   * Returns the checksum of the frame that ends at an LSN: CRC32C of its payload, continued from
   * the second at which the leader appended it. Returns undefined if that frame is not in the log
   * any more, and -1 if no frame ends there.
   */
  async checksumAt(lsn: number): Promise<number | undefined> {
    const { log } = this.#options.committer;
    await log.flush();
    // Meanwhile, a compaction may have ended, and the frame be part of the history no more.
    if (lsn < log.oldestLsn) return undefined;
    const frame = await frameAt(log, lsn);
    if (frame.firstLsn + frame.operations - 1 !== lsn) return -1;
    return this.#options.crc32c(frame.payload, frame.seconds) >>> 0;
  }
}

async function frameAt(log: LogStore, lsn: number): Promise<LogFrame> {
  const follower = log.follow(lsn);
  try {
    const [frame] = await follower.next(log.durableLsn);
    return { ...frame! };
  } finally {
    follower.close();
  }
}

export class FrameReader {
  readonly #feed: FrameFeed;
  readonly #committer: Committer;
  readonly #follower: LogFollower;
  /** All frames up to this LSN were returned. */
  lsn: number;
  #closed = false;

  constructor(feed: FrameFeed, committer: Committer, fromLsn: number) {
    this.#feed = feed;
    this.#committer = committer;
    this.lsn = fromLsn;
    this.#follower = committer.log.follow(fromLsn + 1);
  }

  /** Newest LSN that can be read: durable and visible. */
  get headLsn(): number {
    return Math.min(this.#committer.visibleLsn, this.#committer.log.durableLsn);
  }

  /**
   * Resolves with the next frames, about 256 KB of them but at least one; with none if there is no
   * further one yet. They are valid until the next call. Do not call it again before it has
   * settled. Rejects with `lsn_gone`, or with `corrupt` if the log is damaged.
   */
  async next(): Promise<readonly LogFrame[]> {
    const { headLsn } = this;
    if (this.#closed || headLsn <= this.lsn) return [];
    let frames: readonly LogFrame[];
    try {
      frames = await this.#follower.next(headLsn);
    } catch (error) {
      if (error instanceof HedgerowError && error.code === 'invalid_lsn') this.#feed.assertKept(this.lsn);
      throw error;
    }
    const last = frames.at(-1);
    if (last !== undefined) this.lsn = last.firstLsn + last.operations - 1;
    return frames;
  }

  /** Frees the reader. A second call does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#feed.readers--;
    this.#follower.close();
  }
}
