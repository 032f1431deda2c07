// The tables of a database by name and by id, and what catalog changes do to them.

import { HedgerowError } from '../errors.ts';
import { type CatalogChange, withIndexChange } from './catalog.ts';
import type { EngineContext } from './context.ts';
import { createdTable } from './recovery.ts';
import type { Table } from './table.ts';

export class TableSet {
  readonly #context: EngineContext;
  readonly #byName = new Map<string, Table>();
  readonly #byId = new Map<number, Table>();
  /** Id of the next table; ids are never given out again. */
  nextId = 1;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  add(table: Table): void {
    this.#byName.set(table.name.toLowerCase(), table);
    this.#byId.set(table.id, table);
    this.nextId = Math.max(this.nextId, table.id + 1);
  }

  /** Does what a durable catalog operation says. */
  apply(change: CatalogChange, lsn: number): void {
    switch (change.op) {
      case 'create_table': {
        const table = createdTable(this.#context, change.table, lsn);
        table.changed(lsn);
        this.add(table);
        return;
      }
      case 'drop_table': {
        const table = this.#byId.get(change.id);
        if (!table) return;
        this.#byId.delete(change.id);
        this.#byName.delete(table.name.toLowerCase());
        table.dropped = true;
        return;
      }
      case 'set_threshold': {
        const table = this.#byId.get(change.id);
        if (!table) return;
        table.definition = { ...table.definition, compactThreshold: change.threshold };
        table.changed(lsn);
        return;
      }
      case 'create_index':
      case 'drop_index': {
        const table = this.#byId.get(change.id);
        if (!table) return;
        table.definition = withIndexChange(table.definition, change);
        table.changed(lsn);
      }
    }
  }

  /** Name compared without case. */
  find(name: string): Table | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** Name compared without case. Throws `table_not_found`. */
  get(name: string): Table {
    const table = this.find(name);
    if (table === undefined)
      throw new HedgerowError(
        'table_not_found',
        `There is no table ${JSON.stringify(name)}. GET /v1/tables lists them.`,
      );
    return table;
  }

  byId(id: number): Table | undefined {
    return this.#byId.get(id);
  }

  /** In the order they were made. */
  all(): Iterable<Table> {
    return this.#byId.values();
  }

  /** By name. */
  sorted(): Table[] {
    return [...this.#byId.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
