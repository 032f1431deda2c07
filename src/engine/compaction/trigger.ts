// When tables are compacted without being asked: at their threshold, when rows in the log pass the memory budget, and when a memtable is old.
//
// With many tables a look at all of them after each commit would cost more than the commit: bytes are those of the instances that memtables share, and all tables
// are looked at only when these pass the limit, or the log has grown by LSNS_A_LOOK.

import type { Table } from '../table/table.ts';

/**
 * Memtables of all tables may take this share of the memory budget before a compaction is forced,
 * but always 16 MB.
 */
const MEMTABLE_SHARE = 0.5;
const MEMTABLE_FLOOR_BYTES = 16 * 2 ** 20;
/** Commits between two looks at memory: a look costs a call for each instance. */
const COMMITS_A_LOOK = 32;
/**
 * A memtable counts LSNs from its base in 32 bits: a table whose oldest one is so far below the
 * head is compacted.
 */
const OLDEST_LSNS = 2 ** 31;
const LSNS_A_LOOK = 2 ** 26;

export interface TriggerOptions {
  memoryBudgetBytes: number;
  tables: () => Iterable<Table>;
  /** Bytes of all instances with memtables. */
  memtableBytes: () => number;
  headLsn: () => number;
  /** Tests take less than 2^31 and 2^26. */
  oldestLsns?: number;
  lsnsALook?: number;
  /** Compacts; calls `started` when its turn has come. */
  compact: (table: Table, started?: () => void) => Promise<unknown>;
  notice: (message: string, fields: Record<string, unknown>) => void;
}

export class CompactionTrigger {
  readonly #options: TriggerOptions;
  readonly #limitBytes: number;
  /** Tables whose compaction waits for its turn. */
  readonly #wanted = new Set<Table>();
  #relieving = false;
  #commits = 0;
  #lookedLsn = 0;

  constructor(options: TriggerOptions) {
    this.#options = options;
    this.#limitBytes = Math.max(MEMTABLE_FLOOR_BYTES, options.memoryBudgetBytes * MEMTABLE_SHARE);
  }

  /** To be called after each commit of a table. */
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
   * Compacts the largest table when the budget is passed. In the middle of a replay: recovery then needs no more memory than running does,
   * and between two frames all is whole. A failure (say, a full disk) does not keep the database from opening.
   */
  async shrink(): Promise<void> {
    const largest = this.#isOver() ? this.#largest() : undefined;
    if (largest !== undefined) await this.#compactSoon(largest, 'replay');
  }

  /**
   * Compacts the largest table, in the middle of a replay that finds no memory. False: that gained
   * nothing.
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

  /** The table with the most in its memtables that may be compacted now. */
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
   * Compacts tables whose oldest memtable is far below the head, before its LSNs pass what it can
   * count.
   */
  #compactOld(): void {
    const { headLsn, tables, oldestLsns = OLDEST_LSNS, lsnsALook = LSNS_A_LOOK, notice } = this.#options;
    const head = headLsn();
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
