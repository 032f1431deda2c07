// Runs compactions of tables one after another and counts them. A compaction of all tables handles
// them in groups, each of which installs at most one manifest.

import { assert } from '../../assert.ts';
import type { Core } from '../../core/index.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { TextIndex } from '../catalog/catalog.ts';
import type { ChangedTable } from '../checkpoint/checkpoint.ts';
import type { Table } from '../table/table.ts';
import {
  type AlsoBuilt,
  needsCompaction,
  type PreparedTable,
  prepareTable,
  type TableCompaction,
} from './compact-table.ts';
import { compactionError, isInDoubt } from './failure.ts';
import type { CompactionRunner } from './work.ts';

/**
 * A group of tables that share one manifest ends when this many of its tables have new segments, or
 * when these segments have this total size.
 */
const GROUP_TABLES = 1000;
const GROUP_BYTES = 256 * 2 ** 20;
/** Number of tables that are visited, or whose compactions are finished, between two pauses. */
const LOOKS_A_SLICE = 512;

export interface CompactorOptions {
  /** Held during a compaction. */
  mutex: Mutex;
  runner: CompactionRunner;
  /** Maximum rows per segment; segments of large rows contain fewer. */
  maxRows: number;
  /**
   * Maximum total size in bytes of the records per segment, and per step of a merge; default 16 MB.
   */
  maxBytes?: number | undefined;
  /**
   * Creates the core instance that reads the headers of new segments; called at the first
   * compaction.
   */
  instantiate: () => Core;
  pause: () => Promise<void>;
  /**
   * Runs the work of a compaction that may drop rows (TTL). If the disk is full, deletes the
   * reserve file and runs the work again.
   */
  withReserve: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws if no compaction may begin, for example because the database is closed. */
  assertOpen: () => void;
  /** Installs a manifest with these tables' new segments and everything else unchanged. */
  installManifest: (changed: readonly ChangedTable[]) => Promise<void>;
  /**
   * Called after live rows of a table before a time were dropped and the manifest is installed.
   * Must not reject.
   */
  dropped: (table: Table, beforeTs: number) => Promise<void>;
}

/** Result of compacting many tables. */
export interface GroupedCompaction {
  /**
   * The tables that were compacted or needed no compaction, in the given order. Dropped and corrupt
   * tables are left out.
   */
  tables: Table[];
  tombstones: number;
  edgesDropped: number;
  bucketsDropped: number;
  /** Whether a manifest was installed. */
  isInstalled: boolean;
}

export class Compactor {
  readonly #options: CompactorOptions;
  readonly #maxBytes: number;
  #scratch: Core | undefined;
  /**
   * Number of successful table compactions. A compaction of all tables counts once for each table
   * that needed it.
   */
  finished = 0;
  /** Number of compactions waiting for the mutex. */
  queued = 0;
  /** 1 while a compaction runs, else 0. */
  running = 0;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? FILE_BYTES;
  }

  /**
   * Compacts a table once the mutex is free; calls `started` when the compaction begins. Drops the
   * rows with a time before `cutoffTs`; -Infinity drops none.
   */
  compact(table: Table, cutoffTs: number, started?: () => void): Promise<TableCompaction> {
    return this.#turn(() => {
      started?.();
      return this.#run(table, cutoffTs, {});
    });
  }

  /**
   * Compacts tables in groups with one manifest each. Tables that need no compaction are skipped.
   * At least one manifest is installed, so that the log is truncated. A group ends early when
   * something else waits for the mutex: DDL, a backup, another compaction, the closing of the
   * database.
   */
  async compactAll(tables: readonly Table[], cutoffTs: (table: Table) => number): Promise<GroupedCompaction> {
    const result: GroupedCompaction = {
      tables: [],
      tombstones: 0,
      edgesDropped: 0,
      bucketsDropped: 0,
      isInstalled: false,
    };
    let from = 0;
    do {
      from = await this.#turn(() => this.#group(tables, from, cutoffTs, result));
    } while (from < tables.length);
    return result;
  }

  /**
   * Adds the sort order of one more column to each segment of a table that has values in it, then
   * calls `commit` before any other compaction can begin. `column` returns the id of that column.
   * `column` is called when the mutex is held; if it throws, nothing is done.
   */
  buildOrder<T>(table: Table, column: () => number, commit: () => Promise<T>): Promise<T> {
    return this.#turn(async () => {
      await this.#run(table, -Infinity, { column: column() });
      return commit();
    });
  }

  /** Does the same as `buildOrder` with the section of a text index. */
  buildText<T>(table: Table, text: () => TextIndex, commit: () => Promise<T>): Promise<T> {
    return this.#turn(async () => {
      await this.#run(table, -Infinity, { text: text() });
      return commit();
    });
  }

  /** Runs `work` while no compaction runs. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.mutex.run(work);
  }

  #turn<T>(work: () => Promise<T>): Promise<T> {
    this.queued++;
    assert(this.running <= 1, 'one compaction runs at a time');
    return this.#options.mutex.run(async () => {
      this.queued--;
      this.running++;
      try {
        return await work();
      } finally {
        this.running--;
      }
    });
  }

  async #run(table: Table, cutoffTs: number, also: AlsoBuilt): Promise<TableCompaction> {
    this.#options.assertOpen();
    table.assertUsable();
    if (!needsCompaction(table, cutoffTs, also)) {
      await this.#options.installManifest([]);
      this.finished++;
      return { pendingBefore: 0, tombstones: 0, edgesDropped: 0, bucketsDropped: 0 };
    }
    const prepared = await this.#prepare(table, cutoffTs, also);
    const [done] = await this.#install([prepared]);
    return done!;
  }

  /** Compacts one group, starting at index `from` of the list; returns the index to continue at. */
  async #group(
    tables: readonly Table[],
    from: number,
    cutoffOf: (table: Table) => number,
    result: GroupedCompaction,
  ): Promise<number> {
    const { assertOpen, mutex, pause } = this.#options;
    assertOpen();
    const group: PreparedTable[] = [];
    let bytes = 0;
    let place = from;
    let failure: { error: unknown } | undefined;
    for (; place < tables.length && group.length < GROUP_TABLES && bytes < GROUP_BYTES; place++) {
      if (place > from && mutex.waiting > 0) break;
      if ((place + 1 - from) % LOOKS_A_SLICE === 0) await pause();
      const table = tables[place]!;
      // The table was dropped before the group began (a drop waits for a running compaction), or
      // was found corrupt while others were compacted.
      if (table.dropped || table.corrupt !== null) continue;
      const cutoffTs = cutoffOf(table);
      result.tables.push(table);
      if (!needsCompaction(table, cutoffTs)) continue;
      try {
        const prepared = await this.#prepare(table, cutoffTs, {});
        group.push(prepared);
        bytes += prepared.newBytes;
      } catch (error) {
        failure = { error };
        break;
      }
    }
    // The tables prepared before a failure are complete, so their segments are still installed.
    const isLast = place === tables.length;
    if (group.length > 0 || (isLast && !result.isInstalled && failure === undefined)) {
      result.isInstalled = true;
      for (const done of await this.#install(group)) {
        result.tombstones += done.tombstones;
        result.edgesDropped += done.edgesDropped;
        result.bucketsDropped += done.bucketsDropped;
      }
    }
    if (failure !== undefined) throw failure.error;
    return place;
  }

  async #prepare(table: Table, wantedTs: number, also: AlsoBuilt): Promise<PreparedTable> {
    const { runner, maxRows, instantiate, withReserve, dropped } = this.#options;
    const { unlogged } = table;
    // The manifest names one time to be recorded. Until an earlier drop is recorded, which may have
    // failed because the disk was full, nothing else is dropped. The record deletes older rows that
    // came since, so it is made only if this compaction would drop them too.
    if (unlogged !== undefined && wantedTs >= unlogged) await dropped(table, unlogged);
    const cutoffTs = table.unlogged === undefined ? wantedTs : -Infinity;
    this.#scratch ??= instantiate();
    const scratch = this.#scratch;
    const limits = { maxRows: rowsOfSegment(table, maxRows), maxBytes: this.#maxBytes };
    const work = () => prepareTable(table, { runner, cutoffTs, also, scratch, ...limits });
    return await (cutoffTs === -Infinity ? work() : withReserve(work));
  }

  /**
   * Installs one manifest for all prepared tables. If that fails, none of their new segments
   * becomes visible, unless the failure is in doubt (`isInDoubt`) and a restart finds the manifest.
   */
  async #install(group: readonly PreparedTable[]): Promise<TableCompaction[]> {
    const { installManifest, dropped, pause, runner, withReserve } = this.#options;
    const changed = group.map((prepared) => prepared.changed);
    const work = () => installManifest(changed);
    try {
      // A failed flush is not retried: after one failed sync, the data must be considered lost.
      await runner.flush?.().catch((error: unknown) => Promise.reject(compactionError(error)));
      await (changed.some(({ droppedTs }) => droppedTs !== undefined) ? withReserve(work) : work());
    } catch (error) {
      for (const prepared of group) {
        if (isInDoubt(error)) prepared.leave();
        else await prepared.giveUp();
      }
      throw error;
    }
    assert(changed.length === group.length, 'a manifest is for every table that was prepared');
    const done: TableCompaction[] = [];
    for (const prepared of group) {
      done.push(prepared.finish());
      this.finished++;
      const { table, droppedTs } = prepared.changed;
      if (droppedTs !== undefined) await dropped(table, droppedTs);
      if (done.length % LOOKS_A_SLICE === 0) await pause();
    }
    return done;
  }
}

/**
 * Default for the maximum total size of the records in a segment. There is a maximum because a
 * segment is built in memory, which takes several times its size.
 */
const FILE_BYTES = 16 * 2 ** 20;
/**
 * The maximum number of rows of a segment is chosen so that the segment has about SEGMENT_BYTES. It
 * is at least LEAST_ROWS, but never more than the option `maxRows`. The limit in bytes applies in
 * any case.
 */
const SEGMENT_BYTES = 4 * 2 ** 20;
const LEAST_ROWS = 4096;

function rowsOfSegment(table: Table, most: number): number {
  let rows = 0;
  let bytes = 0;
  for (const { facts } of table.version.segments) {
    rows += facts.rows;
    bytes += facts.bytes;
  }
  for (const { memtable } of table.version.memtables) {
    rows += memtable.rows;
    bytes += memtable.recordBytes;
  }
  return rows === 0 ? most : Math.min(most, Math.max(LEAST_ROWS, Math.floor((rows / bytes) * SEGMENT_BYTES)));
}
