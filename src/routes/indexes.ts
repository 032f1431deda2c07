// Routes that list, create and drop secondary indexes on numeric columns.

import { jsonReply, jsonTextReply, notModified, type Once, type Reply, tagged } from '../http/index.ts';
import { v } from '../http/schema.ts';
import { type Route, validated } from './application.ts';
import { dropIndexAnswer, indexBody, indexItem, indexParameters, indexQuery } from './schemas/indexes.ts';
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
    const items = database.indexes(query.table);
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

const create = validated({
  id: 'createIndex',
  method: 'POST',
  path: '/v1/indexes',
  role: 'admin',
  summary: 'Create an index on a numeric column; answers when it is built on all rows.',
  audit: 'index.created',
  idempotent: true,
  body: indexBody,
  answers: { 201: indexItem },
  errors: [404, 409, 500],
  handler: async ({ body }, { database, once }) => {
    const table = database.table(body.table).name;
    const item = await database.createIndex(table, body.column, attach(once, 201, JSON.stringify));
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

export const indexRoutes: readonly Route[] = [list, create, drop];
