// Hyperedges: insert, delete, range and node lookup. These are the hot routes of the service, so
// their input is checked by hand-written code and not by schemas.

import type { DeleteOutcome, EdgeRow, InsertOutcome } from '../engine/index.ts';
import {
  formatOf,
  invalidFields,
  JSON_BODY,
  JSON_OR_NDJSON_BODY,
  jsonTextReply,
  NDJSON_TYPE,
  NO_BODY,
  notModified,
  queryObject,
  type Reply,
  untilVisible,
  WriteAnswer,
} from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import { v } from '../http/schema.ts';
import { isoTime } from '../iso-time.ts';
import { FORMAT_MAX_MEMBERS } from '../limits.ts';
import { readEdge, readEdgeKey, tableNameOf } from '../model/edge.ts';
import type { Call, Route } from './application.ts';
import { bulkInsert } from './bulk-insert.ts';
import { rowBody } from './edge-body.ts';
import { namedNode } from './looked-up-node.ts';
import { formOf, givenMembers, readMemberForm, shownRow } from './member-form.ts';
import { bindingOf } from './open-rows.ts';
import { parseRowsQuery, type RowsQuery, requireWindow, wantsIso } from './rows-query.ts';
import { rowsReply, rowsTag } from './rows-reply.ts';
import {
  bulkInsertAnswer,
  deleteAnswer,
  deleteQuery,
  edgeBody,
  edgeKeyBody,
  insertAnswer,
  insertQuery,
} from './schemas/edges.ts';
import { lookupAnswer, lookupParameters, lookupQuery, rangeAnswer, rangeQuery, rowSchema } from './schemas/rows.ts';

const BODY: readonly string[] = ['body'];

function range(call: Call): Reply | Promise<Reply> {
  const query = parseRowsQuery(call.query);
  requireWindow(query);
  return rows(call, query, undefined);
}

function lookup(call: Call): Reply | Promise<Reply> {
  return rows(call, parseRowsQuery(call.query), call.parameters[0]!);
}

function rows(call: Call, query: RowsQuery, given: string | undefined): Reply | Promise<Reply> {
  const table = call.database.table(query.table);
  const named = given === undefined ? undefined : namedNode(call, table, given, query.kind);
  const format = formatOf(call.accept);
  const { startTs, endTs, at, limit, cursor, isoTimes = false } = query;
  const members = formOf(table, query.members);
  const role = named === undefined ? undefined : query.role;
  if (role !== undefined && table.roles.maskOf(role) === 0)
    throw invalidFields([{ loc: ['query', 'role'], msg: `cannot be used: ${table.roles.unknownText(role)}` }]);
  const tag = cursor === undefined ? rowsTag(table, format, isoTimes, members) : undefined;
  if (call.holds(tag)) {
    table.assertUsable();
    return notModified(tag, format.mediaType);
  }
  const place =
    cursor === undefined
      ? undefined
      : call.services.cursors.read(cursor, table, bindingOf({ table, named, role, startTs, endTs, at }));
  const request = { table, named, role, startTs, endTs, at, limit, place, format, isoTimes, members, tag };
  // The cursor may be from the leader, whose state has not arrived here yet.
  if (place === undefined || place.lsn <= call.database.lastLsn) return rowsReply(call, request, true);
  return untilVisible(call, place.lsn).then(() => rowsReply(call, request, false));
}

function insert(call: Call): Promise<Reply> {
  const given = queryObject(call.query);
  const iso = wantsIso(given.times, 'query');
  if (call.bodyType === NDJSON_TYPE) return bulkInsert(call, given.table);
  const body = parseJsonObject(call);
  const table = call.database.table(tableNameOf(body, BODY) ?? given.table);
  const name = table.name;
  const edge = readEdge(body, table, BODY);
  const form = formOf(table, readMemberForm(given.members, 'query'));
  const bodyOf = (row: EdgeRow) => rowBody(table, shownRow(call.database.nodes, row, form), iso);
  if (call.once === undefined) {
    return table.insert(edge).then(({ row, lsn }) => insertReply(name, bodyOf(row), lsn));
  }
  const answer = new WriteAnswer<InsertOutcome>(
    call.once,
    201,
    ({ row }) => bodyOf(row),
    undefined,
    ({ row }) => ({ ids: [{ table: name, first_id: row.id, last_id: row.id }] }),
  );
  return table.insert(edge, answer.attach).then((result) => insertReply(name, answer.body(result), result.lsn));
}

function insertReply(table: string, body: string, lsn: number): Reply {
  return jsonTextReply(201, body, lsn, { audit: { table } });
}

async function remove(call: Call): Promise<Reply> {
  const iso = wantsIso(queryObject(call.query).times, 'query');
  const body = parseJsonObject(call);
  const table = call.database.table(tableNameOf(body, BODY));
  const key = readEdgeKey(body, table, FORMAT_MAX_MEMBERS, BODY);
  const { name } = table;
  const form = formOf(table, readMemberForm(queryObject(call.query).members, 'query'));
  const { nodes } = call.database;
  const answer = new WriteAnswer<DeleteOutcome>(call.once, 200, ({ matched, event_ts, members }) =>
    JSON.stringify({
      deleted: matched > 0,
      matched,
      table: name,
      event_ts: iso ? isoTime(event_ts) : event_ts,
      members: table.kinds === undefined ? members : givenMembers(nodes, key.members, form),
    }),
  );
  const result = await table.delete(key.event_ts, key.members, answer.attach);
  return jsonTextReply(200, answer.body(result), result.lsn, { audit: { table: name } });
}

const shared = { database: true, data: true, rateExempt: false } as const;
const read = { ...shared, tagged: true, idempotent: false } as const;
const write = { ...shared, tagged: false, idempotent: true } as const;

export const hyperedgeRoutes: readonly Route[] = [
  {
    ...read,
    id: 'rangeHyperedges',
    method: 'GET',
    path: '/v1/hyperedges',
    role: 'readonly',
    summary: 'Edges of a time window, both ends inclusive, ordered by time and id.',
    negotiates: true,
    bodyTypes: NO_BODY,
    schemas: { query: rangeQuery, answers: { 200: rangeAnswer }, row: rowSchema },
    errors: [404, 410, 500],
    handler: range,
  },
  {
    ...write,
    id: 'insertHyperedge',
    method: 'POST',
    path: '/v1/hyperedges',
    role: 'readwrite',
    audit: 'hyperedge.inserted',
    summary: 'Insert one edge or, with NDJSON, one edge per line, all or none.',
    negotiates: false,
    bodyTypes: JSON_OR_NDJSON_BODY,
    schemas: {
      query: insertQuery,
      body: edgeBody,
      answers: { 201: v.union([insertAnswer, bulkInsertAnswer]) },
    },
    errors: [404, 500],
    handler: insert,
  },
  {
    ...write,
    id: 'deleteHyperedge',
    method: 'DELETE',
    path: '/v1/hyperedges',
    role: 'readwrite',
    audit: 'hyperedge.deleted',
    summary: 'Delete every live edge with this time and member set.',
    negotiates: false,
    bodyTypes: JSON_BODY,
    schemas: { query: deleteQuery, body: edgeKeyBody, answers: { 200: deleteAnswer } },
    errors: [404, 500],
    handler: remove,
  },
  {
    ...read,
    id: 'lookupNode',
    method: 'GET',
    path: '/v1/hyperedges/node/{node_id}',
    role: 'readonly',
    summary: 'Edges that contain a node, ordered by time and id.',
    negotiates: true,
    bodyTypes: NO_BODY,
    schemas: {
      parameters: lookupParameters,
      query: lookupQuery,
      answers: { 200: lookupAnswer },
      row: rowSchema,
    },
    errors: [404, 410, 500],
    handler: lookup,
  },
];
