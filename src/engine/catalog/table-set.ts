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
  #ofEdges: readonly Table[] | undefined;
  #ofNodes: readonly Table[] | undefined;
  /** Id of the next table; ids are never reused. */
  nextId = 1;
  /** Number of the next node as far as dropped node tables tell; see `drop_table`. */
  nextNumber = 1;
  /** Number of catalog changes since the start. */
  version = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  add(table: Table): void {
    assert(!this.#byId.has(table.id) && this.find(table.name) === undefined, 'tables have ids and names of their own');
    // This may lack memory in a replay, which then tries again.
    if (table.isOfNodes) this.#context.nodes.attach(table);
    this.#forgetLists();
    this.#byName.set(table.name.toLowerCase(), table);
    this.#byId.set(table.id, table);
    this.nextId = Math.max(this.nextId, table.id + 1);
    if (table.definition.nodes !== undefined) this.#context.nodes.addUser(table);
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
      this.nextNumber = Math.max(this.nextNumber, change.nextNumber ?? 1);
      this.#forgetLists();
      this.#byId.delete(table.id);
      this.#byName.delete(table.name.toLowerCase());
      this.#context.nodes.removeUser(table);
      if (table.isOfNodes) this.#context.nodes.orders.forget(this.#context.nodes.kindOf(table));
      table.filters?.close();
      table.change({ dropped: true, filters: undefined, shapeLsn: lsn });
      return;
    }
    if (isOfShape(change)) {
      this.#forgetLists();
      this.#byName.delete(table.name.toLowerCase());
      table.define(changed(table.definition, change));
      this.#byName.set(table.name.toLowerCase(), table);
      table.change({ shapeLsn: lsn });
      if (table.isOfNodes) this.#renamed(table, lsn);
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

  /** Gives the tables whose members are nodes of a node table its new name. */
  #renamed(nodeTable: Table, lsn: number): void {
    this.#context.nodes.attach(nodeTable);
    for (const table of this.#context.nodes.usersOf(nodeTable)) {
      const place = table.definition.nodes!.indexOf(nodeTable.id);
      const memberTables = table.definition.memberTables.with(place, nodeTable.name);
      table.define({ ...table.definition, memberTables });
      table.changed(lsn);
    }
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

  /** Returns the hyperedge table with that name. Throws `table_not_found`. */
  edges(name: string): Table {
    const table = this.get(name);
    if (table.isOfNodes)
      throw new HedgerowError(
        'table_not_found',
        `${table.name} is a node table, not a table of hyperedges: its rows are nodes.`,
        { fields: { listed: 'tables' } },
      );
    return table;
  }

  /** Returns the node table with that name. Throws `table_not_found`. */
  nodes(name: string): Table {
    const table = this.find(name);
    if (table?.isOfNodes === true) return table;
    const known = this.ofNodes().map((each) => each.name);
    const list = known.length === 0 ? 'There is none.' : `There are: ${known.join(', ')}.`;
    const what =
      table === undefined ? `There is no node table ${JSON.stringify(name)}.` : `${table.name} is no node table.`;
    throw new HedgerowError('table_not_found', `${what} ${list}`);
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

  /** Returns the hyperedge tables like `sorted`. */
  ofEdges(): readonly Table[] {
    this.#ofEdges ??= this.sorted().filter(({ isOfNodes }) => !isOfNodes);
    return this.#ofEdges;
  }

  /** Returns the node tables like `sorted`. */
  ofNodes(): readonly Table[] {
    this.#ofNodes ??= this.sorted().filter(({ isOfNodes }) => isOfNodes);
    return this.#ofNodes;
  }

  #forgetLists(): void {
    this.#sorted = undefined;
    this.#ofEdges = undefined;
    this.#ofNodes = undefined;
  }
}
