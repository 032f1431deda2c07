// Runs the statements of figures, and names tables and columns in them.

import type { Database, Table } from '../engine/index.ts';
import type { StatementRow, EmbeddedStatements as Statements } from '../query/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { FilterValue } from './question/question.ts';
import type { StepRunner } from './request.ts';
import type { MemberKeys } from './retrieval/member-keys.ts';

/** Runs a measure over a table, as POST /v1/analytics does. */
export type RunMeasure = (
  table: string,
  measure: string,
  params: object,
  options: { signal: AbortSignal },
) => Promise<{ result: unknown }>;

export interface ComputeTools {
  readonly database: Database;
  readonly table: Table;
  /** The keys of a named table. */
  readonly keys: MemberKeys | undefined;
  readonly names: Table | undefined;
  readonly statements: Statements;
  /** If undefined, a statement reads the edges, and nodes are counted from these. */
  readonly measure: RunMeasure | undefined;
  readonly runner: StepRunner;
}

/** Runs a statement, and yields its rows in batches. Rejects with the errors of the runner. */
export async function* batchesOf(
  statement: string,
  { statements, runner }: Pick<ComputeTools, 'statements' | 'runner'>,
): AsyncGenerator<readonly StatementRow[], void, void> {
  const { batches } = await statements.begin(statement, {}, { signal: runner.signal });
  for await (const batch of batches) {
    await runner.run(pause());
    yield batch;
  }
}

/** Runs a statement, and returns all its rows. */
export async function rowsOf(
  statement: string,
  tools: Pick<ComputeTools, 'statements' | 'runner'>,
): Promise<StatementRow[]> {
  const rows: StatementRow[] = [];
  for await (const batch of batchesOf(statement, tools)) rows.push(...batch);
  return rows;
}

/** Gives the runner a chance to check the deadline. */
function* pause(): Steps<void> {
  yield;
}

/** Writes a value as a literal of a statement. */
export function literal(value: FilterValue): string {
  return typeof value === 'string'
    ? `'${value.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}'`
    : String(value);
}

/** Matches names that must be in backquotes, because they are keywords in statements. */
const RESERVED =
  /^(?:match|where|return|and|or|not|in|is|null|true|false|order|by|asc|desc|limit|skip|offset|distinct|as|contains|starts|ends|with|between|members|hyperedge|count|sum|avg|min|max|collect|size|bucket|shared|intersects|overlaps|follows|exists|e)$/i;

/** Writes the name of a table or column in a statement. */
export function quoted(name: string): string {
  return RESERVED.test(name) ? `\`${name}\`` : name;
}
