// One search of a simulation: its statement, and the comparison of its rows with those of a naive
// search engine. Rows are known by their tokens (unique weights), because a row of an open
// transaction has no id that the model knows.

import type { Database } from '../../src/engine/index.ts';
import type { EdgeRow } from '../../src/engine/types.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/index.ts';
import { naiveScores } from '../query/naive-search.ts';
import { type SimTable, textColumns, Violation } from './sim-model.ts';
import { randomSearch, termOf } from './sim-words.ts';
import type { SimWorld } from './sim-world.ts';

export interface Search {
  readonly query: string;
  /** Whether the rows without the words are wanted, which have no score. */
  readonly isNegated: boolean;
  /** The earliest time of a wanted row; undefined: any. */
  readonly from: number | undefined;
  /** Whether the best come first, and whether rows of the same score are ordered by id. */
  readonly order: 'none' | 'score' | 'score and id';
  readonly limit: number;
}

export interface FoundRow {
  readonly token: number;
  readonly score: number;
}

export interface WantedRow extends FoundRow {
  readonly id: number;
}

/** Two computations of a score may differ by this much. */
const TOLERANCE = 1e-9;

export function statementOf(name: string, { isNegated, from, order, limit }: Search): string {
  const parts = [
    `MATCH (n:${name}) WHERE ${isNegated ? 'NOT ' : ''}search(n, $query)`,
    from === undefined ? '' : 'AND n.event_ts >= $from',
    `RETURN n.weight AS token${isNegated ? '' : ', score(n) AS score'}`,
    order === 'none' ? '' : `ORDER BY score(n) DESC${order === 'score' ? '' : ', n.id'}`,
    limit === Infinity ? '' : `LIMIT ${limit}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

export function parametersOf({ query, from }: Search): Record<string, unknown> {
  return from === undefined ? { query } : { query, from };
}

/** Returns every row that a search finds, without its limit, in no particular order. */
export function wantedOf(table: SimTable, rows: readonly EdgeRow[], search: Search): WantedRow[] {
  const columns = textColumns(table);
  const documents = rows.map((row) => ({
    id: row.weight as number,
    texts: columns.map((column) => row[column] as string | null),
  }));
  const scores = naiveScores(documents, search.query, termOf(table.text!.language));
  const isLate = (row: EdgeRow): boolean => search.from === undefined || row.event_ts >= search.from;
  return rows
    .filter((row) => isLate(row) && scores.has(row.weight as number) !== search.isNegated)
    .map(({ id, weight }) => ({ id, token: weight as number, score: scores.get(weight as number) ?? 0 }));
}

/** Throws `wrong-search` unless the found rows are those that a search wants. */
export function compare(what: string, found: readonly FoundRow[], wanted: readonly WantedRow[], search: Search): void {
  const fault = faultOf(found, wanted, search);
  if (fault === undefined) return;
  const list = (rows: readonly FoundRow[]) => rows.map(({ token, score }) => `${token}=${score}`).join(' ');
  const ordered = [...wanted].sort((a, b) => b.score - a.score || a.id - b.id);
  throw new Violation('wrong-search', `${what}: ${fault}\n  found ${list(found)}\n  wanted ${list(ordered)}`);
}

function faultOf(found: readonly FoundRow[], wanted: readonly WantedRow[], search: Search): string | undefined {
  const count = Math.min(wanted.length, search.limit);
  if (found.length !== count) return `${found.length} rows, not ${count}`;
  const byToken = new Map(wanted.map((row) => [row.token, row]));
  const rows: WantedRow[] = [];
  for (const { token, score } of found) {
    const row = byToken.get(token);
    if (row === undefined) return `row ${token} is not wanted, or found twice`;
    byToken.delete(token);
    if (!(Math.abs(row.score - score) <= TOLERANCE)) return `row ${token} has score ${score}, not ${row.score}`;
    rows.push(row);
  }
  return search.order === 'none' ? undefined : orderFault(rows, [...byToken.values()], search);
}

/** Returns what is wrong with the order of `rows`, or with leaving out the others. */
function orderFault(rows: readonly WantedRow[], others: readonly WantedRow[], { order }: Search): string | undefined {
  const isBefore = (a: WantedRow, b: WantedRow): boolean => {
    if (a.score === b.score) return order === 'score' || a.id < b.id;
    return a.score > b.score - TOLERANCE;
  };
  for (const [place, row] of rows.slice(1).entries())
    if (!isBefore(rows[place]!, row)) return `row ${row.token} is behind row ${rows[place]!.token}`;
  const last = rows.at(-1);
  const missing = last === undefined ? undefined : others.find((row) => !isBefore(last, row));
  return missing === undefined ? undefined : `row ${missing.token} is missing, which is better than the last`;
}

/** Returns a random search; `rows` are some that may be found. */
export function drawSearch(
  { random, source }: SimWorld,
  rows: readonly EdgeRow[],
  orders: readonly Search['order'][],
): Search {
  const query = randomSearch(random);
  const from = rows.length > 0 && random.chance(0.3) ? source.pick(rows).event_ts + random.below(2) : undefined;
  const isNegated = random.chance(0.15);
  const order = isNegated ? 'none' : source.pick(orders);
  return { query, from, isNegated, order, limit: order === 'none' ? Infinity : 1 + random.below(8) };
}

export function isWithoutIndex(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === 'invalid_statement' && String(message).includes('has no text index');
}

/** Returns statements on a database of a simulation; `nowUs` decides how often they yield. */
export function simStatements(database: Database, nowUs: () => number): Statements {
  let ids = 0;
  return new Statements({
    database,
    now: () => 1e12,
    nowUs,
    newId: () => `transaction-${++ids}`,
    transactionIdleSeconds: 1e6,
    copyRoot: undefined,
    fs: nodeFs,
  });
}

/** Returns the rows of a chunk of a search's result. */
export function rowsOfChunk(chunk: { count: number; items: readonly unknown[] }): FoundRow[] {
  const items = chunk.items as Parameters<typeof valueAt>[0][];
  return Array.from({ length: chunk.count }, (_, row) => ({
    token: valueAt(items[0]!, row) as number,
    score: items.length > 1 ? (valueAt(items[1]!, row) as number) : 0,
  }));
}

export function endSearch(result: StatementResult): void {
  result.steps.return();
  result.close();
}

/** Returns all rows of a result. */
export function allRows(result: StatementResult): FoundRow[] {
  const rows: FoundRow[] = [];
  try {
    for (const chunk of result.steps) if (chunk !== null) rows.push(...rowsOfChunk(chunk));
  } finally {
    endSearch(result);
  }
  return rows;
}

const JUDGED: readonly Search[] = [
  { query: 'plan travel -budget', isNegated: false, from: undefined, order: 'none', limit: Infinity },
  { query: 'the pla* "plan the"', isNegated: false, from: undefined, order: 'score and id', limit: 3 },
];

/** Compares some searches in a table with those in the model. Throws a Violation. */
export function judgeSearches(db: Database, name: string, table: SimTable, rows: readonly EdgeRow[]): void {
  let us = 0;
  const statements = simStatements(db, () => (us += 7));
  for (const search of JUDGED) {
    const prepared = statements.prepare(statementOf(name, search));
    const result = statements.read(prepared, parametersOf(search), 'judge', undefined) as StatementResult;
    compare(`search ${name} for ${search.query}`, allRows(result), wantedOf(table, rows, search), search);
  }
}
