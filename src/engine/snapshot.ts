// A snapshot of a table: one version pinned, seen at one LSN.

import type { ColumnSet } from './columns.ts';
import type { Table } from './table.ts';
import type { Version } from './version.ts';

export class Snapshot {
  readonly #table: Table;
  readonly version: Version;
  readonly lsn: number;
  /** The table's columns when the snapshot was taken. */
  readonly columns: ColumnSet;
  #released = false;

  constructor(table: Table, version: Version, lsn: number) {
    this.#table = table;
    this.version = version;
    this.lsn = lsn;
    this.columns = table.columns;
    table.openSnapshots++;
  }

  /** Lets the version go; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#table.openSnapshots--;
    this.#table.unpin(this.version);
  }
}
