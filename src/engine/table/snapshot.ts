// A snapshot of a table: one pinned version, seen at one LSN.

import { assert } from '../../assert.ts';
import type { RowPlan } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { RoleSet } from '../../model/roles.ts';
import type { Table } from './table.ts';
import type { Version } from './version.ts';

export class Snapshot {
  readonly #table: Table;
  readonly version: Version;
  readonly lsn: number;
  /** The table's columns when the snapshot was taken. */
  readonly columns: ColumnSet;
  readonly roles: RoleSet;
  /**
   * Row plan for these columns. A scan with this plan returns these columns instead of the newest
   * columns of the table.
   */
  readonly rowPlan: RowPlan;
  #released = false;

  constructor(table: Table, version: Version, lsn: number) {
    assert(lsn <= table.context.committer.visibleLsn, 'a snapshot shows what readers may see');
    assert(version.references > 0, 'a snapshot pins a version that is there');
    this.#table = table;
    this.version = version;
    this.lsn = lsn;
    this.columns = table.columns;
    this.roles = table.roles;
    this.rowPlan = table.rowPlan;
    table.countSnapshot(1);
    if (table.isOfNodes || table.kinds !== undefined) table.context.nodes.openedSnapshot(this, table);
  }

  /** Releases the version; further calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#table.countSnapshot(-1);
    this.#table.unpin(this.version);
    if (this.#table.isOfNodes || this.#table.kinds !== undefined) this.#table.context.nodes.releasedSnapshot(this);
  }
}

/**
 * Returns a snapshot of the state that the table had at `lsn`, which must be visible; undefined if
 * the table does not hold it any more, because of a compaction, a change of its definition, or a
 * restart since then. The caller must release it.
 */
export function snapshotAt(table: Table, lsn: number): Snapshot | undefined {
  const { version, shapeLsn } = table;
  if (table.dropped || lsn < version.sinceLsn || lsn < shapeLsn) return undefined;
  return new Snapshot(table, table.pin(), lsn);
}
