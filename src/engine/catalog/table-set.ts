// Holds the tables of a database, finds them by name or id, and applies catalog changes to them.

import { assert } from '../../assert.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import type { EngineContext } from '../context.ts';
import { createdTable } from '../recovery/recovery.ts';
import type { Table } from '../table/table.ts';
import { type CatalogChange, changed, isKnownChange, isOfShape } from './changes.ts';

export class TableSet {
  readonly #context: EngineContext;
  readonly #byName = new Map<string, Table>();
  readonly #byId = new Map<number, Table>();
  #sorted: readonly Table[] | undefined;
  /** Id of the next table; ids are never reused. */
  nextId = 1;
  /** Number of catalog changes since the start. */
  version = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  add(table: Table): void {
    assert(!this.#byId.has(table.id) && this.find(table.name) === undefined, 'tables have ids and names of their own');
    this.#sorted = undefined;
    this.#byName.set(table.name.toLowerCase(), table);
    this.#byId.set(table.id, table);
    this.nextId = Math.max(this.nextId, table.id + 1);
  }

  /**
   * Applies a durable catalog operation. A change of a table that no longer exists does nothing.
   * Throws `corrupt` for a kind of change that this build does not know, whatever its table.
   */
  apply(change: CatalogChange, lsn: number): void {
    if (!isKnownChange(change.op))
      throw corruption(
        `the operation at LSN ${lsn} of the log`,
        0,
        `it is a catalog change ${JSON.stringify((change as { op: unknown }).op)}, which this build does not know`,
      );
    this.version++;
    if (change.op === 'create_table') {
      const table = createdTable(this.#context, change.table, lsn);
      table.changed(lsn);
      this.add(table);
      return;
    }
    const table = this.#byId.get(change.id);
    if (table === undefined) return;
    this.#context.history.changing(change, lsn, table.definition);
    if (change.op === 'drop_table') {
      this.#sorted = undefined;
      this.#byId.delete(table.id);
      this.#byName.delete(table.name.toLowerCase());
      table.filters?.close();
      table.change({ dropped: true, filters: undefined, shapeLsn: lsn });
      return;
    }
    if (isOfShape(change)) {
      this.#sorted = undefined;
      this.#byName.delete(table.name.toLowerCase());
      table.define(changed(table.definition, change));
      this.#byName.set(table.name.toLowerCase(), table);
      table.change({ shapeLsn: lsn });
    } else table.define(changed(table.definition, change));
    if (change.op === 'drop_buckets') this.#recorded(table, change.beforeTs, lsn);
    table.changed(lsn);
  }

  /**
   * Notes that the log records which rows a TTL has dropped, so that a start does not record it
   * again: it would delete the rows inserted since. A record from before the last compaction of the
   * table, which a replay may find too, is of another drop.
   */
  #recorded(table: Table, beforeTs: number, lsn: number): void {
    if (lsn > table.appliedLsn && beforeTs === table.unlogged) table.change({ unlogged: undefined });
  }

  /** Returns the table with that name, compared case-insensitively, if there is one. */
  find(name: string): Table | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** Returns the table with that name, compared case-insensitively. Throws `table_not_found`. */
  get(name: string): Table {
    const table = this.find(name);
    if (table === undefined)
      throw new HedgerowError('table_not_found', `There is no table ${JSON.stringify(name)}.`, {
        fields: { listed: 'tables' },
      });
    return table;
  }

  byId(id: number): Table | undefined {
    return this.#byId.get(id);
  }

  /** Returns all tables in order of creation. */
  all(): Iterable<Table> {
    return this.#byId.values();
  }

  /**
   * Returns all tables ordered by name. A change to the tables leads to a new list; a list that was
   * returned is never modified.
   */
  sorted(): readonly Table[] {
    this.#sorted ??= [...this.#byId.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }
}
