// Batches: many operations as one atomic commit. A failed operation is an answer with status 200 that says so.

import type { CommitOutcome, Database, Transaction } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { invalidFields, kindOf } from '../http/field-errors.ts';
import { parseJsonObject, requireObject } from '../http/json-body.ts';
import { JSON_BODY } from '../http/media.ts';
import { WriteAnswer } from '../http/once.ts';
import { jsonReply, jsonTextReply, type Reply, type ReplyFacts } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { maskPatterns } from '../observe/redact.ts';
import { readEdge, readEdgeKey, tableNameOf } from './edge-input.ts';
import { batchAnswer, batchBody } from './schemas/batch.ts';

interface OperationResult {
  op: number;
  type: string | null;
  success: boolean;
  /** Insert: the new edge's id. */
  id?: number;
  /** Delete: how many edges it removed. */
  matched?: number;
  error?: string;
}

/** Operations staged in one step, so that a step stays well under the time slice. */
const OPERATIONS_PER_STEP = 200;

async function batch(call: Call): Promise<Reply> {
  const operations = operationsOf(parseJsonObject(call.body));
  const transaction = call.database.begin();
  const results: OperationResult[] = [];
  try {
    const step = (): boolean => {
      for (let i = 0; i < OPERATIONS_PER_STEP && results.length < operations.length; i++) {
        const result = stage(call.database, transaction, operations[results.length], results.length);
        results.push(result);
        if (!result.success) return false;
      }
      return results.length < operations.length;
    };
    if (step()) await call.services.slices.run(step);
  } catch (error) {
    transaction.rollback();
    throw error;
  }
  const failed = results.at(-1);
  if (failed !== undefined && !failed.success) {
    transaction.rollback();
    return jsonReply(200, rolledBack(operations.length, results, failed), undefined, ROLLED_BACK);
  }
  const answer = new WriteAnswer<CommitOutcome>(call.once, 200, (outcome) => committedBody(results, outcome));
  const commit = await transaction.commit(answer.attach);
  return jsonTextReply(200, answer.body(commit), commit.lsn);
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

/** Completes the results with what came out of each operation. */
function committedBody(results: OperationResult[], outcome: CommitOutcome): string {
  outcome.results.forEach((one, index) => {
    const result = results[index]!;
    if ('row' in one) result.id = one.row.id;
    else result.matched = one.matched;
  });
  const total = results.length;
  return JSON.stringify({ committed: true, ops_total: total, ops_success: total, results });
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

/** Checks and stages one operation; a fault of the caller is a result, anything else is thrown. */
function stage(database: Database, transaction: Transaction, operation: unknown, op: number): OperationResult {
  let type: string | null = null;
  try {
    const place = ['body', 'operations', op];
    const source = requireObject(operation, place);
    type = typeof source.type === 'string' ? maskPatterns(source.type) : null;
    stageChecked(database, transaction, source, place);
    return { op, type, success: true };
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.status >= 500) throw error;
    return { op, type, success: false, error: maskPatterns(error.message) };
  }
}

function stageChecked(
  database: Database,
  transaction: Transaction,
  source: Record<string, unknown>,
  place: (string | number)[],
): void {
  switch (source.type) {
    case 'insert': {
      const table = database.table(tableNameOf(source, place));
      transaction.insert(table, readEdge(source, table, place));
      return;
    }
    case 'delete': {
      const key = readEdgeKey(source, place);
      transaction.delete(database.table(tableNameOf(source, place)), key.event_ts, key.members);
      return;
    }
    case 'query':
      throw refusal('invalid_input', 'Statements are not available in this version yet.');
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
