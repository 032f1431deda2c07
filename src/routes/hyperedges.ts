// Hyperedges: insert, delete, range and node lookup. The hot routes of the service, so they check by hand.

import type { InsertResult } from '../engine/types.ts';
import { invalidFields } from '../http/field-errors.ts';
import { parseInteger } from '../http/integers.ts';
import { parseJsonObject } from '../http/json-body.ts';
import { JSON_BODY, JSON_OR_NDJSON_BODY, NDJSON_TYPE, NO_BODY, wantsNdjson } from '../http/media.ts';
import { queryObject } from '../http/query-text.ts';
import { jsonReply, jsonTextReply, type Reply } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { integerText, tableName, v } from '../http/schema.ts';
import { bulkInsert } from './bulk-insert.ts';
import { edgeKeySchema, edgeSchema, readEdge, readEdgeKey, tableNameOf } from './edge-input.ts';
import { lookupQuerySchema, parseRowsQuery, rangeQuerySchema, requireWindow } from './rows-query.ts';
import { rowsReply } from './rows-reply.ts';
import { bulkInsertAnswer, deleteAnswer, insertAnswer, rowsAnswer } from './schemas.ts';

const BODY: readonly string[] = ['body'];

function range(call: Call): Reply | Promise<Reply> {
  const query = parseRowsQuery(call.query);
  requireWindow(query);
  return rowsReply(call, {
    table: call.database.table(query.table),
    node: undefined,
    startTs: query.startTs,
    endTs: query.endTs,
    limit: query.limit,
    cursor: query.cursor,
    ndjson: wantsNdjson(call.accept),
  });
}

function lookup(call: Call): Reply | Promise<Reply> {
  const node = parseInteger(call.parameters[0]!);
  if (Number.isNaN(node)) {
    throw invalidFields([{ loc: ['path', 'node_id'], msg: 'must be an integer of at most 2^53-1, written in digits' }]);
  }
  const query = parseRowsQuery(call.query);
  return rowsReply(call, {
    table: call.database.table(query.table),
    node,
    startTs: query.startTs,
    endTs: query.endTs,
    limit: query.limit,
    cursor: query.cursor,
    ndjson: wantsNdjson(call.accept),
  });
}

function insert(call: Call): Promise<Reply> {
  if (call.bodyType === NDJSON_TYPE) return bulkInsert(call, queryObject(call.query).table);
  const body = parseJsonObject(call.body);
  const table = call.database.table(tableNameOf(body, BODY));
  const name = table.name;
  return table.insert(readEdge(body, table, BODY)).then((result) => insertReply(name, result));
}

function insertReply(table: string, { row, lsn }: InsertResult): Reply {
  const rest = JSON.stringify(row);
  // The row's text with the table name put in front of its own fields.
  return jsonTextReply(201, `{"table":"${table}",${rest.slice(1)}`, lsn);
}

async function remove(call: Call): Promise<Reply> {
  const body = parseJsonObject(call.body);
  const key = readEdgeKey(body, BODY);
  const table = call.database.table(tableNameOf(body, BODY));
  const result = await table.delete(key.event_ts, key.members);
  return jsonReply(
    200,
    {
      deleted: result.matched > 0,
      matched: result.matched,
      table: table.name,
      event_ts: result.event_ts,
      members: result.members,
    },
    result.lsn,
  );
}

const shared = { database: true, data: true } as const;

export const hyperedgeRoutes: readonly Route[] = [
  {
    ...shared,
    method: 'GET',
    path: '/v1/hyperedges',
    role: 'readonly',
    summary: 'Edges of a time window, both ends inclusive, ordered by time and id.',
    negotiates: true,
    bodyTypes: NO_BODY,
    schemas: { query: rangeQuerySchema, answers: { 200: rowsAnswer } },
    handler: range,
  },
  {
    ...shared,
    method: 'POST',
    path: '/v1/hyperedges',
    role: 'readwrite',
    summary: 'Insert one edge, or with NDJSON one edge a line, all or none.',
    negotiates: false,
    bodyTypes: JSON_OR_NDJSON_BODY,
    schemas: {
      query: v.object({ table: v.optional(tableName()) }),
      body: edgeSchema,
      answers: { 201: v.union([insertAnswer, bulkInsertAnswer]) },
    },
    handler: insert,
  },
  {
    ...shared,
    method: 'DELETE',
    path: '/v1/hyperedges',
    role: 'readwrite',
    summary: 'Delete every live edge with this time and member set.',
    negotiates: false,
    bodyTypes: JSON_BODY,
    schemas: { body: edgeKeySchema, answers: { 200: deleteAnswer } },
    handler: remove,
  },
  {
    ...shared,
    method: 'GET',
    path: '/v1/hyperedges/node/{node_id}',
    role: 'readonly',
    summary: 'Edges that hold a node, ordered by time and id.',
    negotiates: true,
    bodyTypes: NO_BODY,
    schemas: {
      parameters: v.object({ node_id: integerText() }),
      query: lookupQuerySchema,
      answers: { 200: rowsAnswer },
    },
    handler: lookup,
  },
];
