// A snapshot of a table: one version pinned, seen at one LSN.

import type { RowPlan } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { Table } from './table.ts';
import type { Version } from './version.ts';

export class Snapshot {
  readonly #table: Table;
  readonly version: Version;
  readonly lsn: number;
  /** The table's columns when the snapshot was taken. */
  readonly columns: ColumnSet;
  /**
   * How whole rows are written with those columns: a scan that is given it shows them, otherwise
   * the table's newest ones.
   */
  readonly rowPlan: RowPlan;
  #released = false;

  constructor(table: Table, version: Version, lsn: number) {
    this.#table = table;
    this.version = version;
    this.lsn = lsn;
    this.columns = table.columns;
    this.rowPlan = table.rowPlan;
    table.countSnapshot(1);
  }

  /** Lets the version go; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#table.countSnapshot(-1);
    this.#table.unpin(this.version);
  }
}
