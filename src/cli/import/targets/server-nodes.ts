// Loads nodes into a node table of a running server: each batch is one NDJSON body.

import type { NodeTableItem } from '../../../engine/index.ts';
import type { LineBatch } from '../line-batches.ts';
import { reasonOf } from '../rows/edge-line.ts';
import { nodeOfLine } from '../rows/node-line.ts';
import { LineSender } from './line-sender.ts';
import type { ServerClient } from './server-client.ts';
import type { Intake, NewNodeTable, NodesTarget, TableColumn } from './target.ts';

/** Throws an Error when the server cannot be reached, refuses, or does not have the table. */
export async function openServerNodes(
  client: ServerClient,
  wanted: NewNodeTable,
  create: boolean,
): Promise<NodesTarget> {
  if (create) return new ServerNodes(client, await createNodeTable(client, wanted));
  const known = await knownTable(client, wanted.name);
  if (known !== undefined) return new ServerNodes(client, known);
  throw new Error(`There is no node table ${wanted.name} at ${client.url}. Make it with --create.`);
}

/** Returns the node table with that name, which is created when it is missing. */
export async function createNodeTable(client: ServerClient, wanted: NewNodeTable): Promise<NodeTableItem> {
  return (await knownTable(client, wanted.name)) ?? client.createNodeTable(wanted);
}

async function knownTable(client: ServerClient, name: string): Promise<NodeTableItem | undefined> {
  return (await client.nodeTables()).find((table) => table.name.toLowerCase() === name.toLowerCase());
}

class ServerNodes implements NodesTarget {
  /** A batch may replace nodes of the one before. */
  readonly window = 1;
  readonly counts = { inserted: 0, replaced: 0 };
  readonly rowsBefore: number;
  readonly #client: ServerClient;
  readonly #sender: LineSender;
  #item: NodeTableItem;

  constructor(client: ServerClient, item: NodeTableItem) {
    this.#client = client;
    this.#item = item;
    this.rowsBefore = item.row_count;
    this.#sender = new LineSender(async (body, key) => {
      const { inserted, replaced } = await client.putNodes(item.name, body, key);
      this.counts.inserted += inserted;
      this.counts.replaced += replaced;
      return inserted + replaced;
    });
  }

  get tableName(): string {
    return this.#item.name;
  }

  get place(): string {
    return this.#client.url;
  }

  get key(): TableColumn {
    return this.#item.key;
  }

  columns(): readonly TableColumn[] {
    return this.#item.columns;
  }

  async addColumn(column: TableColumn): Promise<void> {
    await this.#client.addColumn(this.tableName, column, 'NODE TABLE');
    this.#item = { ...this.#item, columns: [...this.#item.columns, column] };
  }

  async insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined> {
    const kept: number[] = [];
    const refused: { index: number; reason: string }[] = [];
    for (let index = 0; index < batch.count; index++) {
      try {
        if (nodeOfLine(batch, index) !== null) kept.push(index);
      } catch (error) {
        refused.push({ index, reason: reasonOf(error) });
        if (intake.stopAtFirst) break;
      }
    }
    if (intake.closed) return undefined;
    const count = await this.#sender.send(batch, kept, intake, key);
    // When the server refused an earlier line and the import stops there, these lines were never
    // reached.
    if (!intake.stopAtFirst || !intake.closed)
      for (const { index, reason } of refused) intake.reject(batch, index, reason);
    return count;
  }

  compact(): Promise<void> {
    return this.#client.compact(this.tableName);
  }
}
