// Decides when tables are compacted automatically: when a table reaches its threshold, when the
// memtables exceed their share of the memory budget, and when a memtable becomes too old.
//
// With many tables, checking all of them after each commit would cost more than the commit. Memory
// is therefore measured as the total size of the core instances that contain memtables. All tables
// are visited only when this size exceeds the limit or the log has grown by LSNS_A_LOOK.

import { assert } from '../../assert.ts';
import type { Table } from '../table/table.ts';

/**
 * Share of the memory budget that the memtables of all tables may use before a compaction is
 * forced; never less than 16 MB.
 */
const MEMTABLE_SHARE = 0.5;
const MEMTABLE_FLOOR_BYTES = 16 * 2 ** 20;
/** Number of commits between two checks of memory; a check costs one call per instance. */
const COMMITS_A_LOOK = 32;
/**
 * OLDEST_LSNS: a table is compacted when the base LSN of its oldest memtable is this far below the
 * head, because a memtable stores LSNs as 32-bit offsets from its base LSN. LSNS_A_LOOK: number of
 * LSNs between two checks for such tables.
 */
const OLDEST_LSNS = 2 ** 31;
const LSNS_A_LOOK = 2 ** 26;

export interface TriggerOptions {
  memoryBudgetBytes: number;
  tables: () => Iterable<Table>;
  /** Total size in bytes of the core instances that contain memtables. */
  memtableBytes: () => number;
  headLsn: () => number;
  /** Tests override OLDEST_LSNS and LSNS_A_LOOK with these lower values. */
  oldestLsns?: number;
  lsnsALook?: number;
  /** Compacts the table; calls `started` when the compaction begins. */
  compact: (table: Table, started?: () => void) => Promise<unknown>;
  notice: (message: string, fields: Record<string, unknown>) => void;
}

export class CompactionTrigger {
  readonly #options: TriggerOptions;
  readonly #limitBytes: number;
  /** Tables whose compaction is queued. */
  readonly #wanted = new Set<Table>();
  #relieving = false;
  #commits = 0;
  #lookedLsn = 0;

  constructor(options: TriggerOptions) {
    this.#options = options;
    this.#limitBytes = Math.max(MEMTABLE_FLOOR_BYTES, options.memoryBudgetBytes * MEMTABLE_SHARE);
  }

  /** Starts a compaction if one is due. Must be called after each commit that writes to a table. */
  committed(table: Table): void {
    const threshold = table.definition.compactThreshold;
    if (threshold > 0 && table.pending >= Math.max(threshold, table.retryPending)) {
      void this.#compactSoon(table, 'threshold');
      return;
    }
    if (++this.#commits % COMMITS_A_LOOK !== 0) return;
    if (!this.#relieving && this.#isOver()) this.#relieve();
    this.#compactOld();
  }

  /**
   * Compacts the table with the largest memtables if all memtables together exceed their limit.
   * Called during replay, between two frames, when the state is consistent; thus recovery needs no
   * more memory than normal operation. A compaction that fails (on a full disk, for example) does
   * not prevent the database from opening.
   */
  async shrink(): Promise<void> {
    const largest = this.#isOver() ? this.#largest() : undefined;
    if (largest !== undefined) await this.#compactSoon(largest, 'replay');
  }

  /**
   * Compacts the table with the largest memtables during a replay that has run out of memory.
   * Resolves with false if there is none or its compaction failed.
   */
  async makeRoom(): Promise<boolean> {
    const largest = this.#largest();
    if (largest === undefined) return false;
    await this.#compactSoon(largest, 'replay');
    return largest.pending === 0;
  }

  #isOver(): boolean {
    return this.#options.memtableBytes() > this.#limitBytes;
  }

  /** Returns, among the tables that may be compacted now, the one with the largest memtables. */
  #largest(): Table | undefined {
    let largest: Table | undefined;
    let most = -1;
    for (const table of this.#options.tables()) {
      if (table.pending === 0 || table.corrupt !== null || table.pending < table.retryPending) continue;
      const bytes = table.memtableBytes;
      if (bytes <= most) continue;
      largest = table;
      most = bytes;
    }
    return largest;
  }

  /**
   * Starts compactions of tables whose oldest memtable begins far below the head, before the LSN
   * offsets of its rows overflow.
   */
  #compactOld(): void {
    const { headLsn, tables, oldestLsns = OLDEST_LSNS, lsnsALook = LSNS_A_LOOK, notice } = this.#options;
    const head = headLsn();
    assert(head >= this.#lookedLsn, 'the newest LSN never goes back');
    if (head - this.#lookedLsn < lsnsALook) return;
    this.#lookedLsn = head;
    for (const table of tables()) {
      const oldest = table.version.memtables.find(({ memtable }) => memtable.rows > 0);
      if (oldest === undefined || head - oldest.baseLsn < oldestLsns || table.corrupt !== null) continue;
      notice('compacting: a table has rows in the log from long ago', { table: table.name, lsn: oldest.baseLsn });
      void this.#compactSoon(table, 'age');
    }
  }

  #relieve(): void {
    const largest = this.#largest();
    if (largest === undefined) return;
    this.#relieving = true;
    this.#options.notice('compacting: rows in the log pass the memory budget', {
      table: largest.name,
      bytes: largest.memtableBytes,
    });
    this.#compactSoon(largest, 'memory').finally(() => {
      this.#relieving = false;
    });
  }

  async #compactSoon(table: Table, reason: string): Promise<void> {
    if (this.#wanted.has(table)) return;
    this.#wanted.add(table);
    try {
      await this.#options.compact(table, () => this.#wanted.delete(table));
    } catch (error) {
      table.change({ retryPending: table.pending * 2 });
      this.#options.notice('a compaction in the background failed; it is tried again when twice as much is pending', {
        table: table.name,
        reason,
        detail: (error as Error).message,
      });
    } finally {
      this.#wanted.delete(table);
    }
  }
}
