// Fetches the plan of a statement from the service.

import { client } from '../session.ts';
import { sessionFor } from './transaction.ts';

export interface PlanNode {
  readonly operator: string;
  readonly children?: readonly PlanNode[];
  readonly [detail: string]: unknown;
}

export interface PlanRow {
  /** Null when the statement searches nothing. */
  readonly strategy: string | null;
  readonly index_type: string;
  readonly buckets_scanned: number;
  readonly total_buckets: number;
  readonly speedup_factor: number;
  readonly estimated_rows: number;
  readonly actual_rows?: number;
  readonly elapsed_us?: number;
  readonly plan: PlanNode;
}

/**
 * No time limit: the user can stop the statement with a button, and the service has its own limit.
 */
export const PATIENT = { timeoutMs: 0 };

/**
 * Returns the plan of a statement. With `isRun`, the statement is run, and the plan contains what
 * its operators actually did.
 */
export async function planOf(
  statement: string,
  parameters: Readonly<Record<string, unknown>>,
  isRun: boolean,
  signal?: AbortSignal,
): Promise<PlanRow> {
  const text = `${isRun ? 'ANALYZE' : 'EXPLAIN'} ${statement.trimStart()}`;
  const options = { ...PATIENT, ...sessionFor(statement), ...(signal === undefined ? {} : { signal }) };
  const { rows } = await client().query.run(text, parameters, options);
  return rows[0] as unknown as PlanRow;
}
