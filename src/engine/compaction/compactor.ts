// Runs compactions of tables one after the other, and counts them.

import type { ChangedTable } from '../checkpoint.ts';
import type { Mutex } from '../mutex.ts';
import type { Table } from '../table.ts';
import { compactTable, type TableCompaction } from './compact-table.ts';
import type { CompactionRunner } from './work.ts';

export interface CompactorOptions {
  /** Held while a compaction runs. */
  mutex: Mutex;
  runner: CompactionRunner;
  /** Rows of a segment at most; of wide rows it holds fewer. */
  maxRows: number;
  /** Throws when no compaction may begin. */
  assertOpen: () => void;
  installManifest: (changed: ChangedTable) => Promise<void>;
}

export class Compactor {
  readonly #options: CompactorOptions;
  /** Compactions of a table that ended well. */
  finished = 0;
  /** Those that wait for their turn. */
  queued = 0;
  /** 1 while one runs. */
  running = 0;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  /** Compacts a table when its turn has come, which `started` is told. Rows before `cutoffTs` are dropped; -Infinity: none. */
  compact(table: Table, cutoffTs: number, started?: () => void): Promise<TableCompaction> {
    return this.#turn(() => {
      started?.();
      return this.#run(table, cutoffTs, undefined);
    });
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
    const { runner, assertOpen, installManifest } = this.#options;
    assertOpen();
    const maxRows = rowsOfSegment(table, this.#options.maxRows);
    const done = await compactTable(table, { runner, maxRows, cutoffTs, alsoIndexed, installManifest });
    this.finished++;
    return done;
  }
}

/** A segment is put together in memory, several times its size: where rows are wide it ends at so many bytes, but not below so many rows. */
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
