// Options of the engine: its environment as injected ports, and its limits.

import type { CoreModule } from '../core/index.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Fs, LogGroupFigures, OpenLog } from '../storage/index.ts';
import type { CompactionRunner } from './compaction/work.ts';
import type { KeptAnswerLimits } from './idempotency/idempotency-store.ts';
import type { MemtableLimits } from './table/memtable-room.ts';

/** Everything the engine needs from its environment; `openDatabase` supplies it for Node. */
export interface EngineOptions {
  dir: string;
  fs: Fs;
  /** Runs compactions; `stop` shuts down whatever it started. */
  runner: CompactionRunner & { stop?: () => Promise<void> };
  /** Epoch milliseconds. */
  now: () => number;
  /** Monotonic microseconds. */
  nowUs: () => number;
  /** Calls back once after `delayMs` milliseconds, without keeping the process alive. */
  schedule: (callback: () => void, delayMs: number) => void;
  primaryTable: string;
  maxMembers: number;
  durability: 'fsync' | 'async';
  /** Memory budget for resident segments, in bytes. */
  memoryBudgetBytes: number;
  /** Whether node filters of segments are kept in memory; default true. */
  nodeFilters?: boolean;
  /**
   * Maximum rows per segment, at most and by default 65,536; wide rows reduce it. Tests use fewer.
   */
  segmentRows?: number;
  /**
   * Maximum bytes of records in a segment, and that a compaction takes at once; default 16 MB. A
   * larger row gets a segment to itself.
   */
  compactionBytes?: number;
  /**
   * Minimum size in bytes of the reserve file, which is released so that a DROP or a compaction
   * with a TTL finds room on a full disk. Default 0: no reserve.
   */
  reserveBytes?: number;
  /** Opens the write-ahead log; default: log files in the directory `log` below `dir`. */
  openLog?: OpenLog;
  logFileBytes?: number;
  /**
   * Random number below 2^53 that tells this process from others using the same directory. Default
   * 0, for tests.
   */
  owner?: number;
  /**
   * Number of operations from which a commit is applied in slices; default 4,096. Tests use fewer.
   */
  slicedOperations?: number;
  /** Limits of the answers kept under Idempotency-Keys. Tests use lower ones. */
  replayLimits?: Partial<KeptAnswerLimits>;
  /** How memtables share instances of the core. Tests use lower limits. */
  memtableLimits?: Partial<MemtableLimits>;
  /**
   * Maximum segments in memory, whatever their size in bytes: each takes an instance of the core,
   * and a process can have about 12,500 of those.
   */
  residentSegments?: number;
  core?: 'release' | 'plain' | 'debug';
  /**
   * The compiled core; default: the build that `core` names. The simulation passes one that runs
   * out of memory.
   */
  module?: CoreModule;
  /**
   * Shares the event loop with other long work on the thread; by default the database makes one.
   */
  scheduler?: Scheduler;
  /**
   * Calls back in a later turn of the event loop, replacing the scheduler and setImmediate, so that
   * a simulation can decide the order of turns.
   */
  defer?: (step: () => void) => void;
  /**
   * Called with events an operator may want to know about: forced compactions, background failures.
   */
  notice?: (message: string, fields: Record<string, unknown>) => void;
  observeLog?: (figures: LogGroupFigures) => void;
}
