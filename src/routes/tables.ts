// Routes that list, read, create and drop tables.

import type { ColumnDefinition, Table, TableInput, TableItem } from '../engine/index.ts';
import {
  type AnswerText,
  type ChunkSource,
  type EntityTag,
  JSON_FORMAT,
  jsonReply,
  jsonTextReply,
  notModified,
  OPENINGS,
  type Reply,
  tagged,
  WriteAnswer,
  writeAnswer,
} from '../http/index.ts';
import { type InferOutput, v } from '../http/schema.ts';
import { optionsIn } from '../model/options.ts';
import { type Route, validated } from './application.ts';
import {
  type columnBody,
  dropTableAnswer,
  tableBody,
  tableItem,
  tableParameters,
  tablesQuery,
} from './schemas/tables.ts';
import { tablesTag, tableTag } from './table-tags.ts';

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
    const itemOf = (table: Table) => table.item(query.defaults === 'true');
    return writeAnswer(call, new TablesText(tables, itemOf, tag), OPENINGS.complete, true);
  },
});

/** Number of tables per piece of the list, so that a piece takes about a millisecond. */
const PAGE_TABLES = 256;

/** A list of tables as the text of an answer. */
export class TablesText implements AnswerText {
  readonly format = JSON_FORMAT;
  readonly frame = undefined;
  readonly #tables: readonly Table[];
  readonly #itemOf: (table: Table) => object;
  readonly #tag: EntityTag;
  #at = 0;

  constructor(tables: readonly Table[], itemOf: (table: Table) => object, tag: EntityTag) {
    this.#tables = tables;
    this.#itemOf = itemOf;
    this.#tag = tag;
  }

  look(): void {}

  next(): Uint8Array | null {
    const from = this.#at;
    if (from > 0 && this.isEnded) return null;
    this.#at = from + PAGE_TABLES;
    const page = this.#tables.slice(from, this.#at).map((table) => JSON.stringify(this.#itemOf(table)));
    const text = `${from === 0 ? '[' : ','}${page.join(',')}${this.isEnded ? ']' : ''}`;
    return Buffer.from(text);
  }

  get isEnded(): boolean {
    return this.#at >= this.#tables.length;
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return { ...tagged(jsonTextReply(200, body ?? ''), this.#tag), source };
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
    if (body.roles !== undefined) input.roles = body.roles;
    if (body.intervals !== undefined) input.intervals = body.intervals;
    if (body.create_nodes !== undefined) input.createNodes = body.create_nodes;
    if (body.columns !== undefined) input.columns = body.columns.map(columnDefinition);
    const answer = new WriteAnswer<TableItem>(once, 201, JSON.stringify);
    const table = await database.createTable(input, answer.attach);
    return jsonTextReply(201, answer.body(table.item()), undefined, { audit: { table: table.name } });
  },
});

/** Returns the definition of a column that a body describes. */
export function columnDefinition(given: InferOutput<typeof columnBody>): ColumnDefinition {
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
