// Secondary indexes of numeric columns (PSI): an order in each segment, and an entry in the catalog that says it is kept.
//
// An index is built first and entered in the catalog then, both before another compaction can begin: a crash in between leaves orders that nobody
// asked for, which go with their segments. A segment may lack an order all the same (recovery compacts before it comes to the entry): reads then look at
// its rows, and the next compaction of the table gives it one.

import { HedgerowError } from '../../errors.ts';
import type { Column } from '../../model/columns.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { Compactor } from '../compaction/compactor.ts';
import type { EngineContext } from '../context.ts';
import type { Attach } from '../idempotency/kept-answer.ts';
import type { Table } from '../table/table.ts';
import type { IndexItem } from '../types.ts';
import type { Ddl } from './ddl.ts';
import type { TableSet } from './table-set.ts';

export interface IndexesOptions {
  context: EngineContext;
  tables: TableSet;
  ddl: Ddl;
  /** Held by whoever changes the catalog. */
  mutex: Mutex;
  compactor: Compactor;
}

export class Indexes {
  readonly #options: IndexesOptions;

  constructor(options: IndexesOptions) {
    this.#options = options;
  }

  /** Of one table or all, by table and age. Throws `table_not_found`. */
  list(tableName?: string): IndexItem[] {
    const { tables } = this.#options;
    const chosen = tableName === undefined ? tables.sorted() : [tables.get(tableName)];
    return chosen.flatMap((table) =>
      table.definition.indexes.map(({ column: id, createdAt }) => {
        const column = table.columns.columns.find((each) => each.id === id)!;
        return { table: table.name, column: column.name, created_at: createdAt };
      }),
    );
  }

  /**
   * Builds the index on what is there and enters it; resolves when both are done. Readers and writers go on meanwhile.
   * Throws (rejects) `table_not_found`, `unknown_column`, `invalid_input`, `index_exists`, `table_corrupt`, `disk_full`, `disk_failed`, `log_failed`.
   */
  async create(tableName: string, columnName: string, attach?: Attach<IndexItem>): Promise<IndexItem> {
    const { context, tables, ddl, mutex, compactor } = this.#options;
    const table = tables.get(tableName);
    table.assertUsable();
    unindexed(table, columnName);
    const commit = () =>
      mutex.run(async () => {
        table.assertUsable();
        const column = unindexed(table, columnName);
        const createdAt = Math.floor(context.now() / 1000);
        const item = { table: table.name, column: column.name, created_at: createdAt };
        await ddl.change([{ op: 'create_index', id: table.id, column: column.id, createdAt }], attach?.(item));
        return item;
      });
    return compactor.buildOrder(table, () => unindexed(table, columnName).id, commit);
  }

  /** Takes the index from the catalog; the orders go when their segments are rewritten. Throws (rejects) `table_not_found`, `index_not_found`. */
  drop(
    tableName: string,
    columnName: string,
    attach?: Attach<{ table: string; column: string }>,
  ): Promise<{ table: string; column: string }> {
    const { tables, ddl, mutex } = this.#options;
    return mutex.run(async () => {
      const table = tables.get(tableName);
      const column = table.columns.find(columnName);
      if (column === undefined || !isIndexed(table, column)) {
        throw new HedgerowError(
          'index_not_found',
          `Table ${table.name} has no index on ${JSON.stringify(columnName)}. GET /v1/indexes lists them.`,
        );
      }
      const dropped = { table: table.name, column: column.name };
      await ddl.change([{ op: 'drop_index', id: table.id, column: column.id }], attach?.(dropped));
      return dropped;
    });
  }
}

function isIndexed(table: Table, column: Column): boolean {
  return table.definition.indexes.some(({ column: id }) => id === column.id);
}

/** A numeric column that has no index yet. Throws `unknown_column`, `invalid_input`, `index_exists`. */
function unindexed(table: Table, name: string): Column {
  const column = table.columns.numeric(name);
  if (isIndexed(table, column))
    throw new HedgerowError('index_exists', `Table ${table.name} has an index on ${column.name} already.`);
  return column;
}
