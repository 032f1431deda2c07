// Imports into a running server. Sends each batch as one NDJSON body, and continues when the server
// refuses a body because of a single line.

import { HedgerowClient } from '../../../client/index.ts';
import type { TableItem } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { ColumnSet } from '../../../model/columns.ts';
import { type EdgeTable, tooManyText } from '../../../model/edge.ts';
import { RoleSet } from '../../../model/roles.ts';
import { Semaphore } from '../../../schedule/locks.ts';
import { type LineBatch, type NamedNode, startOf } from '../line-batches.ts';
import { nodeLines, numbersOf } from '../node-lines.ts';
import { EdgeLineReader, reasonOf } from '../rows/edge-line.ts';
import { NoAnswer, type ServerAddress, ServerClient, ServerRefusal } from './server-client.ts';
import {
  columnsOfItem,
  type ImportTarget,
  type Intake,
  NAME_COLUMN,
  NODES_SUFFIX,
  type TableColumn,
  type TargetTable,
} from './target.ts';

export interface ServerOptions extends ServerAddress {
  /**
   * Maximum number of requests in flight. If there is more than one, batches may take effect in
   * another order.
   */
  connections: number;
  table: TargetTable;
  now: () => number;
}

/**
 * Throws an Error that explains what to do when the server cannot be reached, refuses, or does not
 * have the table.
 */
export async function openServerTarget(options: ServerOptions): Promise<ImportTarget> {
  const client = new ServerClient(options, options.now);
  return new ServerTarget(client, await tableFor(client, options.table), options);
}

async function tableFor(
  client: ServerClient,
  { name, create, bucketSeconds, intervals, roles }: TargetTable,
): Promise<TableItem> {
  const tables = await client.tables();
  const known =
    name === undefined
      ? tables.find((table) => table.primary)
      : tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  if (create && name !== undefined) return client.createTable(name, bucketSeconds, undefined, { intervals, roles });
  const names = tables.map((table) => table.name).join(', ');
  throw new Error(`There is no table ${name ?? ''} at ${client.url} (there is ${names}). Make it with --create-table.`);
}

interface CheckedLines {
  /** Indexes, within the batch, of the lines to send. */
  kept: number[];
  refused: { index: number; reason: string }[];
}

class ServerTarget implements ImportTarget {
  readonly window: number;
  readonly tableName: string;
  readonly rowsBefore: number;
  readonly #client: ServerClient;
  readonly #lines: EdgeLineReader<EdgeTable>;
  /** Bounds the number of requests in flight. */
  readonly #requests: Semaphore;
  readonly #options: ServerOptions;
  readonly #table: { readonly name: string; columns: ColumnSet; readonly maxMembers: number };
  #hasNodes = false;
  #item: TableItem;
  /**
   * The server's limit of members per edge; infinite until the server first refuses an edge that
   * exceeds it.
   */
  #maxMembers = Number.POSITIVE_INFINITY;

  constructor(client: ServerClient, item: TableItem, options: ServerOptions) {
    const { connections } = options;
    const table = {
      name: item.name,
      columns: columnsOf(item),
      maxMembers: Number.POSITIVE_INFINITY,
      roles: RoleSet.of(item.roles),
    };
    this.#table = table;
    this.#client = client;
    this.#options = options;
    this.#item = item;
    this.tableName = item.name;
    this.rowsBefore = item.row_count;
    // One batch more than the number of connections, so that a batch is checked ahead.
    this.window = connections + 1;
    this.#requests = new Semaphore(connections);
    this.#lines = new EdgeLineReader(table, (name) => (isSame(name, item.name) ? table : null));
  }

  get place(): string {
    return this.#client.url;
  }

  columns(): readonly TableColumn[] {
    return columnsOfItem(this.#item);
  }

  roles(): readonly string[] {
    return this.#item.roles ?? [];
  }

  async addColumn(column: TableColumn): Promise<void> {
    await this.#client.addColumn(this.tableName, column);
    this.#item = { ...this.#item, columns: [...this.#item.columns, column] };
    this.#table.columns = columnsOf(this.#item);
  }

  async openNodes(): Promise<Map<string, number>> {
    const name = this.tableName + NODES_SUFFIX;
    const item = (await this.#client.tables()).find((table) => isSame(table.name, name));
    this.#hasNodes = item !== undefined;
    if (item === undefined) return new Map();
    const { url, apiKey } = this.#options;
    const client = new HedgerowClient({ url, timeoutMs: 0, ...(apiKey === undefined ? {} : { apiKey }) });
    return numbersOf(
      client.query.rows(`MATCH (n:${item.name}) RETURN n.members AS members, n.${NAME_COLUMN} AS ${NAME_COLUMN}`),
    );
  }

  async addNodes(nodes: readonly NamedNode[]): Promise<void> {
    const name = this.tableName + NODES_SUFFIX;
    if (!this.#hasNodes) await this.#client.createTable(name, undefined, [{ name: NAME_COLUMN, type: 'TEXT' }]);
    this.#hasNodes = true;
    await this.#client.insertLines(name, Buffer.from(nodeLines(nodes)));
  }

  async insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined> {
    const checked = this.#check(batch, intake.stopAtFirst, undefined);
    const done = await this.#requests.take();
    try {
      if (intake.closed) return undefined;
      const inserted = await this.#send(batch, checked.kept, intake, key);
      // When the server refused an earlier line and the import stops there, these lines were never
      // reached.
      if (!intake.stopAtFirst || !intake.closed) {
        for (const { index, reason } of checked.refused) intake.reject(batch, index, reason);
      }
      return inserted;
    } finally {
      done();
    }
  }

  /**
   * Checks the lines as far as is possible without the server; `only` restricts them to some
   * indexes.
   */
  #check(batch: LineBatch, stopAtFirst: boolean, only: readonly number[] | undefined): CheckedLines {
    const kept: number[] = [];
    const refused: CheckedLines['refused'] = [];
    const count = only === undefined ? batch.count : only.length;
    for (let i = 0; i < count; i++) {
      const index = only === undefined ? i : only[i]!;
      try {
        const line = this.#lines.read(batch, index);
        if (line === null) continue;
        this.#checkMembers(line.edge.members as readonly number[]);
        kept.push(index);
      } catch (error) {
        refused.push({ index, reason: reasonOf(error) });
        if (stopAtFirst) break;
      }
    }
    return { kept, refused };
  }

  #checkMembers(members: readonly number[]): void {
    if (members.length <= this.#maxMembers) return;
    const count = new Set(members).size;
    if (count <= this.#maxMembers) return;
    throw new HedgerowError('too_many_members', `members ${tooManyText(count, this.#maxMembers)}.`);
  }

  /**
   * Sends lines as one body. When the server refuses a line, sends the others again, or with
   * `stopAtFirst` only the lines before it. A body that is too large is sent in halves.
   */
  async #send(batch: LineBatch, lines: readonly number[], intake: Intake, key: string | undefined): Promise<number> {
    let kept = lines;
    while (kept.length > 0) {
      try {
        const once = key === undefined ? undefined : `${key}-${kept[0]}-${kept.length}`;
        return await this.#client.insertLines(this.tableName, bodyOf(batch, kept), once);
      } catch (error) {
        if (!(error instanceof ServerRefusal)) throw this.#doubt(error, batch, kept);
        if (error.status === 413) return this.#sendHalves(batch, kept, intake, error, key);
        const place = error.line;
        if (place === undefined || place < 1 || place > kept.length) throw error;
        intake.reject(batch, kept[place - 1]!, withoutFrame(error.message));
        if (intake.stopAtFirst) kept = kept.slice(0, place - 1);
        else kept = this.#without(batch, kept, place - 1, error, intake);
      }
    }
    return 0;
  }

  /**
   * Returns the lines without the one at index `at`. When the refusal states the server's limit of
   * members, also rejects all other lines above that limit; otherwise each would cost a request.
   */
  #without(batch: LineBatch, kept: readonly number[], at: number, refusal: ServerRefusal, intake: Intake): number[] {
    const rest = [...kept.slice(0, at), ...kept.slice(at + 1)];
    const limit = limitIn(refusal);
    if (limit === undefined || this.#maxMembers <= limit) return rest;
    this.#maxMembers = limit;
    const checked = this.#check(batch, false, rest);
    for (const { index, reason } of checked.refused) intake.reject(batch, index, reason);
    return checked.kept;
  }

  async #sendHalves(
    batch: LineBatch,
    kept: readonly number[],
    intake: Intake,
    refusal: ServerRefusal,
    key: string | undefined,
  ): Promise<number> {
    if (kept.length === 1) {
      intake.reject(batch, kept[0]!, refusal.message);
      return 0;
    }
    const middle = kept.length >> 1;
    const first = await this.#send(batch, kept.slice(0, middle), intake, key);
    if (intake.stopAtFirst && intake.hasRejected(batch)) return first;
    return first + (await this.#send(batch, kept.slice(middle), intake, key));
  }

  #doubt(error: unknown, batch: LineBatch, kept: readonly number[]): unknown {
    if (!(error instanceof NoAnswer)) return error;
    const first = batch.after(kept[0]! - 1).line;
    const last = batch.after(kept[kept.length - 1]! - 1).line;
    return new Error(
      `${error.message} It is not known whether lines ${first} to ${last} were inserted: all of them, or none.`,
    );
  }

  compact(): Promise<void> {
    return this.#client.compact(this.tableName);
  }

  async close(): Promise<void> {}
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}

/** Returns the bytes of these lines, without a copy when they are the whole batch. */
function bodyOf(batch: LineBatch, lines: readonly number[]): Uint8Array {
  if (lines.length === batch.count) return batch.bytes;
  return Buffer.concat(lines.map((index) => batch.bytes.subarray(startOf(batch, index), batch.ends[index]! + 1)));
}

/** Removes from `Line 3: ... Nothing was inserted.` the parts that are about the whole body. */
function withoutFrame(detail: string): string {
  return detail.replace(/^Line \d+: /, '').replace(/ Nothing was inserted\.$/, '');
}

/**
 * Returns the greatest number of members that the server accepts, parsed from its message;
 * undefined when the message has another form.
 */
function limitIn(refusal: ServerRefusal): number | undefined {
  const found = refusal.code === 'too_many_members' ? /at most (\d+) are accepted/.exec(refusal.message) : null;
  return found === null ? undefined : Number(found[1]);
}

/** Older servers do not say whether a table has intervals; it then has none. */
function columnsOf({ columns, intervals }: TableItem): ColumnSet {
  return ColumnSet.of(columns, intervals === true);
}
