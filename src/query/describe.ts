// Answers EXPLAIN of statements other than MATCH: describes how UPDATE, DELETE and COPY TO find
// their rows, and what the other statements would do.

import type { Database } from '../engine/index.ts';
import { bindDelete, bindInsert, bindUpdate } from './binder/changes.ts';
import { bindMatch } from './binder/match.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { bindTable } from './binder/patterns.ts';
import { copiedRows } from './copy/copy.ts';
import { bindDefinition } from './define.ts';
import { bucketsOf, explainRow, type PlanNode, RowNodes } from './explain.ts';
import type { CopyToNode, DeleteNode, Statement, UpdateNode } from './parser/ast.ts';
import { indexTypeOf } from './planner/plan.ts';
import { planMatch } from './planner/planner.ts';
import type { Estimator } from './planner/scans.ts';
import { planSearch } from './planner/search.ts';

/**
 * Returns the row of EXPLAIN and changes nothing. Throws the errors about names and types that the
 * statement itself would throw.
 */
export function describePlanless(
  statement: Statement,
  text: string,
  parameters: ParameterValues,
  database: Database,
  estimate: Estimator,
): Record<string, unknown> {
  switch (statement.kind) {
    case 'update':
    case 'delete':
      return describeSearch(statement, text, parameters, database, estimate);
    case 'insert': {
      const { rows, table } = bindInsert(statement, text, database, parameters);
      return plainRow({ operator: 'Insert', table: table.name, rows: rows.length }, rows.length);
    }
    case 'copyFrom':
      return plainRow({ operator: 'CopyFrom', table: bindTable(database, statement.table, text).name }, 0);
    case 'copyTo':
      return describeCopyTo(statement, text, parameters, database, estimate);
    case 'match':
    case 'explain':
    case 'analyze':
      throw new Error(`${statement.kind} has a plan of its own`);
    case 'begin':
    case 'commit':
    case 'rollback':
      return plainRow({ operator: OPERATORS[statement.kind] }, 0);
    default:
      return plainRow(
        { operator: OPERATORS[statement.kind], ...bindDefinition(statement, text, parameters, database) },
        0,
      );
  }
}

const OPERATORS = {
  createTable: 'CreateTable',
  createNodeTable: 'CreateNodeTable',
  dropTable: 'DropTable',
  dropNodeTable: 'DropNodeTable',
  alterTable: 'AlterTable',
  alterNodeTable: 'AlterNodeTable',
  createIndex: 'CreateIndex',
  dropIndex: 'DropIndex',
  createTextIndex: 'CreateTextIndex',
  dropTextIndex: 'DropTextIndex',
  showIndexes: 'ShowIndexes',
  showTables: 'ShowTables',
  showNodeTables: 'ShowNodeTables',
  compact: 'Compact',
  begin: 'Begin',
  commit: 'Commit',
  rollback: 'Rollback',
} as const;

function plainRow(plan: PlanNode, estimatedRows: number): Record<string, unknown> {
  return {
    strategy: null,
    index_type: 'NONE',
    buckets_scanned: 0,
    total_buckets: 0,
    speedup_factor: 0,
    estimated_rows: estimatedRows,
    plan,
  };
}

/** Returns the row of EXPLAIN for COPY TO: how the rows to be exported are found. */
function describeCopyTo(
  { source }: CopyToNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  estimate: Estimator,
): Record<string, unknown> {
  const match = bindMatch(copiedRows(source), text, database, parameters);
  const row = explainRow(planMatch(match, parameters, estimate));
  return { ...row, plan: { operator: 'CopyTo', children: [row.plan as PlanNode] } };
}

function describeSearch(
  statement: UpdateNode | DeleteNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  estimate: Estimator,
): Record<string, unknown> {
  const bound =
    statement.kind === 'update'
      ? bindUpdate(statement, text, database, parameters)
      : bindDelete(statement, text, database, parameters);
  const plan = planSearch(bound, parameters, estimate);
  const { scan } = plan;
  const { scanned, total } = bucketsOf(plan);
  const driving =
    scan.paths.length === 0 ? undefined : scan.paths.reduce((a, b) => (b.estimatedRows > a.estimatedRows ? b : a));
  const strategy = driving?.strategy ?? 'TPI_BUCKET_PUSHDOWN';
  return {
    strategy,
    index_type: indexTypeOf(strategy),
    buckets_scanned: scanned,
    total_buckets: total,
    speedup_factor: total / Math.max(1, scanned),
    estimated_rows: plan.input.estimatedRows,
    plan: {
      operator: bound.kind === 'update' ? 'Update' : 'Delete',
      table: bound.pattern.table.name,
      children: [new RowNodes([bound.pattern, ...bound.inner], plan.exists, undefined).of(plan.input)],
    },
  };
}
