// The nodes that a commit creates because its edges take keys that nobody has used: rows of node
// tables, in the same frame as the edges and before them.

import { assert } from '../../assert.ts';
import { OPERATION, runHeader } from '../commit/operations.ts';
import type { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import type { NodeDirectory } from './node-directory.ts';

/** The new nodes of one node table: their records, and their numbers. */
interface BirthRun {
  readonly table: Table;
  readonly numbers: Uint32Array;
  readonly records: Uint8Array;
}

export class Births {
  readonly #directory: NodeDirectory;
  readonly #runs: readonly BirthRun[];
  /** Number of nodes; each is one operation of the frame. */
  readonly operations: number;
  /** The runs of the frame. */
  readonly parts: readonly Uint8Array[];

  /** `runs` are the new nodes of each node table. The dictionary must have room for them. */
  private constructor(directory: NodeDirectory, runs: readonly BirthRun[]) {
    this.#directory = directory;
    this.#runs = runs;
    this.operations = runs.reduce((sum, { numbers }) => sum + numbers.length, 0);
    this.parts = runs.flatMap(({ table, numbers, records }) => [
      runHeader(OPERATION.insert, table.id, numbers.length, records.length),
      records,
    ]);
  }

  /**
   * Returns the nodes that a commit must create: those of the held numbers that no other commit has
   * created meanwhile. Undefined if there are none. Throws `overloaded` or `table_corrupt`.
   */
  static of(directory: NodeDirectory, held: readonly number[]): Births | undefined {
    if (held.length === 0) return undefined;
    const runs: BirthRun[] = [];
    for (const { slot, numbers } of directory.keys.unborn(Uint32Array.from(held))) {
      const { table, keyColumn } = directory.kindOfSlot(slot);
      table.assertUsable();
      runs.push({ table, numbers, records: directory.keys.records(numbers, slot, keyColumn) });
    }
    return runs.length === 0 ? undefined : new Births(directory, runs);
  }

  get tables(): Table[] {
    return this.#runs.map(({ table }) => table);
  }

  /** Reserves memory for the rows. Throws `overloaded`. */
  takeRoom(room: RowRoom): void {
    for (const { table, numbers, records } of this.#runs) room.addRows(table, records, numbers.length);
  }

  /** Applies the operations, which are the first of a frame that begins with `firstLsn`. */
  apply(room: RowRoom, firstLsn: number, lastLsn: number): void {
    let lsn = firstLsn;
    for (const { table, numbers } of this.#runs) {
      const { count } = room.append(lsn);
      assert(count === numbers.length, 'every node that was logged is applied');
      this.#directory.created(table, numbers);
      table.change({ nextId: Math.max(table.nextId, numbers.at(-1)! + 1) });
      table.countOperations(count, 0);
      lsn += count;
      table.changeRows(lastLsn, count);
      table.changed(lsn - 1);
    }
    assert(lsn === firstLsn + this.operations, 'the nodes of a frame are its operations');
  }
}
