// Keeps the log short: compacts the tables that still need the oldest part of the log. A corrupt
// table cannot be compacted, so its operations are copied out of the log.
//
// A table with pending operations needs the log from its applied LSN on, even if it is rarely
// written and the log grows by writes to other tables. When the log exceeds its limit, the table
// with the oldest applied LSN among those with pending operations is compacted. Then the two oldest
// are compacted, then four and so on, until the log is shorter than half the limit. So not all
// tables are compacted each time.

import type { Table } from '../table/table.ts';
import { neededAfter } from './checkpoint.ts';

export interface LogReliefOptions {
  limitBytes: number;
  /** Total size of the log files in bytes. */
  logBytes: () => number;
  tables: () => Iterable<Table>;
  /**
   * Compacts tables and installs a manifest, which truncates the log. With an empty list it only
   * installs a manifest.
   */
  compact: (tables: readonly Table[]) => Promise<unknown>;
  /** Copies the operations of a corrupt table out of the log. */
  copyOut: (table: Table) => Promise<void>;
  notice: (message: string, fields: Record<string, unknown>) => void;
}

/** Maximum number of tables that one call compacts. */
const MOST_AT_ONCE = 1000;

export class LogRelief {
  readonly #options: LogReliefOptions;
  /**
   * Log size at which the next run begins: the limit, or twice the log size after the last run if
   * that is more.
   */
  #nextBytes: number;
  #running = false;

  constructor(options: LogReliefOptions) {
    this.#options = options;
    this.#nextBytes = options.limitBytes;
  }

  /** Starts a run if the log is too long. Must be called after each commit. */
  committed(): void {
    const { logBytes, notice } = this.#options;
    if (this.#running) return;
    const bytes = logBytes();
    if (bytes < this.#nextBytes) return;
    this.#running = true;
    notice('compacting: the log has passed its limit', { bytes });
    void this.#relieve();
  }

  async #relieve(): Promise<void> {
    const { limitBytes, logBytes, notice } = this.#options;
    try {
      await this.#shorten();
    } catch (error) {
      notice('a compaction to shorten the log failed', { detail: (error as Error).message });
    } finally {
      this.#nextBytes = Math.max(limitBytes, logBytes() * 2);
      this.#running = false;
    }
  }

  async #shorten(): Promise<void> {
    const { limitBytes, logBytes, compact, copyOut, tables } = this.#options;
    const isLong = () => logBytes() >= limitBytes / 2;
    for (const table of tables()) if (table.corrupt !== null) await copyOut(table);
    // Documents and stored answers are written with a manifest, so installing one may be enough.
    await compact([]);
    for (let count = 1; isLong(); count = Math.min(MOST_AT_ONCE, count * 2)) {
      const oldest = oldestOf(tables(), count);
      if (oldest.length === 0) return;
      await compact(oldest).catch(async (error: unknown) => {
        // A table may have been found corrupt while it was read; its operations are copied out
        // instead.
        const corrupt = oldest.filter((table) => table.corrupt !== null);
        if (corrupt.length === 0) throw error;
        for (const table of corrupt) await copyOut(table);
      });
    }
  }
}

/**
 * Returns up to `count` tables: of those that have pending operations and can be compacted, the
 * ones that need the oldest part of the log.
 */
function oldestOf(tables: Iterable<Table>, count: number): Table[] {
  const waiting: Table[] = [];
  for (const table of tables) if (table.corrupt === null && table.pending > 0) waiting.push(table);
  if (count < waiting.length) waiting.sort((a, b) => neededAfter(a) - neededAfter(b));
  return waiting.slice(0, count);
}
