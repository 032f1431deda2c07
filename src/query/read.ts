// Runs statements that read: MATCH, EXPLAIN and ANALYZE of one.

import type { Snapshot, Table } from '../engine/index.ts';
import type { ScanOverlay } from '../engine/scan-view.ts';
import type { BoundMatch, BoundPattern } from './binder/bound.ts';
import { bindMatch, type Catalog } from './binder/match.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { QueryContext, type RowSource, type Steps } from './executor/context.ts';
import { type ResultChunk, runMatch } from './executor/run-match.ts';
import { bucketsOf, explainRow } from './explain.ts';
import type { MatchNode } from './parser/ast.ts';
import type { MatchPlan } from './planner/plan.ts';
import { type EstimateRequest, planMatch } from './planner/planner.ts';
import { rowsResult, type StatementResult } from './result.ts';

/** Tables as one statement sees them. */
export interface ReadView {
  readonly lsn: number;
  /** The table's snapshot; the same one every time. */
  snapshotOf(table: Table): Snapshot;
  /** What a transaction lays over the table. */
  overlayOf(table: Table): ScanOverlay | undefined;
  release(): void;
}

export interface ReadOptions {
  readonly catalog: Catalog;
  readonly parameters: ParameterValues;
  readonly view: ReadView;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  readonly memoryBytes?: number | undefined;
}

export function planOf(node: MatchNode, text: string, options: ReadOptions): { match: BoundMatch; plan: MatchPlan } {
  const match = bindMatch(node, text, options.catalog, options.parameters);
  const plan = planMatch(match, options.parameters, (pattern, request) => estimate(pattern, request, options.view));
  return { match, plan };
}

function estimate({ table }: BoundPattern, { startTs, endTs, nodes, ranges }: EstimateRequest, view: ReadView) {
  const bounds = {
    startTs,
    endTs,
    nodes: nodes.length === 0 ? undefined : nodes,
    where: ranges.length === 0 ? undefined : ranges,
  };
  return table.estimate(bounds, view.snapshotOf(table), view.overlayOf(table));
}

export function runRead(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const startUs = options.nowUs();
  const { match, plan } = planOf(node, text, options);
  const context = contextOf(match, options, false);
  let endUs = 0;
  return {
    columns: match.items.map((item) => item.name),
    steps: finished(runMatch(plan, context), () => {
      endUs = options.nowUs();
      options.view.release();
    }),
    plan: () => {
      const { total } = bucketsOf(plan.input);
      const scanned = context.bucketsScanned;
      return {
        strategy: plan.strategy,
        buckets_scanned: scanned,
        total_buckets: total,
        speedup_factor: total / Math.max(1, scanned),
        elapsed_us: Math.round((endUs || options.nowUs()) - startUs),
      };
    },
    lsn: options.view.lsn,
    table: match.patterns.length === 1 ? match.patterns[0]!.table.name : undefined,
    close: () => options.view.release(),
  };
}

const EXPLAIN_COLUMNS = [
  'strategy',
  'index_type',
  'buckets_scanned',
  'total_buckets',
  'speedup_factor',
  'estimated_rows',
  'plan',
];

/** One row; nothing is read. */
export function runExplain(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const { plan } = planOf(node, text, options);
  const { lsn } = options.view;
  options.view.release();
  return rowsResult([explainRow(plan)], EXPLAIN_COLUMNS, lsn);
}

/** Runs the statement to its end and answers the row of EXPLAIN with what its operators did. */
export function runAnalyze(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const { match, plan } = planOf(node, text, options);
  const context = contextOf(match, options, true);
  const columns = [...EXPLAIN_COLUMNS, 'actual_rows', 'elapsed_us'];
  return {
    columns,
    steps: finished(analyzed(plan, context, columns), () => options.view.release()),
    plan: () => null,
    lsn: options.view.lsn,
    table: undefined,
    close: () => options.view.release(),
  };
}

function* analyzed(plan: MatchPlan, context: QueryContext, columns: readonly string[]): Steps<ResultChunk> {
  for (const _ of runMatch(plan, context)) yield null;
  const row = explainRow(plan, context.figures);
  row.buckets_scanned = context.bucketsScanned;
  row.speedup_factor = (row.total_buckets as number) / Math.max(1, context.bucketsScanned);
  yield* rowsResult([row], columns, 0).steps;
}

function contextOf(match: BoundMatch, options: ReadOptions, measured: boolean): QueryContext {
  const { view, nowUs, memoryBytes, parameters } = options;
  return new QueryContext({
    source: sourceOf(view),
    patterns: match.patterns,
    parameters,
    nowUs,
    measured,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  });
}

/** Rows of tables through a view. */
export function sourceOf(view: ReadView): RowSource {
  return {
    scan: ({ table }, bounds, columns) =>
      table.scan({ ...bounds, format: 'columns', columns }, view.snapshotOf(table), view.overlayOf(table)),
    count: ({ table }, startTs, endTs) =>
      table.count({ startTs, endTs }, view.snapshotOf(table), view.overlayOf(table)),
    timeBounds: ({ table }, startTs, endTs) =>
      table.timeBounds({ startTs, endTs }, view.snapshotOf(table), view.overlayOf(table)),
  };
}

/** Calls `end` once, however the steps end. */
function* finished<T>(steps: Steps<T>, end: () => void): Steps<T> {
  try {
    yield* steps;
  } finally {
    end();
  }
}
