// Runs a statement and takes its rows page by page: what is not looked at is not fetched.

import type { QueryRow } from '../../client/index.ts';
import { client } from '../session.ts';
import { bare, isMatch } from '../statement-words.ts';

export const PAGE_ROWS = 100;

export interface Result {
  readonly statement: string;
  readonly columns: readonly string[];
  /** Every row fetched so far. */
  readonly rows: readonly QueryRow[];
  /** More rows wait on the server. */
  readonly hasMore: boolean;
  readonly elapsedMs: number;
  /** The plan, when the statement was an EXPLAIN or ANALYZE. */
  readonly plan: PlanRow | undefined;
  /** Takes the next page; the result then holds it too. */
  readonly more: () => Promise<Result>;
  /** Ends the request behind the result. */
  readonly close: () => void;
}

export interface PlanNode {
  readonly operator: string;
  readonly children?: readonly PlanNode[];
  readonly [detail: string]: unknown;
}

export interface PlanRow {
  readonly strategy: string;
  readonly index_type: string;
  readonly buckets_scanned: number;
  readonly total_buckets: number;
  readonly speedup_factor: number;
  readonly estimated_rows: number;
  readonly actual_rows?: number;
  readonly elapsed_us?: number;
  readonly plan: PlanNode;
}

export async function runStatement(statement: string): Promise<Result> {
  return isMatch(statement) ? runMatch(statement) : runOther(statement);
}

async function runMatch(statement: string): Promise<Result> {
  const started = performance.now();
  const leaving = new AbortController();
  const rows = client().query.rows(statement, {}, { signal: leaving.signal });
  const taken = await take(rows, PAGE_ROWS);
  const held = holdFor(leaving);
  const elapsedMs = performance.now() - started;
  const columns = await columnsOf(statement, taken.rows);
  return pageOf({ statement, columns, rows: [], elapsedMs }, taken, rows, held);
}

/** The rest of a result, which the server holds for this page. */
interface Held {
  readonly renew: () => void;
  readonly close: () => void;
}

/** An open result pins what the service would like to clean up, so nobody holds one longer than this without asking for more. */
const HELD_MS = 120_000;

function holdFor(leaving: AbortController): Held {
  const letGo = () =>
    leaving.abort(new Error('The rest of the rows was let go after two minutes. Run the statement again to see them.'));
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

interface Taken {
  readonly rows: readonly QueryRow[];
  readonly isAll: boolean;
}

async function take(source: AsyncGenerator<QueryRow, void, undefined>, most: number): Promise<Taken> {
  const rows: QueryRow[] = [];
  while (rows.length < most) {
    const { done, value } = await source.next();
    if (done === true) return { rows, isAll: true };
    rows.push(value);
  }
  return { rows, isAll: false };
}

type Known = Pick<Result, 'statement' | 'columns' | 'rows' | 'elapsedMs'>;

function pageOf(known: Known, taken: Taken, source: AsyncGenerator<QueryRow, void, undefined>, held: Held): Result {
  const next = { ...known, rows: [...known.rows, ...taken.rows] };
  return {
    ...next,
    hasMore: !taken.isAll,
    plan: undefined,
    more: async () => {
      held.renew();
      return pageOf(next, await take(source, PAGE_ROWS), source, held);
    },
    close: held.close,
  };
}

/** A stream of rows tells no columns: they are those of the first row, or, when there is none, what the whole answer says. */
async function columnsOf(statement: string, rows: readonly QueryRow[]): Promise<readonly string[]> {
  if (rows[0] !== undefined) return Object.keys(rows[0]);
  return (await client().query.run(statement)).columns;
}

async function runOther(statement: string): Promise<Result> {
  const started = performance.now();
  const { columns, rows } = await client().query.run(statement);
  const isPlan = /^\s*(EXPLAIN|ANALYZE)\b/i.test(bare(statement));
  const result: Result = {
    statement,
    columns,
    rows,
    hasMore: false,
    elapsedMs: performance.now() - started,
    plan: isPlan ? (rows[0] as unknown as PlanRow | undefined) : undefined,
    more: async () => result,
    close: () => {},
  };
  return result;
}

/** The plan of a statement, with what its operators really did when it is run for that. */
export async function planOf(statement: string, isRun: boolean): Promise<PlanRow> {
  const { rows } = await client().query.run(`${isRun ? 'ANALYZE' : 'EXPLAIN'} ${statement}`);
  return rows[0] as unknown as PlanRow;
}
