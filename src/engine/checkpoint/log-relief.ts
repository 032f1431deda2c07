// Keeps the log short: what holds its oldest part is brought into segments, or copied out when its table is corrupt.
//
// A table that is written seldom keeps the log from its applied LSN on, whatever the others write. When the log passes its limit the table with the oldest
// applied LSN that has something pending is compacted, then twice as many, and so on until the log is short: not all tables each time.

import type { Table } from '../table/table.ts';
import { neededAfter } from './checkpoint.ts';

export interface LogReliefOptions {
  limitBytes: number;
  /** Bytes of all log files. */
  logBytes: () => number;
  tables: () => Iterable<Table>;
  /** Compacts tables and installs a manifest, also for none, which lets go of the log. */
  compact: (tables: readonly Table[]) => Promise<unknown>;
  /** Copies the operations of a corrupt table out of the log. */
  copyOut: (table: Table) => Promise<void>;
  notice: (message: string, fields: Record<string, unknown>) => void;
}

/** One manifest is for at most so many tables. */
const MOST_AT_ONCE = 1000;

export class LogRelief {
  readonly #options: LogReliefOptions;
  /** Not before the log is so large; doubled when what was done could not let go of it. */
  #nextBytes: number;
  #running = false;

  constructor(options: LogReliefOptions) {
    this.#options = options;
    this.#nextBytes = options.limitBytes;
  }

  /** To be called after each commit. */
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
    // Documents and stored answers are in the manifest: installing one may be enough.
    await compact([]);
    for (let count = 1; isLong(); count = Math.min(MOST_AT_ONCE, count * 2)) {
      const oldest = oldestOf(tables(), count);
      if (oldest.length === 0) return;
      await compact(oldest).catch(async (error: unknown) => {
        // Found corrupt while it was read.
        const corrupt = oldest.filter((table) => table.corrupt !== null);
        if (corrupt.length === 0) throw error;
        for (const table of corrupt) await copyOut(table);
      });
    }
  }
}

/** The tables with the oldest applied LSNs of those that have something pending and can be compacted. */
function oldestOf(tables: Iterable<Table>, count: number): Table[] {
  const waiting: Table[] = [];
  for (const table of tables) if (table.corrupt === null && table.pending > 0) waiting.push(table);
  if (count < waiting.length) waiting.sort((a, b) => neededAfter(a) - neededAfter(b));
  return waiting.slice(0, count);
}
