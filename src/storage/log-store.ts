// The port of the write-ahead log: what the engine needs of it, whatever keeps the frames. `log.ts`
// keeps them in files; `test/storage/log-contract.ts` is what any implementation must pass.
//
// LSNs count operations, from 1, without gaps. A frame is one atomic commit: it is in the log whole,
// with its LSNs, or not at all. durableLsn <= headLsn, and neither ever goes back while the log is open.

import type { HedgerowError } from '../errors.ts';

export interface LogFrame {
  firstLsn: number;
  /** How many LSNs the frame holds, at least 1. */
  operations: number;
  /** Valid until the next batch is asked for. */
  payload: Uint8Array;
}

/** Frames in the order of their LSNs, some at a time: a step of the iterator for each frame would cost more than reading it. */
export type LogBatches = AsyncIterable<readonly LogFrame[]>;

export interface LogStore {
  /** Newest LSN that no crash takes away (0 = nothing yet). */
  readonly durableLsn: number;
  /** Newest LSN given out. */
  readonly headLsn: number;
  /** Oldest LSN that can be read; `durableLsn` + 1 when there is none. */
  readonly oldestLsn: number;
  /** Bytes that the log keeps. */
  readonly sizeBytes: number;
  /** Why nothing is written any more: the first failure, until the log is opened again. */
  readonly failed: HedgerowError | null;
  /**
   * Whether the log itself proves that there was a manifest, so that the next open notices when it is
   * missing. While this is false, the manifest must be durable before the first append.
   */
  readonly provesManifest: boolean;
  /**
   * Queues one frame of `operations` LSNs (1 or more); parts are copied at once. Returns its first LSN.
   * Throws `log_failed` or `disk_full` when poisoned, `draining` when closed, `body_too_large` above 1 GiB.
   */
  append(operations: number, parts: readonly Uint8Array[]): number;
  /**
   * As `append`, for a frame of many megabytes: it is made in slices, with `pause` between them, and
   * queued when it is whole. Nothing else may be appended from the call until it resolves, and the parts
   * must stay as they are. Rejects as `append` throws; nothing is queued then.
   */
  appendInSlices(operations: number, parts: readonly Uint8Array[], pause: () => Promise<void>): Promise<number>;
  /**
   * The frames with LSNs from `fromLsn` on, up to what is durable when the reading begins; the first one
   * may begin earlier. The log may be written meanwhile, and keeps these frames until the reading ends.
   * Rejects with `invalid_lsn` when `fromLsn` is below `oldestLsn`, with `corrupt` for a damaged frame.
   */
  read(fromLsn: number): LogBatches;
  /** Keeps the frames with LSNs from `fromLsn` on until it is released. Throws `invalid_lsn` as `read`. */
  lease(fromLsn: number): LogLease;
  /**
   * The LSNs up to `lsn` are not needed any more: the log may let go of frames that hold no later one
   * and that no lease keeps. To be called when the manifest that vouches for these LSNs is durable.
   */
  truncate(lsn: number): Promise<void>;
  /**
   * Whether a frame with `payloadBytes` bytes of payload fits what is prepared, so that appending it
   * cannot meet a full disk. A rest is kept for `urgent` frames. True until the next append.
   */
  roomFor(payloadBytes: number, urgent: boolean): boolean;
  /**
   * Prepares until `roomFor(payloadBytes, false)` holds. Rejects with `disk_full` or `disk_failed` when
   * it cannot: the log stays open, a later call tries again.
   */
  makeRoom(payloadBytes: number): Promise<void>;
  /**
   * Throws, and poisons the log, with `conflict` when another process took over. To be called before
   * each manifest is installed.
   */
  assertOwner(): void;
  /** Resolves when everything appended so far is durable; rejects when poisoned. */
  flush(): Promise<void>;
  /** Flushes, then closes. Rejects when that fails; not when the log was poisoned before. A second call does nothing. */
  close(): Promise<void>;
}

/** Frames that are not let go. */
export interface LogLease {
  readonly fromLsn: number;
  /** Newest LSN that was durable when the lease began. */
  readonly lastLsn: number;
  /** The frames with LSNs from `fromLsn` to `lastLsn`, as `read` gives them; more than once if wanted. */
  frames(): LogBatches;
  /** A second call does nothing. */
  release(): void;
}

/** Figures of one group that was written. */
export interface LogGroupFigures {
  frames: number;
  operations: number;
  bytes: number;
  /** From the start of the write to the end of the sync, by `now`. */
  elapsedUs: number;
}

/** Opens the log of a database, for one writer. Rejects with `corrupt` when it is not what the manifest says. */
export type OpenLog = (opening: LogOpening) => Promise<LogStore>;

/** What a log is given when it is opened: what must be in it, and where it reports what happens. */
export interface LogOpening {
  /** `async`: onDurable comes after the write, the sync follows when `scheduleSync` calls. */
  durability: 'fsync' | 'async';
  /** The manifest vouches for all LSNs up to here: no table needs them from the log. */
  minimumLsn: number;
  /**
   * Newest LSN that the manifest knows to have been in the log (say, of the newest row in a segment).
   * A log that ends below is corrupt. Default `minimumLsn`.
   */
  reachedLsn?: number;
  /** Whether there is a manifest. Left out where there are no manifests. */
  manifest?: 'present' | 'missing';
  /** Random number below 2^53 that tells this process from others that claim the log. Default 0: for tests. */
  owner?: number;
  /** Unacknowledged bytes at the end of the log were dropped: where, and how many. Once, at open. */
  onDropped?: (dropped: Readonly<Record<string, string | number>>) => void;
  /** All operations up to `lsn` may be acknowledged. Once per group. */
  onDurable: (lsn: number) => void;
  /** The log is poisoned; LSNs not reported durable are lost or unknown. Once. */
  onFailed: (error: HedgerowError) => void;
  /**
   * Calls back in a later turn, and so begins a group's write. Default setImmediate: all appends of one
   * turn of the event loop share a sync, those of callbacks that a sync woke too.
   */
  defer?: (step: () => void) => void;
  /** Durability `async` only: calls `sync` once, some 100 ms later. */
  scheduleSync?: (sync: () => void) => void;
  /** Monotonic, microseconds; needed for `observe`. */
  now?: () => number;
  observe?: (group: LogGroupFigures) => void;
}
