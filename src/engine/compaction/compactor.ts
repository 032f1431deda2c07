// Runs compactions of tables one after the other, and counts them. Many small tables share a
// manifest.

import type { Core } from '../../core/index.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { ChangedTable } from '../checkpoint/checkpoint.ts';
import type { Table } from '../table/table.ts';
import { needsCompaction, type PreparedTable, prepareTable, type TableCompaction } from './compact-table.ts';
import { compactionError, isInDoubt } from './failure.ts';
import type { CompactionRunner } from './work.ts';

/**
 * One manifest is for at most so many tables, or as many as have so many bytes of new segments
 * together.
 */
const GROUP_TABLES = 1000;
const GROUP_BYTES = 256 * 2 ** 20;
/** Tables that are only looked at between two pauses. */
const LOOKS_A_SLICE = 512;

export interface CompactorOptions {
  /** Held while a compaction runs. */
  mutex: Mutex;
  runner: CompactionRunner;
  /** Rows of a segment at most; of wide rows it holds fewer. */
  maxRows: number;
  /**
   * Bytes of the records of a segment, and of those that a merge takes at once, at most; default 16
   * MB.
   */
  maxBytes?: number | undefined;
  /** Makes the instance that opens the heads of new segments; called once. */
  instantiate: () => Core;
  pause: () => Promise<void>;
  /**
   * Runs work of a compaction that drops rows; when the disk is full, once more with the room of
   * the reserve.
   */
  withReserve: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws when no compaction may begin. */
  assertOpen: () => void;
  /**
   * Makes the manifest that holds these tables with these segments and everything else as it is.
   */
  installManifest: (changed: readonly ChangedTable[]) => Promise<void>;
}

/** What a compaction of many tables did. */
export interface GroupedCompaction {
  /**
   * Those that are compacted now, in the order given, without those that were dropped meanwhile.
   */
  tables: Table[];
  tombstones: number;
  edgesDropped: number;
  bucketsDropped: number;
  /** A manifest was installed. */
  isInstalled: boolean;
}

export class Compactor {
  readonly #options: CompactorOptions;
  readonly #maxBytes: number;
  #scratch: Core | undefined;
  /** Compactions of a table that ended well. */
  finished = 0;
  /** Those that wait for their turn. */
  queued = 0;
  /** 1 while one runs. */
  running = 0;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? FILE_BYTES;
  }

  /**
   * Compacts a table when its turn has come, which `started` is told. Rows before `cutoffTs` are
   * dropped; -Infinity: none.
   */
  compact(table: Table, cutoffTs: number, started?: () => void): Promise<TableCompaction> {
    return this.#turn(() => {
      started?.();
      return this.#run(table, cutoffTs, undefined);
    });
  }

  /**
   * Compacts tables in groups that each get one manifest; those with nothing to do are only looked at. At least one manifest is installed, so that the log
   * is let go of. A group ends early when DDL, another compaction or the end of the database waits for its turn.
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
   * Gives each segment of a table the order of one more column, then calls `commit` before any other compaction can begin. `column` is asked for its id when the
   * turn has come; what it throws ends the work.
   */
  buildOrder<T>(table: Table, column: () => number, commit: () => Promise<T>): Promise<T> {
    return this.#turn(async () => {
      await this.#run(table, -Infinity, column());
      return commit();
    });
  }

  #turn<T>(work: () => Promise<T>): Promise<T> {
    this.queued++;
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

  async #run(table: Table, cutoffTs: number, alsoIndexed: number | undefined): Promise<TableCompaction> {
    this.#options.assertOpen();
    table.assertUsable();
    if (!needsCompaction(table, cutoffTs, alsoIndexed)) {
      await this.#options.installManifest([]);
      this.finished++;
      return { pendingBefore: 0, tombstones: 0, edgesDropped: 0, bucketsDropped: 0 };
    }
    const prepared = await this.#prepare(table, cutoffTs, alsoIndexed);
    const [done] = await this.#install([prepared]);
    return done!;
  }

  /** One group, from a place in the list on; returns the place to go on from. */
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
      // Dropped or found corrupt while others were compacted: drops wait for a compaction that
      // runs.
      if (table.dropped || table.corrupt !== null) continue;
      const cutoffTs = cutoffOf(table);
      result.tables.push(table);
      if (!needsCompaction(table, cutoffTs)) continue;
      try {
        const prepared = await this.#prepare(table, cutoffTs, undefined);
        group.push(prepared);
        bytes += prepared.newBytes;
      } catch (error) {
        failure = { error };
        break;
      }
    }
    // What was prepared before a failure is whole: it is installed all the same.
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

  #prepare(table: Table, cutoffTs: number, alsoIndexed: number | undefined): Promise<PreparedTable> {
    const { runner, maxRows, instantiate, withReserve } = this.#options;
    this.#scratch ??= instantiate();
    const scratch = this.#scratch;
    const limits = { maxRows: rowsOfSegment(table, maxRows), maxBytes: this.#maxBytes };
    const work = () => prepareTable(table, { runner, cutoffTs, alsoIndexed, scratch, ...limits });
    return cutoffTs === -Infinity ? work() : withReserve(work);
  }

  /** Installs one manifest for all that was prepared. When that fails nothing of it is visible. */
  async #install(group: readonly PreparedTable[]): Promise<TableCompaction[]> {
    const { installManifest, pause, runner, withReserve } = this.#options;
    const changed = group.map((prepared) => prepared.changed);
    const work = () => installManifest(changed);
    try {
      // Not tried again: what was not synced once is not durable.
      await runner.flush?.().catch((error: unknown) => Promise.reject(compactionError(error)));
      await (changed.some(({ expired }) => expired) ? withReserve(work) : work());
    } catch (error) {
      for (const prepared of group) {
        if (isInDoubt(error)) prepared.leave();
        else await prepared.giveUp();
      }
      throw error;
    }
    const done: TableCompaction[] = [];
    for (const prepared of group) {
      done.push(prepared.finish());
      this.finished++;
      if (done.length % LOOKS_A_SLICE === 0) await pause();
    }
    return done;
  }
}

/**
 * A segment is put together in memory, several times its size: where rows are wide it ends at so
 * many bytes of records.
 */
const FILE_BYTES = 16 * 2 ** 20;
/**
 * Rows are counted so that a segment has about so many bytes, but not below so many rows;
 * FILE_BYTES bounds it in any case.
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
