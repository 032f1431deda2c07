// Runs statements that read: MATCH, and EXPLAIN and ANALYZE of a MATCH.

import {
  bestRows,
  bytesWithoutBlock,
  type ScanOverlay,
  type ScanRequest,
  type Snapshot,
  searchStatistics,
  type Table,
} from '../engine/index.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { expressionsOf, keptValuesOf } from './binder/parts.ts';
import { type Batches, QueryContext, type RowSource } from './executor/context.ts';
import type { MemoryPool } from './executor/memory.ts';
import { type ResultChunk, runMatch } from './executor/run-match.ts';
import { type AskedMembers, convertedChunk, shownMembers } from './executor/values/shown-members.ts';
import { bucketsOf, explainRow, strategyOfRun } from './explain.ts';
import type { MatchNode } from './parser/ast.ts';
import { checkConstants } from './planner/constant-work.ts';
import type { MatchPlan } from './planner/plan.ts';
import { planShape } from './planner/planner.ts';
import type { Estimator } from './planner/scans.ts';
import { checkSearches } from './planner/search-parameters.ts';
import type { MatchShape } from './planner/shape.ts';
import { checkTimes } from './planner/time-parameters.ts';
import { rowsResult, type StatementResult, typesOfAnswer, whenDone } from './result.ts';
import { type RowFormat, WrittenRead, writtenPath } from './written-read.ts';

/** The tables as one statement sees them. */
export interface ReadView {
  readonly lsn: number;
  /** Returns the table's snapshot, the same one on every call. */
  snapshotOf(table: Table): Snapshot;
  /** Returns a transaction's staged writes to the table, if any. */
  overlayOf(table: Table): ScanOverlay | undefined;
  release(): void;
}

export interface ReadOptions {
  /** Binds a MATCH. Throws if a name is unknown or a type does not fit. */
  readonly bind: (node: MatchNode, text: string) => MatchShape;
  readonly parameters: ParameterValues;
  readonly view: ReadView;
  /** How members of named tables are shown. */
  readonly members?: AskedMembers;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  readonly memory?: MemoryPool | undefined;
  /** See `QueryContext`. */
  readonly readLetters?: number | undefined;
}

/** Returns the plan of a MATCH with all estimates, for EXPLAIN and ANALYZE. */
function planOf(shape: MatchShape, text: string, { parameters, view }: ReadOptions): MatchPlan {
  checkTimes(expressionsOf(shape.match), parameters);
  checkConstants(shape.match.where, text, parameters);
  checkSearches(shape.match.where, [...shape.match.patterns, ...shape.match.inner], text, parameters);
  return planShape(shape, parameters, estimatorOf(view));
}

export function estimatorOf(view: ReadView): Estimator {
  const estimator: Estimator = ({ table }, { startTs, endTs, at, nodes, ranges, inRoles, search }) => {
    const bounds = {
      startTs,
      endTs,
      at,
      nodes: nodes.length === 0 ? undefined : nodes,
      where: ranges.length === 0 ? undefined : ranges,
      inRoles,
      search,
    };
    return table.estimate(bounds, view.snapshotOf(table), view.overlayOf(table));
  };
  estimator.lsn = view.lsn;
  return estimator;
}

export function runRead(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const startUs = options.nowUs();
  const shape = options.bind(node, text);
  return readOf(planToRun(shape, text, options), shape, text, options, startUs);
}

/**
 * Runs a MATCH like `runRead`. If the core can write the rows itself, returns a `WrittenRead`,
 * which yields them as text in `format`.
 */
export function runWritten(
  node: MatchNode,
  text: string,
  options: ReadOptions,
  format: RowFormat,
): StatementResult | WrittenRead {
  const { view, nowUs } = options;
  const startUs = nowUs();
  const shape = options.bind(node, text);
  const plan = planToRun(shape, text, options);
  const path = writtenPath(shape, plan);
  if (path === undefined) return readOf(plan, shape, text, options, startUs);
  return new WrittenRead(shape, path, format, plan, { view, nowUs, startUs, members: options.members });
}

function planToRun(shape: MatchShape, text: string, { parameters, view }: ReadOptions): MatchPlan {
  checkTimes(expressionsOf(shape.match), parameters);
  checkConstants(shape.match.where, text, parameters);
  checkSearches(shape.match.where, [...shape.match.patterns, ...shape.match.inner], text, parameters);
  return planShape(shape, parameters, estimatorOf(view), ({ table }) => view.snapshotOf(table).version.totalBuckets);
}

function readOf(
  plan: MatchPlan,
  shape: MatchShape,
  text: string,
  options: ReadOptions,
  startUs: number,
): StatementResult {
  const { view, nowUs } = options;
  const { patterns } = shape.match;
  const context = contextOf(plan, shape, text, options, false);
  let endUs = 0;
  const result: StatementResult = {
    columns: shape.columns,
    columnTypes: shape.columnTypes,
    forms: shape.forms,
    steps: shownSteps(runMatch(plan, context), shownMembers(shape.forms, options.members)),
    plan: () => {
      const { total } = bucketsOf(plan);
      const scanned = context.bucketsScanned;
      return {
        strategy: strategyOfRun(plan, context.lookedUp),
        buckets_scanned: scanned,
        total_buckets: total,
        speedup_factor: total / Math.max(1, scanned),
        elapsed_us: Math.round((endUs || nowUs()) - startUs),
      };
    },
    lsn: view.lsn,
    charge: (bytes) => context.charge(bytes),
    computes: shape.computes,
    table: patterns.length === 1 ? patterns[0]!.table.name : undefined,
    close() {},
  };
  return whenDone(result, () => {
    endUs = nowUs();
    context.end();
    view.release();
  });
}

/** Shows members of named tables in the form that was asked for. */
function shownSteps(steps: Batches<ResultChunk>, written: ReturnType<typeof shownMembers>): Batches<ResultChunk> {
  return written === undefined ? steps : convertedSteps(steps, written);
}

function* convertedSteps(
  steps: Batches<ResultChunk>,
  written: NonNullable<ReturnType<typeof shownMembers>>,
): Batches<ResultChunk> {
  for (const chunk of steps) yield chunk && convertedChunk(chunk, written);
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

/** Returns a result with one row, the plan, without reading any rows of tables. */
export function runExplain(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const plan = planOf(options.bind(node, text), text, options);
  const { lsn } = options.view;
  options.view.release();
  return rowsResult([explainRow(plan)], EXPLAIN_COLUMNS, lsn);
}

/**
 * Returns a result whose steps run the statement to its end and then yield one row: the row of
 * EXPLAIN with the measured figures of the operators.
 */
export function runAnalyze(node: MatchNode, text: string, options: ReadOptions): StatementResult {
  const shape = options.bind(node, text);
  const plan = planOf(shape, text, options);
  const context = contextOf(plan, shape, text, options, true);
  const columns = [...EXPLAIN_COLUMNS, 'actual_rows', 'elapsed_us'];
  const columnTypes = typesOfAnswer(columns);
  const result: StatementResult = {
    columns,
    columnTypes,
    forms: columnTypes.map((type) => ({ type })),
    steps: analyzed(plan, context, columns),
    plan: () => null,
    lsn: options.view.lsn,
    table: undefined,
    close() {},
  };
  return whenDone(result, () => {
    context.end();
    options.view.release();
  });
}

function* analyzed(plan: MatchPlan, context: QueryContext, columns: readonly string[]): Batches<ResultChunk> {
  for (const _ of runMatch(plan, context)) yield null;
  const row = explainRow(plan, context.figures, context.lookedUp);
  row.buckets_scanned = context.bucketsScanned;
  row.speedup_factor = (row.total_buckets as number) / Math.max(1, context.bucketsScanned);
  yield* rowsResult([row], columns, 0).steps;
}

function contextOf(
  { input }: MatchPlan,
  shape: MatchShape,
  text: string,
  options: ReadOptions,
  measured: boolean,
): QueryContext {
  const { match, memberships } = shape;
  const { view, nowUs, memory, readLetters, parameters } = options;
  const context = new QueryContext({
    source: sourceOf(view),
    patterns: match.inner.length === 0 ? match.patterns : [...match.patterns, ...match.inner],
    parameters,
    lsn: view.lsn,
    nowUs,
    measured,
    expressions: () => expressionsOf(match),
    memberships,
    items: match.items.map(({ expression }) => expression),
    keptValues: keptValuesOf(match),
    answered: input.op === 'scan' ? input.search?.expression : undefined,
    memory,
    readLetters,
  });
  context.chargeStatement(text);
  return context;
}

/** Returns the source through which the executor reads the rows of a view. */
export function sourceOf(view: ReadView): RowSource {
  return {
    scan: ({ table }, { startTs, endTs, at, nodes, anyOf, inRoles, where, texts, search, limit }, columns) => {
      const request: ScanRequest = {
        startTs,
        endTs,
        at,
        nodes,
        anyOf,
        inRoles,
        where,
        texts,
        search,
        limit,
        format: 'columns',
        columns,
      };
      return table.scan(request, view.snapshotOf(table), view.overlayOf(table));
    },
    scanApart: ({ table }, { startTs, endTs, at, where, texts, search }, columns) => {
      const request: ScanRequest = { startTs, endTs, at, where, texts, search, format: 'columns', columns };
      return table.scanApart(request, view.snapshotOf(table), view.overlayOf(table));
    },
    segmentScan: ({ table }, bounds) => table.segmentScan(bounds, view.snapshotOf(table), view.overlayOf(table)),
    loadEnds: ({ table }, startTs, endTs) => table.loadEnds({ startTs, endTs }, view.snapshotOf(table)),
    bestRows: ({ table }, request, statistics, k) => {
      const { version, lsn } = view.snapshotOf(table);
      return bestRows(table, { version, lsn, overlay: view.overlayOf(table) }, request, statistics, k);
    },
    textStatistics: ({ table }, search) => {
      const { version, lsn } = view.snapshotOf(table);
      return searchStatistics(table, { version, lsn, overlay: view.overlayOf(table) }, search);
    },
    bytesWithoutBlock: ({ table }) => bytesWithoutBlock(table, view.snapshotOf(table).version),
    count: ({ table }, startTs, endTs) =>
      table.count({ startTs, endTs }, view.snapshotOf(table), view.overlayOf(table)),
    timeBounds: ({ table }, startTs, endTs) =>
      table.timeBounds({ startTs, endTs }, view.snapshotOf(table), view.overlayOf(table)),
  };
}
