// Opens a database on Node: real files, the real clock, compaction in a worker thread, and defaults
// for omitted options.

import { randomInt } from 'node:crypto';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { DEFAULT_MAX_MEMBERS, DEFAULT_PRIMARY_TABLE, MEGABYTE } from '../limits.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { nodeFs } from '../storage/index.ts';
import { WorkerRunner } from './compaction/worker-runner.ts';
import { Database } from './database.ts';
import type { EngineOptions } from './engine-options.ts';

/**
 * Disk space held back for a DROP or a compaction with a TTL on a full disk. Before they free
 * space, they write a manifest and the part of a segment that has not expired.
 */
const RESERVE_BYTES = 8 * MEGABYTE;

/** Options of `openDatabase`; only `dir` is required. */
export interface DatabaseOptions {
  /** Data directory; created if missing. Only one process may have it open. */
  dir: string;
  /** Default `hyperedges`. */
  primaryTable?: string;
  /** Maximum distinct members per edge; default 64, at most 255. */
  maxMembers?: number;
  /**
   * `fsync` (default): a write is durable when its promise resolves. `async`: the log is synced
   * every 100 ms.
   */
  durability?: 'fsync' | 'async';
  /** Memory budget for segments in MB; default: half of the machine's memory. */
  memoryBudgetMb?: number;
  /**
   * Whether the node filters of segments are kept in memory; default true. Without them, lookups by
   * node search every segment. False is meant for bulk loads, whose memory use must not grow with
   * the table.
   */
  nodeFilters?: boolean;
  /**
   * How long changes are kept for `database.changes`: `seconds`, but never more than `bytes` of
   * log; null: not at all. By default this stays as it is in the directory; in a new one, changes
   * are not kept.
   */
  history?: EngineOptions['history'];
  /**
   * Whether the database follows a leader: nothing can be written to it but the frames of the
   * leader's log (`database.applier`). Its directory comes from a backup of the leader.
   */
  follows?: boolean;
  /**
   * Whether the directory is a copy that may be made anew when the machine has crashed. Then writes
   * are not synced. By default false.
   */
  isCopy?: boolean;
  /**
   * Opens the write-ahead log. By default the log is in files below `dir`.
   */
  openLog?: EngineOptions['openLog'];
  /**
   * Shares the event loop between the long work of a thread. Pass the same scheduler to all
   * databases of a thread. By default the database creates its own.
   */
  scheduler?: Scheduler;
  notice?: EngineOptions['notice'];
  observeLog?: EngineOptions['observeLog'];
  onVisible?: EngineOptions['onVisible'];
}

/** Upper bound of the range that `randomInt` accepts. */
const MOST_OWNERS = 2 ** 48 - 1;

export function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { openLog, notice, observeLog, onVisible, scheduler } = options;
  const schedule = (callback: () => void, delayMs: number) => void setTimeout(callback, delayMs).unref();
  return Database.open({
    dir: resolve(options.dir),
    owner: randomInt(MOST_OWNERS),
    fs: nodeFs,
    runner: new WorkerRunner(schedule),
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    schedule,
    primaryTable: options.primaryTable ?? DEFAULT_PRIMARY_TABLE,
    maxMembers: options.maxMembers ?? DEFAULT_MAX_MEMBERS,
    durability: options.durability ?? 'fsync',
    memoryBudgetBytes: options.memoryBudgetMb === undefined ? totalmem() / 2 : options.memoryBudgetMb * MEGABYTE,
    nodeFilters: options.nodeFilters ?? true,
    reserveBytes: RESERVE_BYTES,
    ...(options.history === undefined ? {} : { history: options.history }),
    ...(options.follows === true ? { follows: true } : {}),
    ...(options.isCopy === true ? { isCopy: true } : {}),
    ...(openLog ? { openLog } : {}),
    ...(scheduler ? { scheduler } : {}),
    ...(notice ? { notice } : {}),
    ...(observeLog ? { observeLog } : {}),
    ...(onVisible ? { onVisible } : {}),
  });
}
