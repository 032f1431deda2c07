// Loads nodes into a node table of a data directory: each batch is one transaction.

import type { Database, PropertyValue, Table } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { NodeKey } from '../../../model/node-refs.ts';
import type { LineBatch } from '../line-batches.ts';
import { reasonOf } from '../rows/edge-line.ts';
import { nodeOfLine } from '../rows/node-line.ts';
import { KeptBatch } from './kept-batch.ts';
import type { Intake, NewNodeTable, NodesTarget, TableColumn } from './target.ts';

type Transaction = ReturnType<Database['begin']>;

/** Throws `table_not_found`, and the errors of creating a table. */
export async function openDirectoryNodes(
  database: Database,
  wanted: NewNodeTable,
  create: boolean,
): Promise<NodesTarget> {
  if (create) return new DirectoryNodes(database, await createNodeTable(database, wanted));
  const known = knownTable(database, wanted.name);
  if (known !== undefined) return new DirectoryNodes(database, known);
  throw new HedgerowError(
    'table_not_found',
    `There is no node table ${wanted.name} in ${database.dir}. Make it with --create.`,
  );
}

/** Returns the node table with that name, which is created when it is missing. */
export async function createNodeTable(database: Database, { name, key }: NewNodeTable): Promise<Table> {
  return knownTable(database, name) ?? database.nodes.createTable({ name, key });
}

function knownTable(database: Database, name: string): Table | undefined {
  return database.nodes.tables().find((table) => table.name.toLowerCase() === name.toLowerCase());
}

class DirectoryNodes implements NodesTarget {
  /** A batch may replace nodes of the one before. */
  readonly window = 1;
  readonly counts = { inserted: 0, replaced: 0 };
  readonly rowsBefore: number;
  readonly #database: Database;
  readonly #table: Table;

  constructor(database: Database, table: Table) {
    this.#database = database;
    this.#table = table;
    this.rowsBefore = table.rowCount;
  }

  get tableName(): string {
    return this.#table.name;
  }

  get place(): string {
    return this.#database.dir;
  }

  get key(): TableColumn {
    return this.#database.nodes.item(this.#table).key;
  }

  columns(): readonly TableColumn[] {
    return this.#database.nodes.item(this.#table).columns;
  }

  async addColumn(column: TableColumn): Promise<void> {
    await this.#database.nodes.alterTable(this.#table.name, { kind: 'addColumn', column });
  }

  async insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number> {
    const once = key === undefined ? undefined : new KeptBatch(this.#database, key, batch, intake.stopAtFirst);
    const transaction = this.#database.begin();
    const counts = { inserted: 0, replaced: 0 };
    try {
      this.#stage(transaction, batch, intake, counts);
      const before = once?.countsBefore();
      const lines = counts.inserted + counts.replaced;
      if (before !== undefined || lines === 0) {
        transaction.rollback();
        this.#count(before ?? counts);
        return before === undefined ? 0 : before.inserted + (before.replaced ?? 0);
      }
      await transaction.commit(once === undefined ? undefined : () => once.entry(counts));
      this.#count(counts);
      return lines;
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  }

  #count({ inserted, replaced = 0 }: { readonly inserted: number; readonly replaced?: number | undefined }): void {
    this.counts.inserted += inserted;
    this.counts.replaced += replaced;
  }

  #stage(
    transaction: Transaction,
    batch: LineBatch,
    intake: Intake,
    counts: { inserted: number; replaced: number },
  ): void {
    for (let index = 0; index < batch.count; index++) {
      try {
        const row = nodeOfLine(batch, index);
        if (row === null) continue;
        if (this.#write(transaction, row)) counts.inserted++;
        else counts.replaced++;
      } catch (error) {
        intake.reject(batch, index, reasonOf(error));
        if (intake.stopAtFirst) return;
      }
    }
  }

  /** Inserts or replaces a node. Returns whether it is new. */
  #write(transaction: Transaction, properties: Record<string, PropertyValue | undefined>): boolean {
    const name = this.key.name.toLowerCase();
    const own = Object.keys(properties).find((each) => each.toLowerCase() === name);
    const key = own === undefined ? undefined : properties[own];
    try {
      transaction.insertNode(this.#table, properties);
      return true;
    } catch (error) {
      if (!(error instanceof HedgerowError) || error.code !== 'node_exists') throw error;
    }
    const number = transaction.findNode(this.#table, key as NodeKey);
    transaction.updateRow(
      this.#table,
      { eventTs: number, id: number },
      { event_ts: number, members: [number], properties },
    );
    return false;
  }

  async compact(): Promise<void> {
    await this.#database.compact({ table: this.#table.name });
  }
}
