// Keeps rows that wait in memory few while an import writes them faster than they become segments:
// the engine itself looks only now and then, and never lets writers wait.

import type { Database, Table } from '../../../engine/index.ts';

/**
 * Rows of this many bytes are worth a compaction; of fewer, where times are mixed, the same
 * segments would be written again and again.
 */
const WORTH_BYTES = 4 * 2 ** 20;
/** With this many the import waits. */
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
   * To be called before each commit; resolves in the order of the calls. Failures are left to the
   * engine, which compacts by itself too: it says so where it must.
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
