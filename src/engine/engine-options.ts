// What the engine is given: the world as ports, and its limits.

import type { CoreModule } from '../core/index.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Fs, LogGroupFigures, OpenLog } from '../storage/index.ts';
import type { CompactionRunner } from './compaction/work.ts';
import type { KeptAnswerLimits } from './idempotency/idempotency-store.ts';
import type { MemtableLimits } from './table/memtable-room.ts';

/** Everything the engine needs of the world; `openDatabase` fills it for Node. */
export interface EngineOptions {
  dir: string;
  fs: Fs;
  /** Runs compactions; `stop` ends what it started. */
  runner: CompactionRunner & { stop?: () => Promise<void> };
  /** Epoch milliseconds. */
  now: () => number;
  /** Monotonic microseconds. */
  nowUs: () => number;
  /** Calls back once after so many milliseconds, without keeping the process alive. */
  schedule: (callback: () => void, delayMs: number) => void;
  primaryTable: string;
  maxMembers: number;
  durability: 'fsync' | 'async';
  /** Segments in memory take at most so many bytes. */
  memoryBudgetBytes: number;
  /** Whether node filters of segments are held in memory; default true. */
  nodeFilters?: boolean;
  /** Rows of a segment, at most and by default 65,536; of wide rows it holds fewer. Tests take less. */
  segmentRows?: number;
  /** Bytes of records that a segment holds, and that a compaction takes at once, at most; default 16 MB; a larger row is a segment of its own. */
  compactionBytes?: number;
  /** Least bytes of the file that is given up so that a DROP, or a compaction with a TTL, finds room on a full disk. Default 0: there is none. */
  reserveBytes?: number;
  /** Opens the write-ahead log; default: one in files, in the directory `log` of `dir`. */
  openLog?: OpenLog;
  logFileBytes?: number;
  /** Random number below 2^53 that tells this process from others on the same directory. Default 0: for tests. */
  owner?: number;
  /** Operations from which on a commit is made in slices; default 4,096. Tests take less. */
  slicedOperations?: number;
  /** How many answers are kept under Idempotency-Keys. Tests take less. */
  replayLimits?: Partial<KeptAnswerLimits>;
  /** How memtables share instances of the core. Tests take less. */
  memtableLimits?: Partial<MemtableLimits>;
  /** Segments in memory at most, whatever their bytes: each has an instance of the core, of which a process can have some 12,500. */
  residentSegments?: number;
  core?: 'release' | 'plain' | 'debug';
  /** The compiled core; default the build that `core` names. A simulation gives one whose memory runs out. */
  module?: CoreModule;
  /** Shares the event loop with other long work of the thread; default one of its own. */
  scheduler?: Scheduler;
  /** Calls back in a later turn of the event loop, instead of the scheduler and setImmediate: a simulation decides the order of such turns. */
  defer?: (step: () => void) => void;
  /** Told about things a person may want to know: forced compactions, failures in the background. */
  notice?: (message: string, fields: Record<string, unknown>) => void;
  observeLog?: (figures: LogGroupFigures) => void;
}
