// Reads one edge by its id, with an ordinary statement that never takes part in a transaction.

import { refusal } from '../errors.ts';
import {
  invalidFields,
  JSON_FORMAT,
  jsonReply,
  NO_BODY,
  notModified,
  parseInteger,
  queryObject,
  type Reply,
  tagged,
} from '../http/index.ts';
import type { Call, Route } from './application.ts';
import { formOf, readMemberForm } from './member-form.ts';
import { requireStatements } from './query.ts';
import { collectRows, MOST_COLLECTED } from './query-reply.ts';
import { wantsIso } from './rows-query.ts';
import { rowsTag } from './rows-reply.ts';
import { edgeParameters, edgeQuery, rowSchema } from './schemas/rows.ts';

/** A text that is not the name of any session, because session names begin with a key id. */
const NO_SESSION = '';

async function getEdge(call: Call): Promise<Reply> {
  const id = parseInteger(call.parameters[0]!);
  if (Number.isNaN(id))
    throw invalidFields([{ loc: ['path', 'id'], msg: 'must be an integer of at most 2^53-1, written in digits' }]);
  const given = queryObject(call.query);
  const iso = wantsIso(given.times, 'query');
  const table = call.database.table(given.table);
  const asked = readMemberForm(given.members, 'query');
  const tag = rowsTag(table, JSON_FORMAT, iso, formOf(table, asked));
  const statements = requireStatements(call);
  if (call.holds(tag)) {
    table.assertUsable();
    return notModified(tag);
  }
  const prepared = statements.prepare(`MATCH (e:\`${table.name}\`) WHERE e.id = $id RETURN e LIMIT 1`);
  const result = statements.read(prepared, { id }, NO_SESSION, undefined, asked)!;
  if (!('steps' in result)) throw new Error('rows that were not requested as text were returned as text');
  const { rows } = await collectRows(call, result, MOST_COLLECTED, iso);
  const [row] = rows as { e: object }[];
  if (row === undefined)
    throw refusal('edge_not_found', `Table ${table.name} has no edge ${id}; it may have been deleted.`);
  return tagged(jsonReply(200, row.e, result.lsn), tag);
}

export const oneEdgeRoutes: readonly Route[] = [
  {
    id: 'getHyperedge',
    method: 'GET',
    path: '/v1/hyperedges/{id}',
    role: 'readonly',
    summary: 'One edge by its id. Ids have no index: the table is read until the edge is found.',
    database: true,
    data: true,
    rateExempt: false,
    tagged: true,
    idempotent: false,
    negotiates: false,
    bodyTypes: NO_BODY,
    schemas: { parameters: edgeParameters, query: edgeQuery, answers: { 200: rowSchema } },
    errors: [404, 500, 504],
    handler: getEdge,
  },
];
