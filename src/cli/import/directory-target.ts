// Imports straight into a data directory: opens the database, one bulk insert a batch.

import { type Database, openDatabase, type Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { EdgeLineReader, reasonOf } from './edge-line.ts';
import type { LineBatch } from './line-batches.ts';
import type { ImportTarget, Intake, TargetTable } from './target.ts';

/** Commits that may wait for their fdatasync while the next lines are read. */
const WINDOW = 4;

export interface DirectoryOptions {
  dir: string;
  primaryTable: string;
  maxMembers: number;
  memoryBudgetMb: number;
  table: TargetTable;
}

/** Throws what `openDatabase` throws, `table_not_found` and what is wrong with a table to be made. */
export async function openDirectoryTarget(options: DirectoryOptions): Promise<ImportTarget> {
  const { dir, primaryTable, maxMembers, memoryBudgetMb } = options;
  let database: Database;
  try {
    database = await openDatabase({ dir, primaryTable, maxMembers, memoryBudgetMb });
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError('conflict', `${error.message} A server that runs on it takes the import with --url.`);
  }
  try {
    return new DirectoryTarget(database, await tableFor(database, options.table));
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function tableFor(database: Database, { name, create, bucketSeconds }: TargetTable): Promise<Table> {
  if (name === undefined) return database.table();
  const known = database.tables().find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  if (create) return database.createTable({ name, ...(bucketSeconds === undefined ? {} : { bucketSeconds }) });
  const names = database.tables().map((table) => table.name);
  throw new HedgerowError(
    'table_not_found',
    `There is no table ${name} in ${database.dir} (there is ${names.join(', ')}). Make it with --create-table.`,
  );
}

class DirectoryTarget implements ImportTarget {
  readonly window = WINDOW;
  readonly rowsBefore: number;
  readonly #database: Database;
  readonly #table: Table;
  readonly #lines: EdgeLineReader<Table>;

  constructor(database: Database, table: Table) {
    this.#database = database;
    this.#table = table;
    this.rowsBefore = table.rowCount;
    this.#lines = new EdgeLineReader(table, (name) => database.table(name));
  }

  get tableName(): string {
    return this.#table.name;
  }

  insert(batch: LineBatch, intake: Intake): Promise<number> {
    const refused: Refusal[] = [];
    // Lines that name other tables are rare: only then the slower way over a transaction, so that the batch stays one commit.
    const staged = this.#stageBulk(batch, intake, refused) ?? this.#stageTransaction(batch, intake, refused);
    for (const { index, reason } of refused) intake.reject(batch, index, reason);
    return staged();
  }

  /** Gives the commit, or null when a line goes into another table. */
  #stageBulk(batch: LineBatch, intake: Intake, refused: Refusal[]): (() => Promise<number>) | null {
    const table = this.#table;
    const bulk = table.bulk();
    try {
      for (let index = 0; index < batch.ends.length; index++) {
        try {
          const line = this.#lines.read(batch, index);
          if (line === null) continue;
          if (line.table !== table) {
            bulk.discard();
            refused.length = 0;
            return null;
          }
          bulk.add(line.edge);
        } catch (error) {
          refused.push({ index, reason: reasonOf(error) });
          if (intake.stopAtFirst) break;
        }
      }
    } catch (error) {
      bulk.discard();
      throw error;
    }
    if (bulk.count > 0) return () => bulk.commit().then((result) => result.inserted);
    bulk.discard();
    return () => Promise.resolve(0);
  }

  #stageTransaction(batch: LineBatch, intake: Intake, refused: Refusal[]): () => Promise<number> {
    const transaction = this.#database.begin();
    try {
      for (let index = 0; index < batch.ends.length; index++) {
        try {
          const line = this.#lines.read(batch, index);
          if (line !== null) transaction.insert(line.table, line.edge);
        } catch (error) {
          refused.push({ index, reason: reasonOf(error) });
          if (intake.stopAtFirst) break;
        }
      }
    } catch (error) {
      transaction.rollback();
      throw error;
    }
    return () => transaction.commit().then(({ results }) => results.length);
  }

  async compact(): Promise<void> {
    await this.#database.compact({ table: this.#table.name });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

interface Refusal {
  index: number;
  reason: string;
}
