// Tables: list, read, create, drop.

import type { ColumnDefinition, Table, TableInput, TableItem } from '../engine/index.ts';
import {
  type ChunkSource,
  jsonReply,
  jsonTextReply,
  notModified,
  type Route,
  tablesTag,
  tableTag,
  tagged,
  validated,
  WriteAnswer,
} from '../http/index.ts';
import { type InferOutput, v } from '../http/schema.ts';
import { optionsIn } from '../model/options.ts';
import {
  type columnBody,
  dropTableAnswer,
  tableBody,
  tableItem,
  tableParameters,
  tablesQuery,
} from './schemas/tables.ts';

const list = validated({
  id: 'listTables',
  method: 'GET',
  path: '/v1/tables',
  role: 'readonly',
  summary: 'All tables.',
  tagged: true,
  query: tablesQuery,
  answers: { 200: v.array(tableItem) },
  handler: ({ query }, call) => {
    const tables = call.database.tables();
    const tag = tablesTag(tables);
    if (call.holds(tag)) return notModified(tag);
    const withDefaults = query.defaults === 'true';
    if (tables.length <= PAGE_TABLES) {
      const items = tables.map((table) => table.item(withDefaults));
      return tagged(jsonReply(200, items), tag);
    }
    return tagged({ ...jsonTextReply(200, ''), source: new TablesSource(tables, withDefaults) }, tag);
  },
});

/** Tables per chunk of the list: about a millisecond. */
const PAGE_TABLES = 256;

/** Lists many tables chunk by chunk. */
class TablesSource implements ChunkSource {
  readonly #tables: readonly Table[];
  readonly #withDefaults: boolean;
  #at = 0;

  constructor(tables: readonly Table[], withDefaults: boolean) {
    this.#tables = tables;
    this.#withDefaults = withDefaults;
  }

  next(): Uint8Array | null {
    const from = this.#at;
    if (from >= this.#tables.length) return null;
    this.#at = from + PAGE_TABLES;
    const page = this.#tables.slice(from, this.#at).map((table) => JSON.stringify(table.item(this.#withDefaults)));
    const text = `${from === 0 ? '[' : ','}${page.join(',')}${this.#at >= this.#tables.length ? ']' : ''}`;
    return Buffer.from(text);
  }

  close(): void {
    this.#at = this.#tables.length;
  }
}

const create = validated({
  id: 'createTable',
  method: 'POST',
  path: '/v1/tables',
  role: 'admin',
  summary: 'Create a table.',
  audit: 'table.created',
  idempotent: true,
  body: tableBody,
  answers: { 201: tableItem },
  handler: async ({ body }, { database, once }) => {
    const input: TableInput = { ...optionsIn(body), name: body.name };
    if (body.member_tables !== undefined) input.memberTables = body.member_tables;
    if (body.columns !== undefined) input.columns = body.columns.map(columnDefinition);
    const answer = new WriteAnswer<TableItem>(once, 201, JSON.stringify);
    const table = await database.createTable(input, answer.attach);
    return jsonTextReply(201, answer.body(table.item()), undefined, { audit: { table: table.name } });
  },
});

function columnDefinition(given: InferOutput<typeof columnBody>): ColumnDefinition {
  const { name, type, default: fallback } = given;
  return fallback === undefined || fallback === null ? { name, type } : { name, type, default: fallback };
}

const read = validated({
  id: 'getTable',
  method: 'GET',
  path: '/v1/tables/{name}',
  role: 'readonly',
  summary: 'One table.',
  tagged: true,
  parameters: tableParameters,
  answers: { 200: tableItem },
  errors: [404],
  handler: ({ parameters }, call) => {
    const table = call.database.table(parameters.name);
    const tag = tableTag(table);
    return call.holds(tag) ? notModified(tag) : tagged(jsonReply(200, table.item()), tag);
  },
});

const drop = validated({
  id: 'dropTable',
  method: 'DELETE',
  path: '/v1/tables/{name}',
  role: 'admin',
  summary: 'Drop a table and its rows.',
  audit: 'table.dropped',
  idempotent: true,
  parameters: tableParameters,
  answers: { 200: dropTableAnswer },
  errors: [404],
  handler: async ({ parameters }, { database, once }) => {
    const { name } = database.table(parameters.name);
    const answer = new WriteAnswer<{ name: string }>(once, 200, () => JSON.stringify({ name, dropped: true }));
    await database.dropTable(name, answer.attach);
    return jsonTextReply(200, answer.body({ name }), undefined, { audit: { table: name } });
  },
});

export const tableRoutes: readonly Route[] = [list, create, read, drop];
