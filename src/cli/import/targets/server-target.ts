// Imports into a running server. Sends each batch as one NDJSON body, and continues when the server
// refuses a body because of a single line.

import { HedgerowClient } from '../../../client/index.ts';
import type { TableItem } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { ColumnSet } from '../../../model/columns.ts';
import { type EdgeTable, type MemberInput, tooManyText } from '../../../model/edge.ts';
import type { MemberKind } from '../../../model/node-refs.ts';
import { RoleSet } from '../../../model/roles.ts';
import { Semaphore } from '../../../schedule/locks.ts';
import type { LineBatch, NamedNode } from '../line-batches.ts';
import { nodeLines, numbersOf } from '../node-lines.ts';
import { EdgeLineReader, reasonOf } from '../rows/edge-line.ts';
import { LineSender } from './line-sender.ts';
import { type ServerAddress, ServerClient, type ServerRefusal } from './server-client.ts';
import { createNodeTable, openServerNodes } from './server-nodes.ts';
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

export interface ServerOptions extends ServerAddress {
  /**
   * Maximum number of requests in flight. If there is more than one, batches may take effect in
   * another order.
   */
  connections: number;
  now: () => number;
}

/**
 * Opening a table throws an Error that explains what to do when the server cannot be reached,
 * refuses, or does not have the table.
 */
export function openServerPlace(options: ServerOptions): ImportPlace {
  const client = new ServerClient(options, options.now);
  return {
    place: client.url,
    async tableNames() {
      const [edges, nodes] = [await client.tables(), await client.nodeTables()];
      return { edges: edges.map(({ name }) => name), nodes: nodes.map(({ name }) => name) };
    },
    async openTable(wanted) {
      const item = await tableFor(client, wanted);
      const kinds = item.nodes === 'named' ? await kindsOf(client, item.member_tables) : undefined;
      return new ServerTarget(client, item, kinds, options);
    },
    openNodeTable: (wanted, create) => openServerNodes(client, wanted, create),
    async close() {},
  };
}

/** Returns the kinds with these names, in their order. */
async function kindsOf(client: ServerClient, names: readonly string[]): Promise<MemberKind[]> {
  const tables = await client.nodeTables();
  return names.flatMap((name) => {
    const found = tables.find((table) => isSame(table.name, name));
    return found === undefined ? [] : [{ name: found.name, isInteger: found.key.type === 'INTEGER' }];
  });
}

async function tableFor(client: ServerClient, wanted: TargetTable): Promise<TableItem> {
  const { name, create, bucketSeconds, nodes = [], intervals, roles } = wanted;
  const tables = await client.tables();
  const known =
    name === undefined
      ? tables.find((table) => table.primary)
      : tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  if (create && name !== undefined) {
    for (const one of nodes) await createNodeTable(client, one);
    const memberTables = nodes.map((one) => one.name);
    return client.createTable(name, bucketSeconds, { memberTables, intervals, roles });
  }
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
  readonly #table: EdgeTable & { columns: ColumnSet; maxMembers: number };
  readonly #sender: LineSender;
  #item: TableItem;
  /**
   * The server's limit of members per edge; infinite until the server first refuses an edge that
   * exceeds it.
   */
  #maxMembers = Number.POSITIVE_INFINITY;
  readonly kinds: readonly MemberKind[] | undefined;

  constructor(client: ServerClient, item: TableItem, kinds: readonly MemberKind[] | undefined, options: ServerOptions) {
    const { connections } = options;
    const maxMembers = Number.POSITIVE_INFINITY;
    const roles = RoleSet.of(item.roles ?? []);
    const table = { name: item.name, columns: columnsOf(item), maxMembers, kinds, roles };
    this.kinds = kinds;
    this.#sender = new LineSender(
      (body, key) => client.insertLines(item.name, body, key),
      (batch, rest, refusal, intake) => this.#remaining(batch, rest, refusal, intake),
    );
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

  async openNodes(): Promise<Map<string, number> | undefined> {
    const name = this.tableName + NODES_SUFFIX;
    const item = (await this.#client.tables()).find((table) => isSame(table.name, name));
    if (item === undefined) return undefined;
    const { url, apiKey } = this.#options;
    const client = new HedgerowClient({ url, timeoutMs: 0, ...(apiKey === undefined ? {} : { apiKey }) });
    return numbersOf(
      client.query.rows(`MATCH (n:${item.name}) RETURN n.members AS members, n.${NAME_COLUMN} AS ${NAME_COLUMN}`),
    );
  }

  async addNodes(nodes: readonly NamedNode[]): Promise<void> {
    await this.#client.insertLines(this.tableName + NODES_SUFFIX, Buffer.from(nodeLines(nodes)));
  }

  async insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined> {
    const checked = this.#check(batch, intake.stopAtFirst, undefined);
    const done = await this.#requests.take();
    try {
      if (intake.closed) return undefined;
      const inserted = await this.#sender.send(batch, checked.kept, intake, key);
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
   * Checks the lines that remain after a refusal. When the refusal states the server's limit of
   * members, rejects all other lines above that limit; otherwise each would cost a request.
   */
  #remaining(batch: LineBatch, rest: readonly number[], refusal: ServerRefusal, intake: Intake): readonly number[] {
    const limit = limitIn(refusal);
    if (limit === undefined || this.#maxMembers <= limit) return rest;
    this.#maxMembers = limit;
    this.#table.maxMembers = this.kinds === undefined ? Number.POSITIVE_INFINITY : limit;
    const checked = this.#check(batch, false, rest);
    for (const { index, reason } of checked.refused) intake.reject(batch, index, reason);
    return checked.kept;
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
        this.#checkMembers(line.edge.members);
        kept.push(index);
      } catch (error) {
        refused.push({ index, reason: reasonOf(error) });
        if (stopAtFirst) break;
      }
    }
    return { kept, refused };
  }

  #checkMembers(members: readonly MemberInput[]): void {
    // Keys are counted by the check of the edge.
    if (this.kinds !== undefined || members.length <= this.#maxMembers) return;
    const count = new Set(members).size;
    if (count <= this.#maxMembers) return;
    throw new HedgerowError('too_many_members', `members ${tooManyText(count, this.#maxMembers)}.`);
  }

  compact(): Promise<void> {
    return this.#client.compact(this.tableName);
  }
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
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
