// Reserves memory for a commit before it is logged: space for the records of new rows in memtables,
// and slots in the lists of dead rows. With this memory reserved, applying the commit cannot fail.

import { assert } from '../../assert.ts';
import { CoreMemtable } from '../../core/index.ts';
import type { RowPlace } from './live-rows.ts';
import type { SegmentFile } from './segment-file.ts';
import type { Table } from './table.ts';

/** The records of `count` rows, and the address of the memory reserved for them. */
interface RoomPiece {
  readonly memtable: CoreMemtable;
  readonly address: number;
  readonly bytes: Uint8Array;
  readonly count: number;
}

export class RowRoom {
  readonly #pieces: RoomPiece[] = [];
  readonly #deaths = new Map<SegmentFile, number>();
  /** Number of pieces appended. */
  #appended = 0;

  /**
   * Reserves room for `count` records of a table. `bytes` must not be modified afterwards. Throws
   * `overloaded`; earlier reservations then remain.
   */
  addRows(table: Table, bytes: Uint8Array, count: number): void {
    const memtable = table.writableMemtable(count);
    this.#pieces.push({ memtable, address: memtable.reserve(bytes.length, count), bytes, count });
  }

  /**
   * Does the same as `addRows` for records that another process sent. Returns the offset of the
   * first malformed record, or -1.
   */
  addChecked(table: Table, bytes: Uint8Array, count: number): number {
    this.addRows(table, bytes, count);
    const { memtable, address } = this.#pieces.at(-1)!;
    return memtable.checkRecords(address, bytes, count);
  }

  /** Reserves room to mark a row as dead. */
  addDeath({ source }: RowPlace): void {
    if (source instanceof CoreMemtable) return;
    const deaths = (this.#deaths.get(source) ?? 0) + 1;
    this.#deaths.set(source, deaths);
    source.dead.reserve(deaths);
  }

  /**
   * Appends the next reserved piece to its memtable. The first row of the piece gets LSN `firstLsn`
   * and is row `firstRow` of the memtable.
   */
  append(firstLsn: number): { memtable: CoreMemtable; firstRow: number; count: number } {
    const piece = this.#pieces[this.#appended];
    assert(piece !== undefined, 'a commit appends only what room was taken for');
    this.#appended++;
    const { memtable, address, bytes, count } = piece;
    const firstRow = memtable.rows;
    memtable.append(address, bytes, count, firstLsn);
    assert(memtable.rows === firstRow + count, 'a memtable takes every row of a piece');
    return { memtable, firstRow, count };
  }

  /** Releases the room that was not used, because the commit was not logged. */
  giveBack(): void {
    for (const { memtable, address, bytes, count } of this.#pieces.splice(this.#appended).reverse())
      memtable.unreserve(address, bytes.length, count);
  }
}
