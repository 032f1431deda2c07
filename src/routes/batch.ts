// Batches: many operations as one atomic commit. If an operation fails, nothing is committed, and
// the answer has status 200 with `committed: false`.

import { type CommitOutcome, type Database, IdRanges, type Transaction, type WrittenIds } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import {
  detailOf,
  invalidFields,
  JSON_BODY,
  jsonReply,
  jsonTextReply,
  kindOf,
  type Reply,
  type ReplyFacts,
  WriteAnswer,
} from '../http/index.ts';
import { parseJsonObject, requireObject } from '../http/json-body.ts';
import { FORMAT_MAX_MEMBERS } from '../limits.ts';
import { readEdge, readEdgeKey, tableNameOf } from '../model/edge.ts';
import { maskPatterns } from '../observe/redact.ts';
import { finish, type Steps } from '../schedule/steps.ts';
import type { Call, Route } from './application.ts';
import { readMemberForm } from './member-form.ts';
import { requireRole, requireStatements, slicesOf } from './query.ts';
import { collectRows, MOST_COLLECTED } from './query-reply.ts';
import { wantsIso } from './rows-query.ts';
import { batchAnswer, batchBody } from './schemas/batch.ts';

interface OperationResult {
  op: number;
  type: string | null;
  success: boolean;
  /** The id of the new edge, for an insert. */
  id?: number;
  /** The number of edges removed, for a delete. */
  matched?: number;
  /** The rows of the statement, for a query. */
  rows?: unknown[];
  error?: string;
}

/** State of a running batch. */
interface Progress {
  readonly results: OperationResult[];
  /** For each operation: its index among the staged operations, undefined for a query. */
  readonly places: (number | undefined)[];
  /** The names of the tables that the inserts write to, by the index of the operation. */
  readonly tables: Map<number, string>;
  /** Total size in bytes of the rows that the batch's statements have returned so far. */
  bytes: number;
  /** True if times in rows are written as ISO 8601. */
  readonly iso: boolean;
  readonly members: 'numbers' | 'objects' | undefined;
}

/**
 * Maximum number of operations staged in one step, so that a step stays well within the time slice.
 */
const OPERATIONS_PER_STEP = 200;

/**
 * Runs a batch. If it conflicts with another commit, none of its changes has become visible, so the
 * batch is run again on the newest state. After repeated conflicts the answer is 409.
 */
async function batch(call: Call): Promise<Reply> {
  const body = parseJsonObject(call);
  const operations = operationsOf(body);
  const iso = wantsIso(body.times, 'body');
  const members = readMemberForm(body.members, 'body');
  return requireStatements(call).turns.run(() => runBatch(call, operations, iso, members));
}

async function runBatch(
  call: Call,
  operations: readonly unknown[],
  iso: boolean,
  members: Progress['members'],
): Promise<Reply> {
  // The batch's statements read all tables at one LSN.
  const transaction = call.database.begin({ pinned: operations.some(isQuery) });
  const progress: Progress = { results: [], places: [], tables: new Map(), bytes: 0, iso, members };
  const { results } = progress;
  try {
    while (results.length < operations.length && results.at(-1)?.success !== false) {
      if (isQuery(operations[results.length])) await runQuery(call, transaction, operations[results.length], progress);
      else await runStaged(call, transaction, operations, progress);
    }
  } catch (error) {
    transaction.rollback();
    throw error;
  }
  const failed = results.at(-1);
  if (failed !== undefined && !failed.success) {
    transaction.rollback();
    return jsonReply(200, rolledBack(operations.length, results, failed), undefined, ROLLED_BACK);
  }
  const answer = new WriteAnswer<CommitOutcome>(
    call.once,
    200,
    (outcome) => committedBody(progress, outcome),
    undefined,
    (outcome) => rangesOf(progress, outcome),
  );
  const commit = await transaction.commit(answer.attach).catch(droppedIsConflict);
  const text = call.once === undefined ? await inSteps(call, committedSteps(progress, commit)) : answer.body(commit);
  return jsonTextReply(200, text, commit.lsn);
}

/**
 * A table of the batch was dropped after its operations were staged. As after a conflict, the batch
 * is run again, and the first of these operations fails.
 */
function droppedIsConflict(error: unknown): never {
  if (error instanceof HedgerowError && error.code === 'table_not_found')
    throw new HedgerowError('conflict', error.message, { cause: error });
  throw error;
}

function isQuery(operation: unknown): boolean {
  return typeof operation === 'object' && operation !== null && 'type' in operation && operation.type === 'query';
}

/** Stages inserts and deletes up to the next query, the end, or the first failure. */
async function runStaged(
  call: Call,
  transaction: Transaction,
  operations: readonly unknown[],
  { results, places, tables }: Progress,
): Promise<void> {
  const step = (): boolean => {
    for (let i = 0; i < OPERATIONS_PER_STEP; i++) {
      const operation = operations[results.length];
      if (results.length === operations.length || isQuery(operation)) return false;
      const result = stage(call.database, transaction, operation, results.length, tables);
      // An insert may stage new nodes before its edge.
      places.push(transaction.operations - 1);
      results.push(result);
      if (!result.success) return false;
    }
    return true;
  };
  if (step()) await call.services.scheduler.run('batch', step);
}

/** Runs one statement. It also reads the changes that the batch has made so far. */
async function runQuery(call: Call, transaction: Transaction, operation: unknown, progress: Progress): Promise<void> {
  const { results, places } = progress;
  const op = results.length;
  places.push(undefined);
  try {
    const { cypher, parameters } = requireObject(operation, ['body', 'operations', op]);
    if (Array.isArray(parameters))
      throw invalidFields([{ loc: ['body', 'operations', op, 'parameters'], msg: 'must be an object, not an array' }]);
    if (typeof cypher !== 'string')
      throw invalidFields([{ loc: ['body', 'operations', op, 'cypher'], msg: 'must be a statement, as a string' }]);
    const statements = requireStatements(call);
    const prepared = await statements.prepareLong(cypher, slicesOf(call));
    requireRole(call, prepared);
    const outcome = await statements.runInside(
      prepared,
      (parameters ?? {}) as Record<string, unknown>,
      transaction,
      slicesOf(call),
      progress.members,
    );
    let rows: unknown[] = [outcome];
    if ('steps' in outcome) {
      const collected = await collectRows(call, outcome, MOST_COLLECTED - progress.bytes, progress.iso);
      rows = collected.rows;
      progress.bytes += collected.bytes;
    }
    results.push({ op, type: 'query', success: true, rows });
  } catch (error) {
    // A conflict means that a table was altered in the meantime: the whole batch is run again.
    if (!(error instanceof HedgerowError) || error.status >= 500 || error.code === 'conflict') throw error;
    results.push({ op, type: 'query', success: false, error: detailOf(error) });
  }
}

const ROLLED_BACK: ReplyFacts = { audit: { event: 'batch.rolled_back' } };

function rolledBack(total: number, results: readonly OperationResult[], failed: OperationResult) {
  return {
    committed: false,
    ops_total: total,
    ops_success: results.length - 1,
    error: `Operation ${failed.op} failed, nothing was applied: ${failed.error}`,
    results,
  };
}

/** Adds the outcome of each operation to the results, and returns the body of the answer. */
function committedBody(progress: Progress, outcome: CommitOutcome): string {
  return finish(committedSteps(progress, outcome));
}

/** Number of results whose text is written in one step. */
const RESULTS_A_STEP = 2000;

function* committedSteps({ results, places }: Progress, outcome: CommitOutcome): Steps<string> {
  const total = results.length;
  const pieces: string[] = [];
  for (let from = 0; from < total; from += RESULTS_A_STEP) {
    const to = Math.min(total, from + RESULTS_A_STEP);
    for (let index = from; index < to; index++) {
      const place = places[index];
      if (place === undefined) continue;
      const one = outcome.outcomeAt(place);
      if ('row' in one) results[index]!.id = one.row.id;
      else results[index]!.matched = one.matched;
    }
    pieces.push(JSON.stringify(results.slice(from, to)).slice(1, -1));
    if (to < total) yield;
  }
  return `{"committed":true,"ops_total":${total},"ops_success":${total},"results":[${pieces.join()}]}`;
}

/** Runs work that is usually one step. */
async function inSteps<T>({ services }: Call, steps: Steps<T>): Promise<T> {
  const first = steps.next();
  return first.done === true ? first.value : services.scheduler.drive('batch', steps);
}

function rangesOf({ places, tables }: Progress, outcome: CommitOutcome): WrittenIds | undefined {
  const ranges = new IdRanges();
  for (const [index, place] of places.entries()) {
    const one = place === undefined ? undefined : outcome.outcomeAt(place);
    if (one !== undefined && 'row' in one) ranges.add(tables.get(index)!, one.row.id, one.row.id);
  }
  return ranges.written();
}

function operationsOf(body: Record<string, unknown>): unknown[] {
  const { operations } = body;
  if (Array.isArray(operations) && operations.length > 0) return operations;
  const msg =
    operations === undefined || operations === null
      ? 'is missing'
      : Array.isArray(operations)
        ? 'is empty'
        : `must be an array, not ${kindOf(operations)}`;
  throw invalidFields([{ loc: ['body', 'operations'], msg }]);
}

/**
 * Checks and stages one operation. An error made by the caller becomes the operation's result; all
 * other errors are thrown.
 */
function stage(
  database: Database,
  transaction: Transaction,
  operation: unknown,
  op: number,
  tables: Progress['tables'],
): OperationResult {
  let type: string | null = null;
  try {
    const place = ['body', 'operations', op];
    const source = requireObject(operation, place);
    type = typeof source.type === 'string' ? maskPatterns(source.type) : null;
    const insertedInto = stageChecked(database, transaction, source, place);
    if (insertedInto !== undefined) tables.set(op, insertedInto);
    return { op, type, success: true };
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.status >= 500) throw error;
    return { op, type, success: false, error: detailOf(error) };
  }
}

/** Like `stage`, but throws the caller's errors. Returns the name of the table of an insert. */
function stageChecked(
  database: Database,
  transaction: Transaction,
  source: Record<string, unknown>,
  place: (string | number)[],
): string | undefined {
  switch (source.type) {
    case 'insert': {
      const table = database.table(tableNameOf(source, place));
      transaction.insert(table, readEdge(source, table, place));
      return table.name;
    }
    case 'delete': {
      const table = database.table(tableNameOf(source, place));
      const key = readEdgeKey(source, table, FORMAT_MAX_MEMBERS, place);
      transaction.delete(table, key.event_ts, key.members);
      return undefined;
    }
    default:
      throw invalidFields([{ loc: [...place, 'type'], msg: 'must be insert, delete or query' }]);
  }
}

export const batchRoutes: readonly Route[] = [
  {
    id: 'runBatch',
    method: 'POST',
    path: '/v1/batch',
    role: 'readwrite',
    summary: 'Several operations that commit together or not at all.',
    database: true,
    data: true,
    negotiates: false,
    tagged: false,
    audit: 'batch.committed',
    rateExempt: false,
    idempotent: true,
    bodyTypes: JSON_BODY,
    schemas: { body: batchBody, answers: { 200: batchAnswer } },
    errors: [500],
    handler: batch,
  },
];
