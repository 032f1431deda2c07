// The interface of the write-ahead log: what the engine needs from a log, wherever it stores the
// frames. `log.ts` stores them in files. Every implementation must pass the tests in
// `test/storage/log-contract.ts`.
//
// The operations have consecutive LSNs, starting at 1. A frame is one atomic commit: it is in the
// log completely, with all its LSNs, or not at all. durableLsn <= headLsn, and neither decreases
// while the log is open. A log is "poisoned" after its first failure: it refuses writes until it is
// opened again.

import type { HedgerowError } from '../errors.ts';

export interface LogFrame {
  firstLsn: number;
  /** Number of LSNs in the frame, at least 1. */
  operations: number;
  /** When the frame was appended, in epoch seconds; 0 if unknown (older than issue 20). */
  seconds: number;
  /** Valid until the next batch is requested. */
  payload: Uint8Array;
}

/**
 * Frames in LSN order. They are read in batches, because one iterator step per frame would cost
 * more than reading the frame.
 */
export type LogBatches = AsyncIterable<readonly LogFrame[]>;

export interface LogStore {
  /** Newest LSN that survives a crash; 0 if there is none yet. */
  readonly durableLsn: number;
  /** Newest LSN assigned. */
  readonly headLsn: number;
  /** Oldest LSN that can be read; `durableLsn` + 1 if there is none. */
  readonly oldestLsn: number;
  /** Total size of the log in bytes. */
  readonly sizeBytes: number;
  /** Size in bytes of the frames that are kept only as history (`LogOpening.history`). */
  readonly historyBytes: number;
  /** The first failure, which poisoned the log; null if there was none. */
  readonly failed: HedgerowError | null;
  /**
   * Whether the log itself proves that there was a manifest, so that the next open would notice a
   * missing manifest. While this is false, the manifest must be made durable before the first
   * append.
   */
  readonly provesManifest: boolean;
  /**
   * Queues one frame with `operations` LSNs (1 or more); copies the parts immediately. Returns the
   * frame's first LSN. Throws `log_failed` or `disk_full` if poisoned, `draining` if closed,
   * `body_too_large` above 1 GiB. `seconds` (epoch) is recorded in the frame; by default, the time
   * of this call.
   */
  append(operations: number, parts: readonly Uint8Array[], seconds?: number): number;
  /**
   * Like `append`, but for a frame of many megabytes. The frame is built in slices, with a `pause`
   * between them, and queued when it is complete. Until this resolves, nothing else may be appended
   * and the parts must not change. Rejects with the errors that `append` throws; if it rejects,
   * nothing was queued.
   */
  appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    pause: () => Promise<void>,
    seconds?: number,
  ): Promise<number>;
  /**
   * Reads the frames with LSNs from `fromLsn` up to the LSN that is durable when reading begins.
   * The first frame may start at a lower LSN. The log may be written meanwhile, and keeps these
   * frames until reading ends. Rejects with `invalid_lsn` if `fromLsn` is below `oldestLsn`, and
   * with `corrupt` if a frame is damaged.
   */
  read(fromLsn: number): LogBatches;
  /**
   * Returns a reader of the frames with LSNs from `fromLsn` on that goes on while the log is
   * written. It keeps nothing in the log: `next` rejects with `invalid_lsn` once its next frame has
   * been removed.
   */
  follow(fromLsn: number): LogFollower;
  /**
   * Returns a lease, which keeps the frames with LSNs from `fromLsn` on in the log until it is
   * released. Throws `invalid_lsn` if `fromLsn` is below `oldestLsn`.
   */
  lease(fromLsn: number): LogLease;
  /**
   * Declares that the LSNs up to `lsn` are no longer needed. The log may then remove frames that
   * contain no later LSN and that neither a lease nor the history keeps. Call this only when a
   * manifest that does not need these LSNs is durable.
   */
  truncate(lsn: number): Promise<void>;
  /**
   * Returns whether a frame with a payload of `payloadBytes` fits into the prepared space, so that
   * appending it cannot fail because the disk is full. Some space is reserved for `urgent` frames.
   * The answer is valid until the next append.
   */
  roomFor(payloadBytes: number, urgent: boolean): boolean;
  /**
   * Prepares space until `roomFor(payloadBytes, false)` returns true. Rejects with `disk_full` or
   * `disk_failed` if that is not possible. The log stays open, and a later call tries again.
   */
  makeRoom(payloadBytes: number): Promise<void>;
  /**
   * If another process has taken over the log, throws `conflict` and poisons the log. Call this
   * before each manifest is installed.
   */
  assertOwner(): void;
  /** Resolves when everything appended so far is durable; rejects if the log is poisoned. */
  flush(): Promise<void>;
  /**
   * Flushes, then closes the log. Rejects if that fails, but not if the log was already poisoned. A
   * second call does nothing.
   */
  close(): Promise<void>;
}

/** Reads frames in LSN order while the log is written. */
export interface LogFollower {
  /**
   * Resolves with the next frames that contain LSNs up to `upToLsn`, which must be durable and the
   * last LSN of a frame; with none if there is no further one. The frames are valid until the next
   * call. Do not call it again before it has settled. Rejects with `invalid_lsn`, or with `corrupt`
   * if a frame is damaged.
   */
  next(upToLsn: number): Promise<readonly LogFrame[]>;
  /** Frees the resources of the reader. A second call does nothing. */
  close(): void;
}

/** Protects frames from truncation. */
export interface LogLease {
  readonly fromLsn: number;
  /** Newest LSN that was durable when the lease began. */
  readonly lastLsn: number;
  /**
   * Reads the frames with LSNs from `fromLsn` to `lastLsn`, like `read`; may be called repeatedly.
   */
  frames(): LogBatches;
  /** Ends the lease. A second call does nothing. */
  release(): void;
}

/** Measurements of one group that was written. */
export interface LogGroupFigures {
  frames: number;
  operations: number;
  bytes: number;
  /**
   * Time from the start of the write to the end of the sync (with durability `async`, to the end of
   * the write), measured with `now`.
   */
  elapsedUs: number;
}

/**
 * Opens the log of a database for one writer. Rejects with `corrupt` if the log contradicts the
 * manifest.
 */
export type OpenLog = (opening: LogOpening) => Promise<LogStore>;

/**
 * History of the log, for those who read what has changed: frames are kept for `seconds`, but never
 * more than `bytes`. Requires a clock (`LogOpening.seconds`).
 */
export interface LogHistory {
  seconds: number;
  bytes: number;
}

/** Options to open a log: what it must contain, and callbacks for events. */
export interface LogOpening {
  /**
   * With `async`, `onDurable` is called after the write of a group, and the sync follows later
   * (`scheduleSync`).
   */
  durability: 'fsync' | 'async';
  /**
   * Whether all frames come from another log, and can be had from it again. Then no group is
   * synced: it counts as durable once it is written. A crash of the machine may lose frames; the
   * next open finds the frames before them, or rejects with `corrupt`, and the copy is made anew.
   */
  isCopy?: boolean;
  /** According to the manifest, no table needs the LSNs up to this one from the log. */
  minimumLsn: number;
  /**
   * Newest LSN that was in the log when the manifest was written. A log that ends below it is
   * corrupt. Default `minimumLsn`.
   */
  reachedLsn?: number;
  /** Whether there is a manifest. Omitted if manifests are not used. */
  manifest?: 'present' | 'missing';
  /**
   * Random number below 2^53 that distinguishes this process from others that claim the log.
   * Default 0, for tests.
   */
  owner?: number;
  /**
   * Called at most once, at open, if unacknowledged bytes at the end of the log were dropped. Gets
   * the place and the number of these bytes.
   */
  onDropped?: (dropped: Readonly<Record<string, string | number>>) => void;
  /** Called once per group of frames: all operations up to `lsn` may be acknowledged. */
  onDurable: (lsn: number) => void;
  /** Called once, when the log is poisoned. LSNs not reported durable are lost or in doubt. */
  onFailed: (error: HedgerowError) => void;
  /**
   * Runs `step` in a later turn of the event loop; used to start the write of a group. With the
   * default, setImmediate, all appends of one turn share a sync, including appends by callbacks of
   * the previous sync.
   */
  defer?: (step: () => void) => void;
  /** Only for durability `async`: calls `sync` once, about 100 ms later. */
  scheduleSync?: (sync: () => void) => void;
  /** Epoch seconds, recorded in each frame. By default 0 is recorded, which means unknown. */
  seconds?: () => number;
  /** How much of the log is kept although nobody needs it for recovery; by default nothing. */
  history?: LogHistory;
  /** Monotonic clock in microseconds; required for `observe`. */
  now?: () => number;
  observe?: (group: LogGroupFigures) => void;
}
