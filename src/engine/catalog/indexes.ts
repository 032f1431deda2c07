// Creates, drops and lists secondary indexes on numeric columns (PSI). An index consists of a
// catalog entry and, in each segment, an order: the rows sorted by the column's value. Because of
// the catalog entry, compactions write the order into every new segment.
//
// An index is first built and then entered in the catalog; no other compaction can begin before
// both are done. A crash in between leaves unused orders, which disappear when their segments are
// rewritten. A segment can still lack an order, because recovery may run a compaction before it
// reaches the catalog entry in the log. Reads then check the rows of that segment one by one, and
// the next compaction of the table adds the order.

import { HedgerowError } from '../../errors.ts';
import type { Column } from '../../model/columns.ts';
import type { Attach } from '../../model/kept-answer.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { Compactor } from '../compaction/compactor.ts';
import type { EngineContext } from '../context.ts';
import type { Table } from '../table/table.ts';
import type { IndexItem } from '../types.ts';
import type { Ddl } from './ddl.ts';
import type { TableSet } from './table-set.ts';
import { TextIndexes } from './text-indexes.ts';

export interface IndexesOptions {
  context: EngineContext;
  tables: TableSet;
  ddl: Ddl;
  /** Held while the catalog changes. */
  mutex: Mutex;
  compactor: Compactor;
}

export interface DroppedIndex {
  readonly table: string;
  readonly column: string;
}

export class Indexes {
  readonly #options: IndexesOptions;
  readonly text: TextIndexes;

  constructor(options: IndexesOptions) {
    this.#options = options;
    this.text = new TextIndexes(options);
  }

  /**
   * Lists the indexes of one table or of all tables, ordered by table and then by age. Throws
   * `table_not_found`.
   */
  list(tableName?: string): IndexItem[] {
    const { tables } = this.#options;
    const chosen = tableName === undefined ? tables.sorted() : [tables.get(tableName)];
    return chosen.flatMap((table) =>
      table.definition.indexes.map(({ column: id, createdAt }) => {
        const column = table.columns.withId(id)!;
        return { table: table.name, column: column.name, created_at: createdAt };
      }),
    );
  }

  /**
   * Builds the index over the existing rows and then enters it in the catalog. Reads and writes
   * continue meanwhile. Rejects with `table_not_found`, `unknown_column`, `invalid_input`,
   * `index_exists`, `table_corrupt`, `disk_full`, `disk_failed` or `log_failed`.
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

  /**
   * Removes the index from the catalog. The orders in the segments disappear when the segments are
   * rewritten. Rejects with `table_not_found` or `index_not_found`.
   */
  drop(tableName: string, columnName: string, attach?: Attach<DroppedIndex>): Promise<DroppedIndex> {
    const { tables, ddl, mutex } = this.#options;
    return mutex.run(async () => {
      const table = tables.get(tableName);
      const column = table.columns.find(columnName);
      if (column === undefined || !isIndexed(table, column)) {
        throw new HedgerowError(
          'index_not_found',
          `Table ${table.name} has no index on ${JSON.stringify(columnName)}.`,
          { fields: { listed: 'indexes' } },
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

/**
 * Returns the numeric column with that name, which must not be indexed yet. Throws
 * `unknown_column`, `invalid_input` or `index_exists`.
 */
function unindexed(table: Table, name: string): Column {
  const column = table.columns.numeric(name);
  if (isIndexed(table, column))
    throw new HedgerowError('index_exists', `Table ${table.name} has an index on ${column.name} already.`);
  return column;
}
