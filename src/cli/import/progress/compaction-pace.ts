// Limits the rows that wait in memory when an import writes them faster than they become segments.
// The engine itself checks only now and then, and never makes writers wait.

import type { Database, Table } from '../../../engine/index.ts';

/**
 * Size of the memtables, in bytes, from which a compaction is worthwhile. Compacting smaller
 * memtables whose rows have mixed times would rewrite the same segments again and again.
 */
const WORTH_BYTES = 4 * 2 ** 20;
/** Size of the memtables, in bytes, at which the import waits for the compaction. */
const MOST_BYTES = 8 * 2 ** 20;

export class CompactionPace {
  readonly #database: Database;
  readonly #table: Table;
  #running: Promise<void> | undefined;

  constructor(database: Database, table: Table) {
    this.#database = database;
    this.#table = table;
  }

  #last: Promise<void> = Promise.resolve();

  /**
   * Starts a compaction when one is worthwhile, and waits for it when the memtables are too large.
   * Must be called before each commit; resolves in the order of the calls. Ignores failures,
   * because the engine also compacts by itself and reports a failure where that is necessary.
   */
  pace(): Promise<void> {
    this.#last = this.#last.then(() => this.#paced());
    return this.#last;
  }

  async #paced(): Promise<void> {
    const table = this.#table;
    if (table.memtableBytes < WORTH_BYTES) return;
    this.#running ??= this.#database
      .compact({ table: table.name })
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#running = undefined;
      });
    if (table.memtableBytes >= MOST_BYTES) await this.#running;
  }
}
