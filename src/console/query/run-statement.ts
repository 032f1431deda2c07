// Runs one statement and fetches its rows page by page, as the user asks for them.

import type { QueryRow } from '../../client/index.ts';
import { client } from '../session.ts';
import { firstWord, isMatch, limitOf } from '../statement-words.ts';
import { PATIENT, type PlanNode, type PlanRow, planOf } from './plan.ts';
import { sessionFor, transaction, transactionFailed, transactionRan } from './transaction.ts';

export const PAGE_ROWS = 100;

/** Maximum number of rows to fetch when the rest cannot wait on the server. */
export const MOST_UNHELD_ROWS = 10_000;

export interface Result {
  /** Identifies the run: milliseconds since the page was opened. */
  readonly startedAt: number;
  readonly statement: string;
  /** Values of the parameters in the statement. */
  readonly parameters: Parameters;
  readonly columns: readonly string[];
  /**
   * For each column name, its type, such as TIME or NODES; undefined when the answer lacks the
   * types.
   */
  readonly types: Readonly<Record<string, string>> | undefined;
  /** All rows fetched so far. */
  readonly rows: readonly QueryRow[];
  /** True when more rows wait on the server. */
  readonly hasMore: boolean;
  /** True when there are more rows that cannot be fetched. */
  readonly isCut: boolean;
  readonly elapsedMs: number;
  /** The plan, when the statement was an EXPLAIN or ANALYZE. */
  readonly plan: PlanRow | undefined;
  /** Fetches the next page, and returns the result with the rows of that page added. */
  readonly more: () => Promise<Result>;
  /** Ends the request from which the rows are read. */
  readonly close: () => void;
}

export type Parameters = Readonly<Record<string, unknown>>;

export interface RunOptions {
  readonly parameters: Parameters;
  /** Stops the statement, here and on the server. */
  readonly signal: AbortSignal;
  /** True when only the first page is fetched at once and the other rows may wait on the server. */
  readonly isHeld: boolean;
}

export async function runStatement(statement: string, options: RunOptions): Promise<Result> {
  try {
    const result = await (isMatch(statement) ? runMatch(statement, options) : runOther(statement, options));
    transactionRan(statement, result.rows);
    return result;
  } catch (error) {
    transactionFailed(statement, error);
    throw error;
  }
}

/** Returns the LIMIT of the statement when exactly that many rows arrived, so there may be more. */
export function reachedLimit({ statement, rows, hasMore, isCut }: Result): number | undefined {
  const limit = isMatch(statement) ? limitOf(statement) : undefined;
  return limit !== undefined && limit > 0 && rows.length === limit && !hasMore && !isCut ? limit : undefined;
}

async function runMatch(statement: string, { signal, isHeld, parameters }: RunOptions): Promise<Result> {
  const startedAt = performance.now();
  const leaving = new AbortController();
  const stop = () => leaving.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', stop);
  try {
    const options = { ...PATIENT, ...sessionFor(statement), signal: leaving.signal };
    const source = client().query.rows(statement, parameters, options);
    // Unread rows keep the session busy, so within a transaction no further statement could run.
    const canWait = isHeld && transaction.value === undefined;
    const taken = await take(source, undefined, canWait ? PAGE_ROWS : MOST_UNHELD_ROWS);
    const elapsedMs = performance.now() - startedAt;
    const columns = await columnsOf(statement, parameters, taken.rows);
    const known: Known = { startedAt, statement, parameters, columns, types: undefined, rows: [], elapsedMs };
    if (canWait && taken.ahead !== undefined) return pageOf(known, taken, source, holdFor(leaving));
    leaving.abort(new Error('The result was closed.'));
    return wholeOf({ ...known, rows: taken.rows }, taken.ahead !== undefined);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The rest of a result, which the server holds for this page. */
interface Held {
  readonly renew: () => void;
  readonly close: () => void;
}

/**
 * Longest time without a request for more rows. An open result keeps data that the service would
 * like to clean up.
 */
const HELD_MS = 120_000;

function holdFor(leaving: AbortController): Held {
  const letGo = () =>
    leaving.abort(new Error('The other rows were dropped after two minutes. Run the statement again to see them.'));
  let timer = setTimeout(letGo, HELD_MS);
  return {
    renew: () => {
      clearTimeout(timer);
      timer = setTimeout(letGo, HELD_MS);
    },
    close: () => {
      clearTimeout(timer);
      leaving.abort(new Error('The result was closed.'));
    },
  };
}

type Source = AsyncGenerator<QueryRow, void, undefined>;

interface Taken {
  readonly rows: readonly QueryRow[];
  /** The row after `rows`, which shows that there are more. */
  readonly ahead: QueryRow | undefined;
}

async function take(source: Source, first: QueryRow | undefined, most: number): Promise<Taken> {
  const rows = first === undefined ? [] : [first];
  for (;;) {
    const { done, value } = await source.next();
    if (done === true) return { rows, ahead: undefined };
    if (rows.length === most) return { rows, ahead: value };
    rows.push(value);
  }
}

type Known = Omit<Result, 'hasMore' | 'isCut' | 'plan' | 'more' | 'close'>;

function pageOf(known: Known, taken: Taken, source: Source, held: Held): Result {
  const rows = [...known.rows, ...taken.rows];
  return {
    ...known,
    rows,
    hasMore: taken.ahead !== undefined,
    isCut: false,
    plan: undefined,
    more: async () => {
      held.renew();
      return pageOf({ ...known, rows }, await take(source, taken.ahead, PAGE_ROWS), source, held);
    },
    close: held.close,
  };
}

/** Returns a result without further rows on the server. */
function wholeOf(known: Known, isCut: boolean, plan?: PlanRow): Result {
  const result: Result = { ...known, hasMore: false, isCut, plan, more: async () => result, close: () => {} };
  return result;
}

/**
 * Returns the columns of a stream of rows: those of the first row or, when there is no row, those
 * in the plan.
 */
async function columnsOf(
  statement: string,
  parameters: Parameters,
  rows: readonly QueryRow[],
): Promise<readonly string[]> {
  if (rows[0] !== undefined) return Object.keys(rows[0]);
  for (
    let node: PlanNode | undefined = (await planOf(statement, parameters, false)).plan;
    node;
    node = node.children?.[0]
  ) {
    if (node.operator === 'Return' && Array.isArray(node.columns)) return node.columns.map(String);
  }
  return [];
}

async function runOther(statement: string, { signal, parameters }: RunOptions): Promise<Result> {
  const startedAt = performance.now();
  const options = { ...PATIENT, ...sessionFor(statement), signal };
  const answer = await client().query.run(statement, parameters, options);
  const { columns, rows } = answer;
  const isPlan = ['EXPLAIN', 'ANALYZE'].includes(firstWord(statement));
  const elapsedMs = performance.now() - startedAt;
  const plan = isPlan ? (rows[0] as unknown as PlanRow | undefined) : undefined;
  return wholeOf({ startedAt, statement, parameters, columns, types: typesOf(answer), rows, elapsedMs }, false, plan);
}

/**
 * Returns the types of the columns; undefined for older services, whose answers lack
 * `column_types`.
 */
function typesOf(answer: { readonly columns: readonly string[]; readonly column_types?: unknown }): Result['types'] {
  const { columns, column_types: types } = answer;
  if (!Array.isArray(types)) return undefined;
  return Object.fromEntries(columns.map((name, at) => [name, String(types[at])]));
}
