// When tables are compacted without being asked: at their threshold, and when rows in the log pass the memory budget.

import type { Table } from '../table.ts';

/** Memtables of all tables may take this share of the memory budget before a compaction is forced, but always 16 MB. */
const MEMTABLE_SHARE = 0.5;
const MEMTABLE_FLOOR_BYTES = 16 * 2 ** 20;
/** Memory is looked at once in so many commits: the look costs a call for each table. */
const COMMITS_A_LOOK = 32;

export interface TriggerOptions {
  memoryBudgetBytes: number;
  tables: () => Iterable<Table>;
  /** Bytes of all instances with memtables. */
  memtableBytes: () => number;
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

  constructor(options: TriggerOptions) {
    this.#options = options;
    this.#limitBytes = Math.max(MEMTABLE_FLOOR_BYTES, options.memoryBudgetBytes * MEMTABLE_SHARE);
  }

  /** To be called after each commit of a table. */
  committed(table: Table): void {
    const threshold = table.definition.compactThreshold;
    if (threshold > 0 && table.pending >= Math.max(threshold, table.retryPending)) {
      void this.#compactSoon(table, 'threshold');
    } else if (++this.#commits % COMMITS_A_LOOK === 0 && !this.#relieving && this.#isOver()) this.#relieve();
  }

  /**
   * Compacts the largest table when the budget is passed. In the middle of a replay: recovery then needs no more memory than running does,
   * and between two frames all is whole. A failure (say, a full disk) does not keep the database from opening.
   */
  async shrink(): Promise<void> {
    const largest = this.#isOver() ? this.#largest() : undefined;
    if (largest !== undefined) await this.#compactSoon(largest, 'replay');
  }

  /** Compacts the largest table, in the middle of a replay that finds no memory. False: that gained nothing. */
  async makeRoom(): Promise<boolean> {
    const largest = this.#largest();
    if (largest === undefined || largest.pending === 0) return false;
    await this.#compactSoon(largest, 'replay');
    return largest.pending === 0;
  }

  #isOver(): boolean {
    return this.#options.memtableBytes() > this.#limitBytes;
  }

  /** The table with the most in its memtables that may be compacted now. */
  #largest(): Table | undefined {
    const ready = [...this.#options.tables()].filter(
      (table) => table.corrupt === null && table.pending >= table.retryPending,
    );
    return ready.sort((a, b) => b.memtableBytes - a.memtableBytes)[0];
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
      table.retryPending = table.pending * 2;
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
