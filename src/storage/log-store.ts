// The log as others see it: its operations, the options of its opening, and the figures it tells.

import type { HedgerowError } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import type { Fs } from './fs.ts';
import type { HeldLogFile } from './held-frames.ts';
import type { DroppedBytes, LogFrame } from './log-recovery.ts';

export interface LogStore {
  /** Newest LSN inside a synced frame (0 = nothing yet). */
  readonly durableLsn: number;
  /** Newest LSN given out. */
  readonly headLsn: number;
  /** Bytes of all live log files' used parts. */
  readonly sizeBytes: number;
  readonly failed: HedgerowError | null;
  /** Whether there is a log file of format 2. Before the first one the manifest must be durable. */
  readonly hasFiles: boolean;
  /**
   * Queues one frame of `operations` LSNs (1 or more); parts are copied at once. Returns its first LSN. Throws `log_failed` or `disk_full` when
   * poisoned, `draining` when closed, `body_too_large` above 1 GiB.
   */
  append(operations: number, parts: readonly Uint8Array[]): number;
  /**
   * As `append`, for a frame of many megabytes: it is made in slices, with `pause` between them, and queued when it is whole. Nothing else may be appended from the
   * call until it resolves, and the parts must stay as they are. Rejects as `append` throws; nothing is queued then.
   */
  appendInSlices(operations: number, parts: readonly Uint8Array[], pause: () => Promise<void>): Promise<number>;
  /**
   * Frames with an LSN above `afterLsn` (and above `minimumLsn`), in order. Only before the first append. Throws `corrupt`.
   */
  replay(afterLsn: number): Iterable<LogFrame>;
  /** Removes files whose every LSN is <= `lsn`, but never the newest. Call it after the manifest that vouches for these LSNs is installed. */
  truncate(lsn: number): Promise<void>;
  /** Keeps every file with an LSN above `afterLsn` until it is released, and says where the frames up to `durableLsn` stand. */
  hold(afterLsn: number): HeldLog;
  /**
   * Whether a frame with so many bytes of payload fits what is prepared on the disk: the active file, then the one spare. The last 64 KB are for `urgent` frames. True until the
   * next append.
   */
  roomFor(payloadBytes: number, urgent: boolean): boolean;
  /** Prepares until `roomFor(payloadBytes, false)` holds. Rejects with `disk_full` or `disk_failed` when it cannot: the log stays open, a later call tries again. */
  makeRoom(payloadBytes: number): Promise<void>;
  /** Throws, and poisons the log, with `conflict` when another process took over. To be called before each manifest is installed. */
  assertOwner(): void;
  /** Resolves when everything appended so far is durable; rejects when poisoned. */
  flush(): Promise<void>;
  /** Flushes, seals, closes. Rejects when that fails; not when the log was poisoned before. */
  close(): Promise<void>;
}

/** A stretch of the log that nothing truncates. */
export interface HeldLog {
  readonly afterLsn: number;
  readonly lastLsn: number;
  /** Oldest first; none when there are no LSNs between the two. */
  readonly files: readonly HeldLogFile[];
  release(): void;
}

/** Figures of one group that was written. */
export interface LogGroupFigures {
  frames: number;
  operations: number;
  bytes: number;
  /** From the start of the write to the end of the sync, by `now`; rotation included. */
  elapsedUs: number;
}

export interface LogOptions {
  fs: Fs;
  /** Made when missing. Nothing else lives in it: only the log syncs this directory. */
  dir: string;
  crc32c: Crc32c;
  /** `async`: onDurable comes after the write, the sync follows when `scheduleSync` calls. */
  durability: 'fsync' | 'async';
  /** Size of a log file, but for the first of an opening, which is never above 1 MB. Default 16 MB. */
  fileBytes?: number;
  /** The manifest vouches for all LSNs up to here: no table needs them from the log. */
  minimumLsn: number;
  /** Newest LSN the manifest knows to have been in the log (say, of the newest row in a segment). A log that ends below is corrupt. Default `minimumLsn`. */
  reachedLsn?: number;
  /** Whether there is a manifest. Left out where there are no manifests. */
  manifest?: 'present' | 'missing';
  /** Random number below 2^53 that tells this process from others that claim the log. Default 0: for tests. */
  owner?: number;
  /** Unacknowledged bytes at the end of the log are dropped. Once, at open. */
  onDropped?: (dropped: DroppedBytes) => void;
  /** All operations up to `lsn` may be acknowledged. Once per group. */
  onDurable: (lsn: number) => void;
  /** The log is poisoned; LSNs not reported durable are lost or unknown. Once. */
  onFailed: (error: HedgerowError) => void;
  /** Begins a group's write. Default setImmediate: all appends of one turn of the event loop share a sync, those of callbacks that a sync woke too. */
  defer?: (step: () => void) => void;
  /** Durability `async` only: calls `sync` once, some 100 ms later. */
  scheduleSync?: (sync: () => void) => void;
  /** Monotonic, microseconds; needed for `observe`. */
  now?: () => number;
  observe?: (group: LogGroupFigures) => void;
}
