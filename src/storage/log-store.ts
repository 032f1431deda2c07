// The port of the write-ahead log: what the engine needs of it, however the frames are kept.
// `log.ts` keeps them in files; `test/storage/log-contract.ts` is the suite that any implementation
// must pass.
//
// LSNs count operations, from 1, without gaps. A frame is one atomic commit: it is in the log
// completely, with its LSNs, or not at all. durableLsn <= headLsn, and neither ever decreases while
// the log is open.

import type { HedgerowError } from '../errors.ts';

export interface LogFrame {
  firstLsn: number;
  /** Number of LSNs in the frame, at least 1. */
  operations: number;
  /** Valid until the next batch is requested. */
  payload: Uint8Array;
}

/**
 * Frames in LSN order, in batches: an iterator step per frame would cost more than reading the
 * frame.
 */
export type LogBatches = AsyncIterable<readonly LogFrame[]>;

export interface LogStore {
  /** Newest LSN that survives a crash (0 if there is none yet). */
  readonly durableLsn: number;
  /** Newest LSN assigned. */
  readonly headLsn: number;
  /** Oldest LSN that can be read; `durableLsn` + 1 if there is none. */
  readonly oldestLsn: number;
  /** Total bytes that the log keeps. */
  readonly sizeBytes: number;
  /** Why nothing is written any more: the first failure, until the log is reopened. */
  readonly failed: HedgerowError | null;
  /**
   * Whether the log itself proves that there was a manifest, so that the next open detects a
   * missing one. While this is false, the manifest must be durable before the first append.
   */
  readonly provesManifest: boolean;
  /**
   * Queues one frame of `operations` LSNs (1 or more); copies the parts immediately. Returns its
   * first LSN. Throws `log_failed` or `disk_full` if poisoned, `draining` if closed,
   * `body_too_large` above 1 GiB.
   */
  append(operations: number, parts: readonly Uint8Array[]): number;
  /**
   * Same as `append`, for a frame of many megabytes: built in slices, with `pause` between them,
   * and queued when complete. Nothing else may be appended from the call until it resolves, and the
   * parts must not change. Rejects where `append` throws; nothing is queued then.
   */
  appendInSlices(operations: number, parts: readonly Uint8Array[], pause: () => Promise<void>): Promise<number>;
  /**
   * The frames with LSNs from `fromLsn` on, up to the durable LSN when reading begins; the first
   * frame may start earlier. The log may be written meanwhile, and keeps these frames until reading
   * ends. Rejects with `invalid_lsn` if `fromLsn` is below `oldestLsn`, with `corrupt` for a
   * damaged frame.
   */
  read(fromLsn: number): LogBatches;
  /**
   * Keeps the frames with LSNs from `fromLsn` on until it is released. Throws `invalid_lsn` like
   * `read`.
   */
  lease(fromLsn: number): LogLease;
  /**
   * The LSNs up to `lsn` are no longer needed: the log may drop frames that hold no later LSN and
   * that no lease keeps. Call it only when the manifest that vouches for these LSNs is durable.
   */
  truncate(lsn: number): Promise<void>;
  /**
   * Whether a frame with a payload of `payloadBytes` fits the prepared space, so that appending it
   * cannot meet a full disk. A reserve is kept for `urgent` frames. The answer holds until the next
   * append.
   */
  roomFor(payloadBytes: number, urgent: boolean): boolean;
  /**
   * Prepares space until `roomFor(payloadBytes, false)` holds. Rejects with `disk_full` or
   * `disk_failed` if it cannot: the log stays open, a later call tries again.
   */
  makeRoom(payloadBytes: number): Promise<void>;
  /**
   * Throws `conflict`, and poisons the log, if another process took over. Call it before each
   * manifest is installed.
   */
  assertOwner(): void;
  /** Resolves when everything appended so far is durable; rejects when poisoned. */
  flush(): Promise<void>;
  /**
   * Flushes, then closes. Rejects if that fails, but not if the log was already poisoned. A second
   * call does nothing.
   */
  close(): Promise<void>;
}

/** Frames protected from truncation. */
export interface LogLease {
  readonly fromLsn: number;
  /** Newest LSN that was durable when the lease began. */
  readonly lastLsn: number;
  /** The frames with LSNs from `fromLsn` to `lastLsn`, like `read`; may be called repeatedly. */
  frames(): LogBatches;
  /** A second call does nothing. */
  release(): void;
}

/** Measurements of one group that was written. */
export interface LogGroupFigures {
  frames: number;
  operations: number;
  bytes: number;
  /** From the start of the write to the end of the sync, measured with `now`. */
  elapsedUs: number;
}

/**
 * Opens the log of a database for one writer. Rejects with `corrupt` if it contradicts the
 * manifest.
 */
export type OpenLog = (opening: LogOpening) => Promise<LogStore>;

/** What the log needs to open: what it must contain, and callbacks that report events. */
export interface LogOpening {
  /**
   * `async`: onDurable is called after the write, and the sync follows when `scheduleSync` fires.
   */
  durability: 'fsync' | 'async';
  /** The manifest vouches for all LSNs up to this one: no table needs them from the log. */
  minimumLsn: number;
  /**
   * Newest LSN that the manifest knows to have been in the log (for example that of the newest row
   * in a segment). A log that ends below it is corrupt. Default `minimumLsn`.
   */
  reachedLsn?: number;
  /** Whether there is a manifest. Omitted where manifests are not used. */
  manifest?: 'present' | 'missing';
  /**
   * Random number below 2^53 that distinguishes this process from others that claim the log.
   * Default 0, for tests.
   */
  owner?: number;
  /**
   * Called at most once, at open, if unacknowledged bytes at the end of the log were dropped: their
   * place and number.
   */
  onDropped?: (dropped: Readonly<Record<string, string | number>>) => void;
  /** All operations up to `lsn` may be acknowledged. Called once per group. */
  onDurable: (lsn: number) => void;
  /** The log is poisoned; LSNs not reported durable are lost or in doubt. Called once. */
  onFailed: (error: HedgerowError) => void;
  /**
   * Calls back in a later turn of the event loop, which starts a group's write. Default
   * setImmediate: all appends of one turn share a sync, including those from callbacks that a sync
   * triggered.
   */
  defer?: (step: () => void) => void;
  /** Durability `async` only: calls `sync` once, about 100 ms later. */
  scheduleSync?: (sync: () => void) => void;
  /** Monotonic clock in microseconds; required for `observe`. */
  now?: () => number;
  observe?: (group: LogGroupFigures) => void;
}
