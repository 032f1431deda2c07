// Nodes of node tables: lists by key, writes, and single nodes by key.

import { refusal } from '../errors.ts';
import {
  formatOf,
  JSON_BODY,
  JSON_OR_NDJSON_BODY,
  jsonTextReply,
  NDJSON_TYPE,
  NO_BODY,
  notModified,
  OPENINGS,
  type Reply,
  tagged,
  untilVisible,
  writeAnswer,
} from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import type { AuditEvent } from '../observe/observer.ts';
import type { Call, Route } from './application.ts';
import type { CursorPlace, Pin } from './cursors.ts';
import { NODES_BINDING, NodeList, type NodeListRequest } from './node-list.ts';
import {
  keyOfPath,
  type NodeTarget,
  nodeNotFound,
  readNodeAt,
  stageDelete,
  stageLines,
  stageOne,
  stagePatch,
  stagePut,
  targetOf,
  type Written,
  writeNodes,
} from './node-writes.ts';
import { parseRowsQuery } from './rows-query.ts';
import {
  deletedNode,
  nodeBody,
  nodeParameters,
  nodeRow,
  nodesAnswer,
  nodesParameters,
  nodesQuery,
  writtenNodes,
} from './schemas/nodes.ts';
import { tableTag } from './table-tags.ts';

async function list(call: Call): Promise<Reply> {
  const { database, services } = call;
  const table = database.nodes.table(call.parameters[0]!);
  const { limit, cursor } = parseRowsQuery(call.query);
  const format = formatOf(call.accept);
  const newest = tableTag(table);
  const tag = cursor !== undefined ? undefined : format.tag === '' ? newest : `${newest}${format.tag}`;
  table.assertUsable();
  if (call.holds(tag)) return notModified(tag, format.mediaType);
  const place = cursor === undefined ? undefined : services.cursors.read(cursor, table, NODES_BINDING);
  // The cursor may be from the leader, whose state has not arrived here yet.
  if (place !== undefined && place.lsn > database.lastLsn) await untilVisible(call, place.lsn);
  const pin = place === undefined ? services.cursors.pin(database, table) : services.cursors.resume(place, table);
  const opened = await openList(call, { table, limit, format, tag }, pin, place);
  const isCounted = format.rows === 'ndjson' && limit !== undefined;
  return writeAnswer(call, opened, isCounted ? OPENINGS.counted : OPENINGS.rows, false);
}

/** Takes over the pin. Rejects with `cursor_gone` or `overloaded`. */
async function openList(
  call: Call,
  request: NodeListRequest,
  pin: Pin,
  place: CursorPlace | undefined,
): Promise<NodeList> {
  const { nodes } = call.database;
  try {
    const order = await nodes.order(request.table);
    const first = place === undefined ? 0 : nodes.placeAfter(order, place.after.id);
    if (first !== undefined) return new NodeList(call, request, pin, order, first);
    order.release();
    throw refusal(
      'cursor_gone',
      'This cursor has expired: its node is not known any more. Start again without a cursor.',
    );
  } catch (error) {
    call.services.cursors.release(pin);
    throw error;
  }
}

function read(call: Call): Reply {
  const target = targetOf(call.database, call.parameters[0]!);
  const key = keyOfPath(target, call.parameters[1]!);
  const { table } = target;
  const { database } = call;
  const number = database.nodes.find(table, key);
  if (number === 0) throw nodeNotFound(target, key);
  const tag = tableTag(table);
  if (call.holds(tag)) return notModified(tag);
  const snapshot = database.snapshot(table);
  try {
    const [text] = database.nodes.texts(table, snapshot, [number]);
    if (text === undefined) throw nodeNotFound(target, key);
    return tagged(jsonTextReply(200, text, snapshot.lsn), tag);
  } finally {
    snapshot.release();
  }
}

async function write(call: Call): Promise<Reply> {
  const target = targetOf(call.database, call.parameters[0]!);
  const isLines = call.bodyType === NDJSON_TYPE;
  const source = isLines ? undefined : parseJsonObject(call);
  const written = await writeNodes(call, (transaction) =>
    source === undefined ? stageLines(call, transaction, target) : stageOne(transaction, target, source),
  );
  return writtenReply(written, target);
}

async function put(call: Call): Promise<Reply> {
  const target = targetOf(call.database, call.parameters[0]!);
  const key = keyOfPath(target, call.parameters[1]!);
  const given = readNodeAt(parseJsonObject(call), target, key);
  return writtenReply(await writeNodes(call, (transaction) => stagePut(transaction, target, key, given)), target);
}

async function patch(call: Call): Promise<Reply> {
  const target = targetOf(call.database, call.parameters[0]!);
  const key = keyOfPath(target, call.parameters[1]!);
  const given = readNodeAt(parseJsonObject(call), target, key);
  const { database } = call;
  const stage = (transaction: Parameters<typeof stagePut>[0]) => stagePatch(database, transaction, target, key, given);
  return writtenReply(await writeNodes(call, stage), target);
}

async function remove(call: Call): Promise<Reply> {
  const target = targetOf(call.database, call.parameters[0]!);
  const key = keyOfPath(target, call.parameters[1]!);
  return writtenReply(await writeNodes(call, (transaction) => stageDelete(transaction, target, key)), target);
}

function writtenReply({ body, lsn }: Written, { table }: NodeTarget): Reply {
  return jsonTextReply(200, body, lsn, { audit: { table: table.name } });
}

const shared = { database: true, data: true, rateExempt: false } as const;
const reads = { ...shared, role: 'readonly', tagged: true, idempotent: false, bodyTypes: NO_BODY } as const;
const writes = { ...shared, role: 'readwrite', tagged: false, idempotent: true, negotiates: false } as const;
const PATH = '/v1/nodes/{table}';
const written: AuditEvent = 'node.written';

export const nodeRoutes: readonly Route[] = [
  {
    ...reads,
    id: 'listNodes',
    method: 'GET',
    path: PATH,
    summary: 'Nodes of a node table, ordered by key.',
    negotiates: true,
    schemas: { parameters: nodesParameters, query: nodesQuery, answers: { 200: nodesAnswer }, row: nodeRow },
    errors: [404, 410, 500],
    handler: list,
  },
  {
    ...writes,
    id: 'writeNodes',
    method: 'POST',
    path: PATH,
    summary: 'Insert or replace one node or, with NDJSON, one node per line, all or none.',
    audit: written,
    bodyTypes: JSON_OR_NDJSON_BODY,
    schemas: { parameters: nodesParameters, body: nodeBody, answers: { 200: writtenNodes } },
    errors: [404, 500],
    handler: write,
  },
  {
    ...reads,
    id: 'getNode',
    method: 'GET',
    path: `${PATH}/{key}`,
    summary: 'One node by its key.',
    negotiates: false,
    schemas: { parameters: nodeParameters, answers: { 200: nodeRow } },
    errors: [404, 500],
    handler: read,
  },
  {
    ...writes,
    id: 'putNode',
    method: 'PUT',
    path: `${PATH}/{key}`,
    summary: 'Create a node, or replace all of its attributes.',
    audit: written,
    bodyTypes: JSON_BODY,
    schemas: { parameters: nodeParameters, body: nodeBody, answers: { 200: nodeRow } },
    errors: [404, 500],
    handler: put,
  },
  {
    ...writes,
    id: 'patchNode',
    method: 'PATCH',
    path: `${PATH}/{key}`,
    summary: 'Change some attributes of a node.',
    audit: written,
    bodyTypes: JSON_BODY,
    schemas: { parameters: nodeParameters, body: nodeBody, answers: { 200: nodeRow } },
    errors: [404, 500],
    handler: patch,
  },
  {
    ...writes,
    id: 'deleteNode',
    method: 'DELETE',
    path: `${PATH}/{key}`,
    summary: 'Delete a node that no edge holds.',
    audit: 'node.deleted',
    bodyTypes: NO_BODY,
    schemas: { parameters: nodeParameters, answers: { 200: deletedNode } },
    errors: [404, 500],
    handler: remove,
  },
];
