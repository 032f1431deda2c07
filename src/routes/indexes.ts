// Routes that list, create and drop secondary indexes on numeric columns, and text indexes.

import { invalidFields, jsonReply, jsonTextReply, notModified, type Once, type Reply, tagged } from '../http/index.ts';
import { v } from '../http/schema.ts';
import { type Route, validated } from './application.ts';
import {
  dropIndexAnswer,
  dropTextIndexAnswer,
  indexBody,
  indexItem,
  indexParameters,
  indexQuery,
  textIndexParameters,
} from './schemas/indexes.ts';
import { tablesTag, tableTag } from './table-tags.ts';

const list = validated({
  id: 'listIndexes',
  method: 'GET',
  path: '/v1/indexes',
  role: 'readonly',
  summary: 'Indexes of one table or all.',
  tagged: true,
  query: indexQuery,
  answers: { 200: v.array(indexItem) },
  errors: [404],
  handler: ({ query }, call) => {
    const { database } = call;
    const items = [...database.indexes(query.table), ...database.textIndexes.list(query.table)];
    const tag = query.table === undefined ? tablesTag(database.tables()) : tableTag(database.table(query.table));
    return call.holds(tag) ? notModified(tag) : tagged(jsonReply(200, items), tag);
  },
});

/**
 * Returns the function to be passed to the engine as `attach`: it stores the answer under the
 * request's Idempotency-Key. Returns undefined if the request has no such key.
 */
function attach<T>(once: Once | undefined, status: number, body: (outcome: T) => string) {
  return once && ((outcome: T) => once.entry(status, body(outcome)));
}

function reply(status: number, body: string, table: string, column: string): Reply {
  return jsonTextReply(status, body, undefined, { audit: { table, statement: `index on ${table} (${column})` } });
}

function wrongField(field: string, msg: string) {
  return invalidFields([{ loc: ['body', field], msg }]);
}

const create = validated({
  id: 'createIndex',
  method: 'POST',
  path: '/v1/indexes',
  role: 'admin',
  summary: 'Create an index on a numeric column, or a text index; answers when it is built on all rows.',
  audit: 'index.created',
  idempotent: true,
  body: indexBody,
  answers: { 201: indexItem },
  errors: [404, 409, 500],
  handler: async ({ body }, { database, once }) => {
    const table = database.table(body.table).name;
    const { column, kind, columns, language } = body;
    if (kind === 'text') {
      if (column !== undefined) throw wrongField('column', 'cannot be used with kind text; use columns');
      if (columns === undefined) throw wrongField('columns', 'is missing');
      const input = { columns, language };
      const item = await database.textIndexes.create(table, input, attach(once, 201, JSON.stringify));
      return reply(201, JSON.stringify(item), item.table, item.columns.join(', '));
    }
    if (column === undefined) throw wrongField('column', 'is missing');
    if (columns !== undefined || language !== undefined)
      throw wrongField(columns === undefined ? 'language' : 'columns', 'needs kind text');
    const item = await database.createIndex(table, column, attach(once, 201, JSON.stringify));
    return reply(201, JSON.stringify(item), item.table, item.column);
  },
});

const droppedText = (dropped: { table: string; column: string }) => JSON.stringify({ ...dropped, dropped: true });

const drop = validated({
  id: 'dropIndex',
  method: 'DELETE',
  path: '/v1/indexes/{table}/{column}',
  role: 'admin',
  summary: 'Drop an index.',
  audit: 'index.dropped',
  idempotent: true,
  parameters: indexParameters,
  answers: { 200: dropIndexAnswer },
  errors: [404],
  handler: async ({ parameters }, { database, once }) => {
    const dropped = await database.dropIndex(parameters.table, parameters.column, attach(once, 200, droppedText));
    return reply(200, droppedText(dropped), dropped.table, dropped.column);
  },
});

const droppedTextText = (dropped: { table: string; kind: 'text' }) => JSON.stringify({ ...dropped, dropped: true });

const dropText = validated({
  id: 'dropTextIndex',
  method: 'DELETE',
  path: '/v1/indexes/{table}/text',
  role: 'admin',
  summary: 'Drop the text index of a table.',
  audit: 'index.dropped',
  idempotent: true,
  parameters: textIndexParameters,
  answers: { 200: dropTextIndexAnswer },
  errors: [404],
  handler: async ({ parameters }, { database, once }) => {
    const { definition, columns } = database.table(parameters.table);
    const named = columns.find('text');
    // Without a text index, the path names the index on a column of this name.
    if (definition.text === undefined && definition.indexes.some(({ column }) => column === named?.id)) {
      const dropped = await database.dropIndex(parameters.table, 'text', attach(once, 200, droppedText));
      return reply(200, droppedText(dropped), dropped.table, dropped.column);
    }
    const dropped = await database.textIndexes.drop(parameters.table, attach(once, 200, droppedTextText));
    return reply(200, droppedTextText(dropped), dropped.table, 'text');
  },
});

export const indexRoutes: readonly Route[] = [list, create, dropText, drop];
