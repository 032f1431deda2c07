// Changes some columns of one edge, which is found by its id.

import type { CommitOutcome, EdgeRow, Table, Transaction } from '../engine/index.ts';
import { refusal } from '../errors.ts';
import {
  invalidFields,
  JSON_BODY,
  jsonTextReply,
  parseInteger,
  queryObject,
  type Reply,
  WriteAnswer,
} from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import type { PropertyValue } from '../model/column-types.ts';
import { tableNameOf } from '../model/edge.ts';
import { type EdgePatch, readPatch } from '../model/edge-patch.ts';
import type { Call, Route } from './application.ts';
import { rowBody } from './edge-body.ts';
import { formOf, readMemberForm, shownRow } from './member-form.ts';
import { requireStatements, slicesOf } from './query.ts';
import { wantsIso } from './rows-query.ts';
import { insertAnswer, patchBody, patchQuery } from './schemas/edges.ts';
import { edgeParameters } from './schemas/rows.ts';

const BODY: readonly string[] = ['body'];

async function patchEdge(call: Call): Promise<Reply> {
  const id = parseInteger(call.parameters[0]!);
  if (Number.isNaN(id))
    throw invalidFields([{ loc: ['path', 'id'], msg: 'must be an integer of at most 2^53-1, written in digits' }]);
  const given = queryObject(call.query);
  const iso = wantsIso(given.times, 'query');
  const body = parseJsonObject(call);
  const table = call.database.table(tableNameOf(body, BODY) ?? given.table);
  const patch = readPatch(body, table.columns, table.name, BODY);
  const form = formOf(table, readMemberForm(given.members, 'query'));
  const shown = (row: EdgeRow) => rowBody(table, shownRow(call.database.nodes, row, form), iso);
  // After a conflict with another commit nothing has changed, and the edge is read again.
  return requireStatements(call).turns.run(() => patchOnce(call, table, id, patch, shown));
}

async function patchOnce(
  call: Call,
  table: Table,
  id: number,
  patch: EdgePatch,
  shown: (row: EdgeRow) => string,
): Promise<Reply> {
  const { name } = table;
  const transaction = call.database.begin();
  try {
    const { id: _, event_ts: eventTs, members, roles, ...columns } = await findEdge(call, transaction, table, id);
    const properties = { ...(columns as Record<string, PropertyValue>), ...patch };
    const edge = { event_ts: eventTs, members, areNumbers: true, roles, properties };
    transaction.updateRow(table, { eventTs, id }, edge);
    const answer = new WriteAnswer<CommitOutcome>(call.once, 200, (outcome) => textOf(outcome, shown));
    const commit = await transaction.commit(answer.attach);
    return jsonTextReply(200, answer.body(commit), commit.lsn, { audit: { table: name } });
  } finally {
    transaction.rollback();
  }
}

function textOf(outcome: CommitOutcome, shown: (row: EdgeRow) => string): string {
  const changed = outcome.outcomeAt(0);
  if (!('row' in changed)) throw new Error('an update has a row');
  return shown(changed.row);
}

async function findEdge(call: Call, transaction: Transaction, table: Table, id: number): Promise<EdgeRow> {
  const where = [{ column: 'id', low: id, high: id }];
  const scan = transaction.scan(table, { format: 'json', where, limit: 1 });
  const slices: Uint8Array[] = [];
  const step = (): boolean => {
    const slice = scan.next();
    if (slice !== null) slices.push(slice);
    return slice !== null;
  };
  try {
    if (step()) await slicesOf(call)(step);
  } finally {
    scan.close();
  }
  const text = Buffer.concat(slices).toString();
  if (text === '') throw refusal('edge_not_found', `Table ${table.name} has no edge ${id}; it may have been deleted.`);
  return JSON.parse(text) as EdgeRow;
}

export const patchEdgeRoutes: readonly Route[] = [
  {
    id: 'patchHyperedge',
    method: 'PATCH',
    path: '/v1/hyperedges/{id}',
    role: 'readwrite',
    summary: 'Change some columns of one edge; null clears a column.',
    database: true,
    data: true,
    rateExempt: false,
    tagged: false,
    idempotent: true,
    audit: 'hyperedge.updated',
    negotiates: false,
    bodyTypes: JSON_BODY,
    schemas: { parameters: edgeParameters, query: patchQuery, body: patchBody, answers: { 200: insertAnswer } },
    errors: [404, 409, 500, 504],
    handler: patchEdge,
  },
];
