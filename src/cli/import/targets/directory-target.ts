// Imports directly into a data directory: opens the database and inserts each batch in bulk.

import { type Database, openDatabase, type Table } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { LineBatch, NamedNode } from '../line-batches.ts';
import { numbersOf } from '../node-lines.ts';
import { CompactionPace } from '../progress/compaction-pace.ts';
import { EdgeLineReader, reasonOf } from '../rows/edge-line.ts';
import { createNodeTable, openDirectoryNodes } from './directory-nodes.ts';
import { KeptBatch } from './kept-batch.ts';
import {
  columnsOfItem,
  type ImportPlace,
  type ImportTarget,
  type Intake,
  NAME_COLUMN,
  NODES_SUFFIX,
  type TableColumn,
  type TargetTable,
} from './target.ts';

/** Number of commits that may wait for their fdatasync while the next lines are read. */
const WINDOW = 4;

export interface DirectoryOptions {
  dir: string;
  primaryTable: string;
  maxMembers: number;
  memoryBudgetMb: number;
}

/** Throws the errors of `openDatabase`. */
export async function openDirectoryPlace(options: DirectoryOptions): Promise<ImportPlace> {
  const { dir, primaryTable, maxMembers, memoryBudgetMb } = options;
  let database: Database;
  try {
    database = await openDatabase({ dir, primaryTable, maxMembers, memoryBudgetMb, nodeFilters: false });
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError(
      'conflict',
      `${error.message} If a server runs on the directory, --url imports through it.`,
    );
  }
  return {
    place: database.dir,
    tableNames: async () => ({
      edges: database.tables().map(({ name }) => name),
      nodes: database.nodes.tables().map(({ name }) => name),
    }),
    openTable: async (wanted) => new DirectoryTarget(database, await tableFor(database, wanted)),
    openNodeTable: (wanted, create) => openDirectoryNodes(database, wanted, create),
    close: () => database.close(),
  };
}

/** Throws `table_not_found`, and the errors of creating a table. */
async function tableFor(database: Database, wanted: TargetTable): Promise<Table> {
  const { name, create, bucketSeconds, nodes = [], intervals, roles } = wanted;
  if (name === undefined) return database.table();
  const known = database.tables().find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  if (create) {
    for (const one of nodes) await createNodeTable(database, one);
    const memberTables = nodes.map((one) => one.name);
    const options = bucketSeconds === undefined ? {} : { bucketSeconds };
    return database.createTable({ name, memberTables, intervals, roles, ...options });
  }
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
  readonly #pace: CompactionPace;
  #nodes: Table | undefined;

  constructor(database: Database, table: Table) {
    this.#database = database;
    this.#table = table;
    this.rowsBefore = table.rowCount;
    this.#pace = new CompactionPace(database, table);
    this.#lines = new EdgeLineReader(table, (name) => database.table(name));
  }

  get tableName(): string {
    return this.#table.name;
  }

  get place(): string {
    return this.#database.dir;
  }

  get kinds(): Table['kinds'] {
    return this.#table.kinds;
  }

  columns(): readonly TableColumn[] {
    return columnsOfItem(this.#table.item());
  }

  roles(): readonly string[] {
    return this.#table.roles.names;
  }

  async addColumn(column: TableColumn): Promise<void> {
    await this.#database.alterTable(this.#table.name, { kind: 'addColumn', column });
  }

  async openNodes(): Promise<Map<string, number> | undefined> {
    const name = this.#table.name + NODES_SUFFIX;
    const known = this.#database.tables().find((table) => table.name.toLowerCase() === name.toLowerCase());
    this.#nodes = known;
    return known === undefined ? undefined : numbersOf(rowsOf(known));
  }

  async addNodes(nodes: readonly NamedNode[]): Promise<void> {
    const bulk = this.#nodes!.bulk();
    try {
      for (const { id, name, event_ts } of nodes)
        bulk.add({ event_ts, members: [id], properties: { [NAME_COLUMN]: name } });
    } catch (error) {
      bulk.discard();
      throw error;
    }
    await bulk.commit();
  }

  async insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number> {
    const once = key === undefined ? undefined : new KeptBatch(this.#database, key, batch, intake.stopAtFirst);
    const refused: Refusal[] = [];
    // Lines that name other tables are rare. Only a batch with such a line uses a transaction,
    // which is slower but keeps the batch one commit.
    const staged = this.#stageBulk(batch, intake, refused) ?? this.#stageTransaction(batch, intake, refused);
    for (const { index, reason } of refused) intake.reject(batch, index, reason);
    batch.release?.();
    let before: number | undefined;
    try {
      before = once?.countsBefore()?.inserted;
    } catch (error) {
      staged.discard();
      throw error;
    }
    if (before === undefined) {
      await this.#pace.pace();
      return staged.commit(once);
    }
    staged.discard();
    return before;
  }

  /** Returns null when a line belongs to another table. */
  #stageBulk(batch: LineBatch, intake: Intake, refused: Refusal[]): Staged | null {
    const table = this.#table;
    const bulk = table.bulk();
    try {
      for (let index = 0; index < batch.count; index++) {
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
    const discard = () => bulk.discard();
    if (bulk.count === 0) {
      discard();
      return NOTHING;
    }
    return {
      discard,
      commit: async (once) =>
        (await bulk.commit(once === undefined ? undefined : ({ inserted }) => once.entry({ inserted }))).inserted,
    };
  }

  #stageTransaction(batch: LineBatch, intake: Intake, refused: Refusal[]): Staged {
    const transaction = this.#database.begin();
    let count = 0;
    try {
      for (let index = 0; index < batch.count; index++) {
        try {
          const line = this.#lines.read(batch, index);
          if (line === null) continue;
          transaction.insert(line.table, line.edge);
          count++;
        } catch (error) {
          refused.push({ index, reason: reasonOf(error) });
          if (intake.stopAtFirst) break;
        }
      }
    } catch (error) {
      transaction.rollback();
      throw error;
    }
    return {
      discard: () => transaction.rollback(),
      commit: async (once) =>
        (await transaction.commit(once === undefined ? undefined : () => once.entry({ inserted: count }))).results
          .length,
    };
  }

  async compact(): Promise<void> {
    await this.#database.compact({ table: this.#table.name });
  }
}

interface Refusal {
  index: number;
  reason: string;
}

/** Lines that have been checked but not committed. */
interface Staged {
  commit(once: KeptBatch | undefined): Promise<number>;
  discard(): void;
}

const NOTHING: Staged = { commit: async () => 0, discard() {} };

async function* rowsOf(table: Table): AsyncGenerator<object, void, undefined> {
  const scan = table.scan({ format: 'ndjson' });
  let rest = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next()) {
    const lines = (rest + Buffer.from(slice).toString()).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as object;
  }
}
