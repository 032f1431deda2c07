// Builds the text blocks over rows of memtables before a search needs them: after a commit, in the
// background, as soon as the rows without a block are enough for a full one. So a search after a
// large load builds few blocks itself, and a load builds each row once, not in small blocks that
// later ones take in.
//
//   rows      0 ... 4095 | 4096 ... 8191 | 8192 ... 10000
//   blocks    full         full            left to the first search (fewer than 4,096 rows)
//
// Of the memtables that a table no longer writes to, the last rows get their block here, too.
// Nothing waits for this work, and blocks of other tables are not dropped for it.

import type { CoreMemtable } from '../../core/index.ts';
import type { Table } from '../table/table.ts';
import type { MemtableTexts } from './memtable-texts.ts';
import { textWorkOf } from './text-tag.ts';

export interface TextsAheadOptions {
  readonly texts: MemtableTexts;
  /** Rows of a full block. */
  readonly pieceRows: number;
  /** Size in bytes of the records of a full block. */
  readonly pieceBytes: number;
  /** Resolves after other work has had a turn. */
  readonly pause: () => Promise<void>;
  /** Called if building has failed for another reason than memory; a search will meet it, too. */
  readonly failed: (table: Table, error: unknown) => void;
}

/** The size of a memtable from which on there may be something to build. */
interface Size {
  readonly rows: number;
  readonly bytes: number;
}

export class TextsAhead {
  readonly #options: TextsAheadOptions;
  readonly #tables = new Set<Table>();
  readonly #next = new WeakMap<CoreMemtable, Size>();
  #isRunning = false;
  #isClosed = false;

  constructor(options: TextsAheadOptions) {
    this.#options = options;
  }

  /** Begins to build if a table has enough rows without a block; to be called after each commit. */
  committed(table: Table): void {
    if (this.#isClosed || table.definition.text === undefined || this.#tables.has(table)) return;
    const memtable = table.version.memtables.at(-1)?.memtable;
    if (memtable === undefined) return;
    const { pieceRows: rows, pieceBytes: bytes } = this.#options;
    const next = this.#next.get(memtable) ?? { rows, bytes };
    if (memtable.rows < next.rows && memtable.recordBytes < next.bytes) return;
    this.#tables.add(table);
    if (!this.#isRunning) void this.#run();
  }

  /** Ends the work after the step that is under way. */
  close(): void {
    this.#isClosed = true;
  }

  /** Does one step after another. Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (const table of this.#tables) {
      try {
        do await this.#options.pause();
        while (this.#step(table));
      } catch (error) {
        this.#options.failed(table, error);
      }
      this.#tables.delete(table);
      this.#lookLater(table);
    }
    this.#isRunning = false;
  }

  /** Builds for a few milliseconds. Returns false if there is nothing to build, or no room. */
  #step(table: Table): boolean {
    const { text } = table.definition;
    if (this.#isClosed || table.dropped || text === undefined) return false;
    const work = textWorkOf(table.columns, text);
    const { memtables } = table.version;
    return memtables.some(({ memtable }, place) => {
      const isLast = place === memtables.length - 1;
      return this.#options.texts.ahead(memtable, work)?.step(isLast ? 'full' : 'any') ?? false;
    });
  }

  /** A block that could not be built now is not tried again before there are rows for another. */
  #lookLater({ version }: Table): void {
    const memtable = version.memtables.at(-1)?.memtable;
    if (memtable === undefined) return;
    const { texts, pieceRows, pieceBytes } = this.#options;
    const covered = texts.coveredOf(memtable);
    const { rows, recordBytes } = memtable;
    const isDue = rows - covered.rows >= pieceRows || recordBytes - covered.bytes >= pieceBytes;
    const from = isDue ? { rows, bytes: recordBytes } : covered;
    this.#next.set(memtable, { rows: from.rows + pieceRows, bytes: from.bytes + pieceBytes });
  }
}
