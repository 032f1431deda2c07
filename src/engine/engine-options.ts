// Options of the engine: the functions and objects through which it uses its environment, and its
// limits.

import type { CoreModule } from '../core/index.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Fs, LogGroupFigures, LogHistory, OpenLog } from '../storage/index.ts';
import type { CompactionRunner } from './compaction/work.ts';
import type { KeptAnswerLimits } from './idempotency/idempotency-store.ts';
import type { MemtableLimits } from './table/memtable-room.ts';

/** Everything the engine needs from its environment; `openDatabase` supplies it for Node. */
export interface EngineOptions {
  dir: string;
  fs: Fs;
  /** Runs compactions; `stop` shuts down any thread that the runner started. */
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
  /** Whether the log is a copy of another one (`LogOpening.isCopy`). */
  isCopy?: boolean;
  /**
   * Memory budget in bytes: for segments in memory, node filters, memtables pinned by readers, and
   * node counts. Memtables are compacted when they exceed half of it.
   */
  memoryBudgetBytes: number;
  /** Whether node filters of segments are kept in memory; default true. */
  nodeFilters?: boolean;
  /**
   * Maximum rows per segment. The default, 65,536, is also the highest allowed value. Segments of
   * large rows hold fewer. Tests use lower values.
   */
  segmentRows?: number;
  /**
   * Maximum total size in bytes of the records in a segment, and in one step of a compaction;
   * default 16 MB. A larger row gets a segment of its own.
   */
  compactionBytes?: number;
  /**
   * Minimum size in bytes of the reserve file, which is deleted so that a DROP or a compaction with
   * a TTL finds room on a full disk. By default (0) there is no reserve.
   */
  reserveBytes?: number;
  /**
   * Opens the write-ahead log. By default the log is in files in the directory `log` below `dir`.
   */
  openLog?: OpenLog;
  logFileBytes?: number;
  /**
   * How long changes are kept for those who read them; null: not at all. By default this stays as
   * it is in the directory; in a new one, changes are not kept.
   */
  history?: LogHistory | null;
  /**
   * Whether the database follows a leader: nothing can be written to it but the frames of the
   * leader's log (`Database.applier`). Its directory comes from a backup of the leader.
   */
  follows?: boolean;
  /**
   * Random number below 2^53 that distinguishes this process from others using the same directory.
   * The default 0 is for tests.
   */
  owner?: number;
  /**
   * Commits of at least this many operations are applied in slices; default 4,096. Tests use lower
   * values.
   */
  slicedOperations?: number;
  /**
   * Maximum number of rows that a text block over rows of a memtable covers; default 4,096. Tests
   * use lower values.
   */
  textPieceRows?: number;
  /** Limits for the answers stored under Idempotency-Keys. Tests use lower limits. */
  replayLimits?: Partial<KeptAnswerLimits>;
  /** Limits for memtables and for the core instances that they share. Tests use lower limits. */
  memtableLimits?: Partial<MemtableLimits>;
  /**
   * Maximum number of segments in memory, regardless of their size in bytes. Each segment needs an
   * instance of the core, and a process can have about 12,500 instances.
   */
  residentSegments?: number;
  core?: 'release' | 'plain' | 'debug';
  /**
   * The compiled core; by default the build named by `core`. The simulation passes a module that
   * runs out of memory.
   */
  module?: CoreModule;
  /**
   * Shares the event loop between the long work of this thread. By default the database creates its
   * own scheduler.
   */
  scheduler?: Scheduler;
  /**
   * Runs `step` in a later turn of the event loop, in place of the scheduler and setImmediate, so
   * that a simulation can decide the order of turns.
   */
  defer?: (step: () => void) => void;
  /**
   * Called for events that an operator may want to know about: forced compactions, failures in the
   * background.
   */
  notice?: (message: string, fields: Record<string, unknown>) => void;
  observeLog?: (figures: LogGroupFigures) => void;
  /** Called with the newest visible LSN before a write up to it is acknowledged. */
  onVisible?: (lsn: number) => void;
}
