// Runs statements over HTTP, one per request, in the caller's session.

import { includesRole } from '../access/principal.ts';
import { HedgerowError, refusal } from '../errors.ts';
import {
  checkDeadline,
  formatOf,
  invalidFields,
  JSON_BODY,
  kindOf,
  queryObject,
  type Reply,
  WriteAnswer,
} from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import type { AuditEvent } from '../observe/observer.ts';
import { LONG_TEXT, type ParameterValues, type Statements, WrittenRead } from '../query/index.ts';
import type { Prepared } from '../query/language.ts';
import type { RunSteps } from '../schedule/scheduler.ts';
import type { Call, Route } from './application.ts';
import { readMemberForm } from './member-form.ts';
import { resultBody, resultReply } from './query-reply.ts';
import { wantsIso } from './rows-query.ts';
import { queryAnswer, queryBody, queryQuery, queryRow } from './schemas/query.ts';
import { writtenReply } from './written-reply.ts';

function query(call: Call): Reply | Promise<Reply> {
  const body = parseJsonObject(call);
  const { text, parameters } = readQuery(body);
  const shows: Shows = { iso: wantsIso(body.times, 'body'), members: membersAsked(call, body) };
  const statements = requireStatements(call);
  if (text.length > LONG_TEXT || call.body.length > LONG_BODY)
    return answerLong(call, statements, text, parameters, shows);
  const prepared = statements.prepare(text);
  requireRole(call, prepared);
  return answer(call, statements, prepared, parameters, shows, true);
}

/** How an answer shows times and members of named tables. */
interface Shows {
  readonly iso: boolean;
  readonly members: 'numbers' | 'objects' | undefined;
}

/** Reads the field `members` of the body or, without it, of the query string. */
function membersAsked({ query }: Call, body: Record<string, unknown>): Shows['members'] {
  const asked = readMemberForm(body.members, 'body');
  return asked ?? (query === '' ? undefined : readMemberForm(queryObject(query).members, 'query'));
}

/** Requests of more bytes have long parameters, which several phases read. */
const LONG_BODY = 2 ** 17;

/** Parses and binds a long text in steps. Beginning to answer then takes one step. */
async function answerLong(
  call: Call,
  statements: Statements,
  text: string,
  parameters: ParameterValues,
  shows: Shows,
): Promise<Reply> {
  const slices = slicesOf(call);
  const prepared = await statements.prepareLong(text, slices);
  requireRole(call, prepared);
  await statements.bindAhead(prepared, parameters, slices);
  await slices(() => false);
  return answer(call, statements, prepared, parameters, shows, false);
}

/** Runs a prepared statement and answers with its result. `atOnce` is as in `writeAnswer`. */
function answer(
  call: Call,
  statements: Statements,
  prepared: Prepared,
  parameters: ParameterValues,
  shows: Shows,
  atOnce: boolean,
): Reply | Promise<Reply> {
  const { iso, members } = shows;
  const format = formatOf(call.accept);
  // A session that is named has its transaction, if any, at the leader: another server may have
  // passed its BEGIN on.
  if (call.sessionId !== '' && prepared.effect !== 'transaction') {
    if (call.database.isFollower) statements.sessions.assertNotExpired(sessionOf(call));
    call.database.assertLeads();
  }
  // Rows with ISO times cannot be encoded by the core, which writes times as seconds.
  const read = statements.read(prepared, parameters, sessionOf(call), iso ? undefined : format.rows, members);
  if (read === undefined) return execute(call, statements, prepared, parameters, shows);
  return read instanceof WrittenRead
    ? writtenReply(call, read, format, atOnce)
    : resultReply(call, read, { format, iso, ...OF_READ }, atOnce);
}

const OF_READ = { audit: 'none', kept: false, deadline: true } as const;

async function execute(
  call: Call,
  statements: Statements,
  prepared: Prepared,
  parameters: ParameterValues,
  { iso, members }: Shows,
): Promise<Reply> {
  const format = formatOf(call.accept);
  const bodyOf = (row: object) => resultBody(row, format);
  const kept = new WriteAnswer<object>(call.once, 200, bodyOf, format.mediaType);
  const result = await statements.execute(prepared, {
    parameters,
    session: sessionOf(call),
    holder: call.caller.keyId,
    slices: prepared.effect === 'copy' ? untilGone(call) : slicesOf(call),
    members,
    attach: kept.attach,
  });
  if (prepared.effect === 'read') return resultReply(call, result, { format, iso, ...OF_READ }, false);
  const ofWrite = {
    audit: { event: eventOf(prepared), statement: prepared.text },
    kept: prepared.effect !== 'transaction' && !result.pending,
    // The write is complete, however long it took, so an answer of 504 would be wrong.
    deadline: false,
  };
  return resultReply(call, result, { format, iso, ...ofWrite }, false);
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

/**
 * Checks that the caller has the role that the statement needs; the kind of statement decides, not
 * the route. Throws `forbidden`.
 */
export function requireRole(call: Call, { role }: Prepared): void {
  if (!includesRole(call.caller.role, role)) throw call.deny(role);
}

/**
 * Returns the name of the caller's session. Sessions of different keys are distinct, even if the
 * clients give them the same name.
 */
function sessionOf({ caller, sessionId }: Call): string {
  return `${caller.keyId ?? 'anonymous'} ${sessionId}`;
}

/**
 * Returns a function that runs long work in steps of the scheduler, and throws once the deadline
 * has passed or the client has disconnected.
 */
export function slicesOf(call: Call): RunSteps {
  const slices = untilGone(call);
  return (step) =>
    slices(() => {
      checkDeadline(call);
      return step();
    });
}

/** The same as `slicesOf`, but without a deadline: COPY takes as long as its file requires. */
function untilGone({ services, client }: Call): RunSteps {
  return (step) =>
    services.scheduler.run('statement', () => {
      if (client.gone) throw new HedgerowError('timeout', 'The client has gone.');
      return step();
    });
}

const EVENTS: Readonly<Partial<Record<Prepared['statement']['kind'], AuditEvent>>> = {
  createTable: 'table.created',
  createNodeTable: 'node_table.created',
  dropNodeTable: 'node_table.dropped',
  alterNodeTable: 'node_table.altered',
  dropTable: 'table.dropped',
  alterTable: 'table.altered',
  createIndex: 'index.created',
  dropIndex: 'index.dropped',
  createTextIndex: 'index.created',
  dropTextIndex: 'index.dropped',
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
      'Run one statement. Statements that write need the role readwrite. COPY and statements that define tables, columns and indexes need the role admin.',
    database: true,
    data: true,
    negotiates: true,
    tagged: false,
    audit: 'statement.write',
    sessions: true,
    rateExempt: false,
    idempotent: true,
    bodyTypes: JSON_BODY,
    schemas: { query: queryQuery, body: queryBody, answers: { 200: queryAnswer }, row: queryRow },
    errors: [403, 404, 409, 500, 504, 507],
    handler: query,
  },
];
