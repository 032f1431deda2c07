// Statements over HTTP: one at a time, in the session of the caller; results whole when small, else streamed.

import { includesRole } from '../access/principal.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { checkDeadline } from '../http/deadline.ts';
import { invalidFields, kindOf } from '../http/field-errors.ts';
import { parseJsonObject } from '../http/json-body.ts';
import { JSON_BODY, JSON_TYPE, NDJSON_TYPE, wantsNdjson } from '../http/media.ts';
import { WriteAnswer } from '../http/once.ts';
import type { Reply } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import type { AuditEvent } from '../observe/observer.ts';
import type { ParameterValues } from '../query/binder/parameters.ts';
import type { Prepared } from '../query/prepare.ts';
import type { RunSlices, Statements } from '../query/statements.ts';
import { WrittenRead } from '../query/written-read.ts';
import { resultBody, resultReply } from './query-reply.ts';
import { queryAnswer, queryBody, queryRow } from './schemas/query.ts';
import { writtenReply } from './written-reply.ts';

/** To parse a longer text takes milliseconds: what follows has a turn of its own. */
const LONG_TEXT = 16_384;

function query(call: Call): Reply | Promise<Reply> {
  const { text, parameters } = readQuery(parseJsonObject(call.body));
  const statements = requireStatements(call);
  const prepared = statements.prepare(text);
  requireRole(call, prepared);
  if (text.length <= LONG_TEXT) return answer(call, statements, prepared, parameters);
  return call.services.slices.run(() => false).then(() => answer(call, statements, prepared, parameters));
}

function answer(
  call: Call,
  statements: Statements,
  prepared: Prepared,
  parameters: ParameterValues,
): Reply | Promise<Reply> {
  const ndjson = wantsNdjson(call.accept);
  const read = statements.read(prepared, parameters, sessionOf(call), ndjson ? 'ndjson' : 'json');
  if (read === undefined) return execute(call, statements, prepared, parameters);
  return read instanceof WrittenRead
    ? writtenReply(call, read, ndjson)
    : resultReply(call, read, { ndjson, ...OF_READ });
}

const OF_READ = { audit: 'none', kept: false, deadline: true } as const;

async function execute(
  call: Call,
  statements: Statements,
  prepared: Prepared,
  parameters: ParameterValues,
): Promise<Reply> {
  const ndjson = wantsNdjson(call.accept);
  const bodyOf = (row: object) => resultBody(row, ndjson);
  const kept = new WriteAnswer<object>(call.once, 200, bodyOf, ndjson ? NDJSON_TYPE : JSON_TYPE);
  const result = await statements.execute(prepared, {
    parameters,
    session: sessionOf(call),
    slices: prepared.effect === 'copy' ? untilGone(call) : slicesOf(call),
    attach: kept.attach,
  });
  if (prepared.effect === 'read') return resultReply(call, result, { ndjson, ...OF_READ });
  return resultReply(call, result, {
    ndjson,
    audit: { event: eventOf(prepared), statement: prepared.text },
    kept: prepared.effect !== 'transaction' && !result.pending,
    // What is done is done, however long it took: to say 504 of it would be a lie.
    deadline: false,
  });
}

function readQuery(body: Record<string, unknown>): { text: string; parameters: Record<string, unknown> } {
  const { query: text, parameters } = body;
  if (typeof text !== 'string')
    throw invalidFields([
      {
        loc: ['body', 'query'],
        msg: text === undefined || text === null ? 'is missing' : `must be a string, not ${kindOf(text)}`,
      },
    ]);
  if (parameters === undefined || parameters === null) return { text, parameters: {} };
  if (typeof parameters !== 'object' || Array.isArray(parameters))
    throw invalidFields([{ loc: ['body', 'parameters'], msg: `must be a JSON object, not ${kindOf(parameters)}` }]);
  return { text, parameters: parameters as Record<string, unknown> };
}

export function requireStatements({ services }: Call): Statements {
  if (services.statements !== undefined) return services.statements;
  throw refusal('starting', 'Statements are not ready yet. Try again shortly.');
}

/** The kind decides, whatever the route (contract section 4). Throws `forbidden`. */
export function requireRole(call: Call, { role }: Prepared): void {
  if (!includesRole(call.caller.role, role)) throw call.deny(role);
}

/** Sessions of different keys are never the same, whatever they are called. */
function sessionOf({ caller, sessionId }: Call): string {
  return `${caller.keyId ?? 'anonymous'} ${sessionId}`;
}

/** Runs long work in the service's slices, until its deadline or until the client has gone. */
export function slicesOf(call: Call): RunSlices {
  const slices = untilGone(call);
  return (step) =>
    slices(() => {
      checkDeadline(call);
      return step();
    });
}

/** As `slicesOf`, for work without a deadline: COPY takes as long as its file is large. */
function untilGone({ services, client }: Call): RunSlices {
  return (step) =>
    services.slices.run(() => {
      if (client.gone) throw new HedgerowError('timeout', 'The client has gone.');
      return step();
    });
}

const EVENTS: Readonly<Partial<Record<Prepared['statement']['kind'], AuditEvent>>> = {
  createTable: 'table.created',
  dropTable: 'table.dropped',
  alterTable: 'table.altered',
  createIndex: 'index.created',
  dropIndex: 'index.dropped',
  compact: 'compaction.run',
};

function eventOf({ statement }: Prepared): AuditEvent {
  return EVENTS[statement.kind] ?? 'statement.write';
}

export const queryRoutes: readonly Route[] = [
  {
    id: 'runQuery',
    method: 'POST',
    path: '/v1/query',
    role: 'readonly',
    summary:
      'Run one statement. Statements that write need the role readwrite, those that define tables, columns and indexes, and COPY, admin.',
    database: true,
    data: true,
    negotiates: true,
    tagged: false,
    audit: 'statement.write',
    sessions: true,
    rateExempt: false,
    idempotent: true,
    bodyTypes: JSON_BODY,
    schemas: { body: queryBody, answers: { 200: queryAnswer }, row: queryRow },
    errors: [403, 404, 409, 500, 504, 507],
    handler: query,
  },
];
