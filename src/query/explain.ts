// Converts a plan to the row of EXPLAIN or, with measured figures, to the row of ANALYZE.

import type { BoundPattern, Value } from './binder/bound.ts';
import type { OperatorFigures } from './executor/context.ts';
import {
  type AccessPath,
  indexTypeOf,
  type JoinPlan,
  type MatchPlan,
  type ScanPlan,
  strategyOfJoin,
} from './planner/plan.ts';

/** One operator of a plan, readable by people and programs. */
export interface PlanNode {
  readonly operator: string;
  readonly [detail: string]: Value | readonly PlanNode[] | undefined;
}

/**
 * Returns the row of EXPLAIN. With `figures`, the row also contains what each operator really did.
 */
export function explainRow(
  plan: MatchPlan,
  figures?: ReadonlyMap<object, OperatorFigures>,
  lookedUp?: ReadonlySet<object>,
): Record<string, unknown> {
  const strategy = plan.input.op === 'join' ? strategyOfJoin(plan.input, lookedUp) : plan.strategy;
  const { scanned: read, total } = bucketsOf(plan.input);
  // A shortcut answers from the segment directories and reads no bucket.
  const scanned = plan.shortcut === undefined ? read : 0;
  const row: Record<string, unknown> = {
    strategy,
    index_type: indexTypeOf(strategy),
    buckets_scanned: scanned,
    total_buckets: total,
    speedup_factor: total / Math.max(1, scanned),
    estimated_rows: estimatedRows(plan),
    plan: outputNode(plan, figures, lookedUp),
  };
  const own = figures?.get(plan);
  if (figures !== undefined) {
    row.actual_rows = own?.rows ?? 0;
    row.elapsed_us = Math.round(own?.elapsedUs ?? 0);
  }
  return row;
}

function estimatedRows(plan: MatchPlan): number {
  const { grouping } = plan.match;
  const rows = grouping !== undefined && grouping.keys.length === 0 ? 1 : plan.input.estimatedRows;
  const left = Math.max(0, rows - plan.skip);
  return plan.limit === undefined ? left : Math.min(plan.limit, left);
}

/**
 * Returns the estimated number of buckets that the scans read and the number of buckets that exist,
 * over all patterns.
 */
export function bucketsOf(plan: ScanPlan | JoinPlan): { scanned: number; total: number } {
  if (plan.op === 'scan') {
    const scanned = plan.paths.reduce((sum, path) => sum + path.bucketsScanned, 0);
    return { scanned: Math.min(scanned, plan.totalBuckets), total: plan.totalBuckets };
  }
  const left = bucketsOf(plan.left);
  const right = bucketsOf(plan.right);
  return { scanned: left.scanned + right.scanned, total: left.total + right.total };
}

type Figures = ReadonlyMap<object, OperatorFigures> | undefined;

function actual(node: object, figures: Figures): Record<string, number> {
  if (figures === undefined) return {};
  const own = figures.get(node);
  return { actual_rows: own?.rows ?? 0, elapsed_us: Math.round(own?.elapsedUs ?? 0) };
}

/**
 * Returns the outermost operator. The other operators, down to the scans, are nested in its
 * `children`.
 */
function outputNode(plan: MatchPlan, figures: Figures, lookedUp: ReadonlySet<object> | undefined): PlanNode {
  const { match, shortcut } = plan;
  const steps: PlanNode[] = [];
  if (plan.skip > 0 || plan.limit !== undefined)
    steps.push({ operator: 'Window', skip: plan.skip, limit: plan.limit ?? null });
  if (match.orderBy.length > 0) {
    const by = match.orderBy.map(({ expression, descending }) => `${expression.text}${descending ? ' DESC' : ''}`);
    const order = { index: 'index', reversed: 'index, newest first', sort: 'sort', none: 'none' }[plan.order];
    steps.push({ operator: plan.order === 'sort' ? 'Sort' : 'IndexOrder', by, order });
  }
  if (match.distinct) steps.push({ operator: 'Distinct' });
  steps.push({ operator: 'Return', columns: match.items.map((item) => item.name) });
  if (match.grouping !== undefined) {
    const { keys, aggregates } = match.grouping;
    const operator =
      shortcut === undefined ? 'Group' : shortcut.op === 'count' ? 'CountFromDirectory' : 'BoundsFromDirectory';
    steps.push({ operator, keys: keys.map((key) => key.text), aggregates: aggregates.map(({ text }) => text) });
  }
  let node = inputNode(plan.input, plan, figures, lookedUp);
  for (const step of steps.reverse()) node = { ...step, children: [node] };
  return { ...node, ...actual(plan, figures) };
}

function inputNode(
  input: ScanPlan | JoinPlan,
  plan: MatchPlan,
  figures: Figures,
  lookedUp: ReadonlySet<object> | undefined,
): PlanNode {
  if (input.op === 'scan') return scanNode(input, plan.match.patterns[input.pattern]!, figures);
  const { band, members, equal, filter } = input;
  return {
    operator: strategyOfJoin(input, lookedUp),
    estimated_rows: input.estimatedRows,
    ...actual(input, figures),
    ...(band === undefined ? {} : { band: [finite(band.low), finite(band.high)] }),
    ...(members === undefined ? {} : { shared_members: members.least }),
    ...(equal.length === 0 ? {} : { equal: equal.map((link) => `${link.left.text} = ${link.right.text}`) }),
    ...(filter.length === 0 ? {} : { filter: filter.map((condition) => condition.text) }),
    children: [
      inputNode(input.left, plan, figures, lookedUp),
      scanNode(input.right, plan.match.patterns[input.right.pattern]!, figures),
    ],
  };
}

/** Returns the plan node of one pattern's scan. */
export function scanNode(scan: ScanPlan, pattern: BoundPattern, figures: Figures): PlanNode {
  const own = {
    alias: pattern.alias,
    table: pattern.table.name,
    estimated_rows: scan.estimatedRows,
    ...actual(scan, figures),
    ...(scan.filter.length === 0 ? {} : { filter: scan.filter.map((condition) => condition.text) }),
  };
  const paths = scan.paths.map((path) => pathNode(path, pattern));
  if (paths.length === 0) return { operator: 'NoRows', ...own };
  if (paths.length === 1) return { ...paths[0]!, ...own };
  return { operator: 'Union', ...own, children: paths };
}

function pathNode(path: AccessPath, { table }: BoundPattern): PlanNode {
  const { startTs, endTs, nodes, ranges } = path;
  return {
    operator: path.strategy,
    estimated_rows: path.estimatedRows,
    buckets_scanned: path.bucketsScanned,
    ...(table.isOfNodes || startTs === undefined ? {} : { start_ts: startTs }),
    ...(table.isOfNodes || endTs === undefined ? {} : { end_ts: endTs }),
    ...(nodes.length === 0 ? {} : { nodes: [...nodes] }),
    ...(ranges.length === 0 ? {} : { ranges: ranges.map(rangeText) }),
  };
}

function rangeText({ column, low, high, lowInclusive, highInclusive }: AccessPath['ranges'][number]): string {
  const parts: string[] = [];
  if (low !== undefined) parts.push(`${column} ${lowInclusive === false ? '>' : '>='} ${low}`);
  if (high !== undefined) parts.push(`${column} ${highInclusive === false ? '<' : '<='} ${high}`);
  return parts.join(' AND ');
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
