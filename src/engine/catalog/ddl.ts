// Executes DDL: checks each catalog change, logs it as one frame, and applies it once it is
// durable. Changes run one at a time.

import { HedgerowError } from '../../errors.ts';
import type { AnswerToKeep, Attach } from '../../model/kept-answer.ts';
import { checkOption } from '../../model/options.ts';
import type { Mutex } from '../../schedule/locks.ts';
import { OPERATION, singleRun } from '../commit/operations.ts';
import type { EngineContext } from '../context.ts';
import {
  defineNodeTable,
  type NodeTableInput,
  type NodeTableItem,
  nodesOf,
  nodeTableItem,
} from '../nodes/definitions.ts';
import type { Table } from '../table/table.ts';
import { tableItem } from '../table/table-item.ts';
import type { TableInput, TableItem } from '../types.ts';
import { type AlterAction, columnChange } from './alter.ts';
import { checkTableName, defineTable, type TableDefinition } from './catalog.ts';
import { type CatalogChange, changed, type DefinitionChange, optionChange } from './changes.ts';
import { stageExpiration } from './expiration.ts';
import { type NamedTableInput, namedTableChanges } from './named-table.ts';
import type { TableSet } from './table-set.ts';

export interface DdlOptions {
  context: EngineContext;
  tables: TableSet;
  /** Held while the catalog or the documents change and while a manifest is installed. */
  mutex: Mutex;
  /** Held during a compaction. */
  compactions: Mutex;
  /**
   * Removes the files of a dropped table: now, or later if no manifest can be written at present.
   * Never rejects.
   */
  forget: (table: Table) => Promise<void>;
}

export class Ddl {
  readonly #options: DdlOptions;

  constructor(options: DdlOptions) {
    this.#options = options;
  }

  /**
   * Logs the changes, and the answer to store with them if any, as one frame. Applies the changes
   * when the frame is durable. The caller must hold the mutex, except before any other work starts.
   */
  async change(changes: readonly CatalogChange[], entry?: AnswerToKeep): Promise<void> {
    const { context, tables } = this.#options;
    const { committer } = context;
    context.nodes.prepare(changes);
    const runs = changes.flatMap((change) => singleRun(OPERATION.catalog, Buffer.from(JSON.stringify(change))));
    // On a full disk, dropping a table or setting a threshold can free space, so these changes may
    // use the reserved space of the log.
    const urgent = changes.every(({ op }) => op === 'drop_table' || op === 'set_threshold');
    let lsn = 0;
    const apply = (firstLsn: number) => {
      lsn = firstLsn;
    };
    const visible = () => {
      for (const [index, change] of changes.entries()) tables.apply(change, lsn + index);
    };
    const write = () => committer.commit(changes.length, runs, { entry, apply, visible, urgent });
    const { durable } = await committer.write(write);
    await durable;
  }

  /**
   * Creates a table. Rejects with `invalid_input`, `column_exists`, `table_exists` or `log_failed`.
   */
  createTable(input: TableInput, attach?: Attach<TableItem>): Promise<Table> {
    const { context, tables, mutex } = this.#options;
    return mutex.run(async () => {
      const nodes = nodesOf(input.memberTables ?? [], (name) => nodeTableId(tables.find(name)));
      const table = defineTable(input, tables.nextId, Math.floor(context.now() / 1000), nodes);
      this.#assertFree(table.name);
      const isPrimary = table.name.toLowerCase() === context.primaryTable.toLowerCase();
      await this.change([{ op: 'create_table', table }], attach?.(tableItem(table, 0, isPrimary)));
      return tables.get(table.name);
    });
  }

  /**
   * Creates a node table. Rejects with `invalid_input`, `column_exists`, `table_exists` or
   * `log_failed`.
   */
  createNodeTable(input: NodeTableInput, attach?: Attach<NodeTableItem>): Promise<Table> {
    const { context, tables, mutex } = this.#options;
    return mutex.run(async () => {
      const table = defineNodeTable(input, tables.nextId, Math.floor(context.now() / 1000));
      this.#assertFree(table.name);
      await this.change([{ op: 'create_table', table }], attach?.(nodeTableItem(table, 0)));
      return tables.get(table.name);
    });
  }

  /**
   * Returns the hyperedge table of that name, whatever its shape. If there is none, creates it, its
   * indexes and, if necessary, its node table in one commit. Rejects with `table_not_found` if the
   * name is that of a node table, and like `createTable`.
   */
  ensureNamedTable(input: NamedTableInput): Promise<Table> {
    const { context, tables, mutex } = this.#options;
    const { name } = input.table;
    return mutex.run(async () => {
      if (tables.find(name) === undefined)
        await this.change(namedTableChanges(input, tables, Math.floor(context.now() / 1000)));
      return tables.edges(name);
    });
  }

  /** Throws `table_exists` when a table other than `self` has the name. */
  #assertFree(name: string, self?: Table): void {
    const known = this.#options.tables.find(name);
    if (known !== undefined && known !== self)
      throw new HedgerowError(
        'table_exists',
        `Table ${known.name} exists already; take another name or drop it first.`,
      );
  }

  /** Throws `table_in_use` when the members of a hyperedge table are nodes of this table. */
  #assertUnused(table: Table): void {
    const [user] = this.#options.context.nodes.usersOf(table);
    if (user !== undefined)
      throw new HedgerowError(
        'table_in_use',
        `The members of table ${user.name} are nodes of ${table.name}; drop that table first.`,
      );
  }

  /**
   * Changes the columns, the name or an option of a table; no segment is rewritten. Rejects with
   * `table_not_found`, `column_exists`, `unknown_column`, `invalid_input`, `primary_table` or
   * `table_exists`.
   */
  alterTable(name: string, action: AlterAction, attach?: Attach<TableItem>): Promise<Table> {
    return this.#alter(name, action, (table, definition) =>
      attach?.(tableItem(definition, table.rowCount, table.isPrimary)),
    );
  }

  /** Does the same for a node table. */
  alterNodeTable(name: string, action: AlterAction, attach?: Attach<NodeTableItem>): Promise<Table> {
    return this.#alter(name, action, (table, definition) => attach?.(nodeTableItem(definition, table.rowCount)));
  }

  #alter(
    name: string,
    action: AlterAction,
    entryOf: (table: Table, definition: TableDefinition) => AnswerToKeep | undefined,
  ): Promise<Table> {
    const { tables, mutex } = this.#options;
    return mutex.run(async () => {
      const table = tables.get(name);
      const change = this.#changeOf(table, action);
      await this.change([change], entryOf(table, changed(table.definition, change)));
      if (action.kind === 'setOption') this.#options.context.afterCommit(table.id);
      return table;
    });
  }

  #changeOf(table: Table, action: AlterAction): DefinitionChange {
    if (action.kind === 'setOption') {
      const { option, value } = action;
      return optionChange(table.id, option, checkOption(option, value));
    }
    if (action.kind !== 'renameTable') return columnChange(table.definition, action);
    if (table.isPrimary)
      throw new HedgerowError('primary_table', `Table ${table.name} is the primary table; it cannot be renamed.`);
    checkTableName(action.to);
    this.#assertFree(action.to, table);
    return { op: 'rename_table', id: table.id, name: action.to };
  }

  /**
   * Records that a compaction with a TTL has dropped the rows of a table before a time. Rejects
   * like `stageExpiration`.
   */
  expire(table: Table, beforeTs: number): Promise<void> {
    const { context, tables, mutex } = this.#options;
    return mutex.run(async () => {
      for (let isRecorded = false; !isRecorded; ) {
        const staged = await context.committer.write(() => stageExpiration(table, beforeTs, tables));
        await staged.durable;
        isRecorded = staged.isRecorded;
      }
    });
  }

  /**
   * Drops a table and its files. Rejects with `table_not_found`, `primary_table` or `table_in_use`.
   */
  dropTable(name: string, attach?: Attach<{ name: string }>): Promise<void> {
    const { context, tables, mutex, compactions, forget } = this.#options;
    return compactions.run(() =>
      mutex.run(async () => {
        const table = tables.get(name);
        if (table.isPrimary)
          throw new HedgerowError('primary_table', `Table ${table.name} is the primary table; it cannot be dropped.`);
        this.#assertUnused(table);
        const nextNumber = table.isOfNodes ? { nextNumber: context.nodes.nextNumber } : {};
        await this.change([{ op: 'drop_table', id: table.id, ...nextNumber }], attach?.({ name: table.name }));
        // The drop is already durable, even if the disk has no room for a manifest without the
        // table.
        await forget(table);
      }),
    );
  }

  /**
   * Sets the number of pending operations in the log at which a table is compacted, for one table
   * or for all. 0 disables automatic compaction at a threshold. Rejects with `invalid_input` or
   * `table_not_found`.
   */
  async setCompactThreshold(threshold: number, name?: string, attach?: Attach<void>): Promise<void> {
    const { context, tables, mutex } = this.#options;
    checkOption('compactThreshold', threshold, 'threshold');
    if (name !== undefined) tables.get(name);
    await mutex.run(async () => {
      const chosen = name === undefined ? tables.sorted() : [tables.get(name)];
      const changes = chosen.map(({ id }) => optionChange(id, 'compactThreshold', threshold));
      await this.change(changes, attach?.());
      for (const { id } of chosen) context.afterCommit(id);
    });
  }
}

/** Returns the id of a node table; undefined if there is no table, or one of hyperedges. */
function nodeTableId(table: Table | undefined): number | undefined {
  return table?.isOfNodes === true ? table.id : undefined;
}
