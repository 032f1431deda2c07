// Runs statements as the service does: one function takes text and parameters and returns columns
// and rows.

import { bestRows, bytesWithoutBlock, type Database, searchStatistics, type Table } from '../../src/engine/index.ts';
import type { BoundMatch } from '../../src/query/binder/bound.ts';
import { bindMatch } from '../../src/query/binder/match.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { QueryContext, type RowSource } from '../../src/query/executor/context.ts';
import { chunkText, rowKeys } from '../../src/query/executor/rows/result-text.ts';
import { runMatch } from '../../src/query/executor/run-match.ts';
import { bucketsOf, explainRow } from '../../src/query/explain.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { indexTypeOf, type MatchPlan } from '../../src/query/planner/plan.ts';
import { planMatch } from '../../src/query/planner/planner.ts';

export interface Answer {
  readonly columns: readonly string[];
  /** Each row as JSON. */
  readonly rows: readonly string[];
  /** Null if the statement reads no rows from tables. */
  readonly plan: { strategy: string; indexType: string; bucketsScanned: number; totalBuckets: number } | null;
}

export type Execute = (text: string, parameters?: ParameterValues) => Promise<Answer>;

/**
 * Returns a function that runs MATCH statements, and EXPLAIN and ANALYZE of them, on the newest
 * state of a database, and rejects with the service's errors.
 */
export function executor(database: Database): Execute {
  return async (text, parameters = {}) => {
    const node = parseStatement(text);
    if (node.kind === 'match') return runPlan(planOf(database, node, text, parameters), parameters);
    if ((node.kind === 'explain' || node.kind === 'analyze') && node.statement.kind === 'match') {
      const plan = planOf(database, node.statement, text, parameters);
      if (node.kind === 'explain') return oneRow(explainRow(plan));
      const context = contextOf(plan, parameters, true);
      drain(plan, context);
      return oneRow(explainRow(plan, context.figures));
    }
    throw new Error(`no statement of kind ${node.kind} can be run here yet`);
  };
}

export function planOf(database: Database, node: MatchNode, text: string, parameters: ParameterValues): MatchPlan {
  return planBound(bindMatch(node, text, database, parameters), parameters);
}

export function planBound(bound: BoundMatch, parameters: ParameterValues): MatchPlan {
  return planMatch(bound, parameters, (pattern, { startTs, endTs, at, nodes, ranges }) =>
    pattern.table.estimate({
      startTs,
      endTs,
      at,
      nodes: nodes.length === 0 ? undefined : nodes,
      where: ranges.length === 0 ? undefined : ranges,
    }),
  );
}

/** The newest visible state of a table, as a scan reads it. */
export function newestViewOf({ version, context }: Table) {
  return { version, lsn: context.committer.visibleLsn, overlay: undefined };
}

const NEWEST: RowSource = {
  scan: (pattern, request, columns) => pattern.table.scan({ ...request, format: 'columns', columns }),
  scanApart: (pattern, request, columns) => pattern.table.scanApart({ ...request, format: 'columns', columns }),
  segmentScan: (pattern, request) => pattern.table.segmentScan(request),
  loadEnds: (pattern, startTs, endTs) => pattern.table.loadEnds({ startTs, endTs }),
  bestRows: (pattern, request, statistics, k) =>
    bestRows(pattern.table, newestViewOf(pattern.table), request, statistics, k),
  textStatistics: (pattern, search) => searchStatistics(pattern.table, newestViewOf(pattern.table), search),
  bytesWithoutBlock: ({ table }) => bytesWithoutBlock(table, table.version),
  count: (pattern, startTs, endTs) => pattern.table.count({ startTs, endTs }),
  timeBounds: (pattern, startTs, endTs) => pattern.table.timeBounds({ startTs, endTs }),
};

export function contextOf(plan: MatchPlan, parameters: ParameterValues, measured = false): QueryContext {
  let us = 0;
  return new QueryContext({
    source: NEWEST,
    patterns: [...plan.match.patterns, ...plan.match.inner],
    parameters,
    nowUs: () => (us += 3),
    measured,
  });
}

function drain(plan: MatchPlan, context: QueryContext): string[] {
  const keys = rowKeys(plan.match.items.map((item) => item.name));
  let text = '';
  for (const chunk of runMatch(plan, context)) if (chunk !== null) text += chunkText(chunk, keys, '\n');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

export function runPlan(plan: MatchPlan, parameters: ParameterValues): Answer {
  const context = contextOf(plan, parameters);
  const rows = drain(plan, context);
  return {
    columns: plan.match.items.map((item) => item.name),
    rows,
    plan: {
      strategy: plan.strategy,
      indexType: indexTypeOf(plan.strategy),
      bucketsScanned: context.bucketsScanned,
      totalBuckets: bucketsOf(plan).total,
    },
  };
}

function oneRow(row: Record<string, unknown>): Answer {
  return { columns: Object.keys(row), rows: [JSON.stringify(row)], plan: null };
}
