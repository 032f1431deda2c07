// What the engine is given: the world as ports, and its limits.

import type { CoreModule } from '../core/index.ts';
import type { Fs } from '../storage/fs.ts';
import type { LogGroupFigures } from '../storage/log.ts';
import type { CompactionRunner } from './compaction/work.ts';
import type { ReplayLimits } from './replays.ts';

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
  logFileBytes?: number;
  /** Operations from which on a commit is made in slices; default 4,096. Tests take less. */
  slicedOperations?: number;
  /** How many answers are kept under Idempotency-Keys. Tests take less. */
  replayLimits?: Partial<ReplayLimits>;
  core?: 'release' | 'plain' | 'debug';
  /** The compiled core; default the build that `core` names. A simulation gives one whose memory runs out. */
  module?: CoreModule;
  /** Calls back in a later turn of the event loop; default setImmediate. A simulation decides the order of such turns. */
  defer?: (step: () => void) => void;
  /** Told about things a person may want to know: forced compactions, failures in the background. */
  notice?: (message: string, fields: Record<string, unknown>) => void;
  observeLog?: (figures: LogGroupFigures) => void;
}
