// Plans a MATCH: the accesses to the indexes, the order of the joins, and what need not be read at
// all.

import { type RangeCondition, strategyOf as scanStrategy } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundMatch, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { type Access, accessOf, type Bounds } from './access.ts';
import { bandOf, impliedBand, narrowWindows } from './bands.ts';
import { fixedValue } from './fixed-values.ts';
import { planJoins } from './joins.ts';
import { addNeeds, copyOfNeeds } from './patterns-of.ts';
import {
  type AccessPath,
  type ColumnNeeds,
  type JoinPlan,
  type MatchPlan,
  type ScanPlan,
  type ShortcutPlan,
  type Strategy,
  strategyOfJoin,
} from './plan.ts';
import { type MatchShape, shapeOf } from './shape.ts';

/** An estimate that indexes and segment directories give without reading rows. */
export interface Estimate {
  readonly rows: number;
  readonly strategy: Strategy;
  readonly bucketsScanned: number;
  readonly totalBuckets: number;
}

export interface EstimateRequest {
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
  readonly nodes: readonly number[];
  readonly ranges: readonly RangeCondition[];
}

export type Estimator = (pattern: BoundPattern, request: EstimateRequest) => Estimate;

export function planMatch(match: BoundMatch, parameters: ParameterValues, estimate: Estimator): MatchPlan {
  return planShape(shapeOf(match), parameters, estimate);
}

/**
 * Plans a MATCH from its shape. If the plan is run but not shown, the caller passes `totalBuckets`,
 * which returns the number of buckets of a pattern's table. Then only those estimates are made on
 * which the run depends.
 */
export function planShape(
  shape: MatchShape,
  parameters: ParameterValues,
  estimate: Estimator,
  totalBuckets?: (pattern: BoundPattern) => number,
): MatchPlan {
  const { match, own, joint } = shape;
  const { patterns } = match;
  const accesses = patterns.map((pattern, place) =>
    cheaper(accessOf(pattern, own[place]!, parameters), pattern, estimate),
  );
  if (joint.length > 0) {
    const bands = joint.flatMap((condition) => bandOf(condition, parameters) ?? impliedBand(condition) ?? []);
    narrowWindows(
      accesses.map((access) => (access.ways.length === 1 ? access.ways[0] : undefined)),
      bands,
    );
  }
  const needs = needsOf(shape, accesses);
  // The order of joins depends on estimates.
  const total = patterns.length === 1 ? totalBuckets : undefined;
  const scans = patterns.map((pattern, place) =>
    planScan(pattern, place, accesses[place]!, needs[place]!, estimate, total),
  );
  const input = scans.length === 1 ? scans[0]! : planJoins(scans, joint, parameters, patterns);
  const skip = countOf(match.skip, parameters, 'SKIP') ?? 0;
  const limit = countOf(match.limit, parameters, 'LIMIT');
  const order = orderOf(match, input, limit);
  return { match, input, shortcut: shortcutOf(match, input), order, skip, limit, strategy: strategyOf(input) };
}

/**
 * Returns the shape's own needs if nothing will be added to them: there is one pattern, at most one
 * way and no remaining filter. Otherwise returns a copy with the needs of the filters, to which
 * joins and several ways may add theirs.
 */
function needsOf({ match, needs: besides }: MatchShape, accesses: readonly Access[]): readonly ColumnNeeds[] {
  if (accesses.length === 1 && accesses[0]!.ways.length <= 1 && accesses[0]!.filter.length === 0) return besides;
  const needs = besides.map(copyOfNeeds);
  for (const { filter } of accesses) for (const condition of filter) addNeeds(condition, needs, match.patterns);
  return needs;
}

/**
 * Keeps several ways only if an index answers each of them, and if together they read fewer buckets
 * than the single way that covers them.
 */
function cheaper(access: Access, pattern: BoundPattern, estimate: Estimator): Access {
  const { instead } = access;
  if (instead === undefined) return access;
  const paths = access.ways.map((way) => planPath(pattern, way, estimate));
  const whole = planPath(pattern, instead.ways[0]!, estimate);
  const touched = paths.reduce((sum, path) => sum + path.bucketsScanned, 0);
  const isIndexed = paths.every(({ strategy, ranges }) => strategy !== 'FULL_SCAN' || ranges.some(isOfIds));
  return isIndexed && touched < whole.bucketsScanned ? access : instead;
}

/** Segments without such ids are left out. */
function isOfIds({ column }: RangeCondition): boolean {
  return column === 'id';
}

/** Plans the scan of one pattern. `totalBuckets` is the same as for `planShape`. */
export function planScan(
  pattern: BoundPattern,
  place: number,
  access: Access,
  needs: ColumnNeeds,
  estimate: Estimator,
  totalBuckets?: (pattern: BoundPattern) => number,
): ScanPlan {
  const ways = access.ways.filter((way) => way.startTs <= way.endTs);
  const { filter } = access;
  if (totalBuckets !== undefined && ways.length <= 1) {
    const paths = ways.map((way) => planOnlyPath(pattern, way, estimate));
    const total = totalBuckets(pattern);
    return { op: 'scan', pattern: place, paths, filter, needs, estimatedRows: Number.NaN, totalBuckets: total };
  }
  const paths = ways.map((way) => planPath(pattern, way, estimate));
  // Rows that several ways find are recognized by their keys, so the keys are read.
  if (paths.length > 1) {
    needs.times = true;
    needs.ids = true;
  }
  const total = estimate(pattern, EVERYTHING);
  const sum = paths.reduce((rows, path) => rows + path.estimatedRows, 0);
  const estimatedRows = Math.min(total.rows, sum);
  return { op: 'scan', pattern: place, paths, filter, needs, estimatedRows, totalBuckets: total.totalBuckets };
}

const EVERYTHING: EstimateRequest = { startTs: undefined, endTs: undefined, nodes: [], ranges: [] };

function planPath(pattern: BoundPattern, way: Bounds, estimate: Estimator): AccessPath {
  const { startTs, endTs, nodes, ranges } = requestOf(way);
  const { rows, strategy, bucketsScanned } = estimate(pattern, { startTs, endTs, nodes, ranges });
  const named = isOneNode(pattern, way) ? 'NODE_LOOKUP' : strategy;
  return { startTs, endTs, nodes, ranges, strategy: named, estimatedRows: rows, bucketsScanned };
}

/**
 * Plans an access that has only one way. It needs no estimates, because there is nothing to choose
 * and the strategy is known. The exception is a range on a column without given nodes: the range
 * may drive the scan.
 */
function planOnlyPath(pattern: BoundPattern, way: Bounds, estimate: Estimator): AccessPath {
  if (way.ranges.length > 0 && way.nodes.size === 0) return planPath(pattern, way, estimate);
  const { startTs, endTs, nodes, ranges } = requestOf(way);
  const strategy = isOneNode(pattern, way) ? 'NODE_LOOKUP' : scanStrategy({ startTs, endTs }, nodes.length, false);
  return { startTs, endTs, nodes, ranges, strategy, estimatedRows: Number.NaN, bucketsScanned: Number.NaN };
}

/** Returns whether a way finds one node, by its key. */
function isOneNode({ table }: BoundPattern, { startTs, endTs }: Bounds): boolean {
  return table.isOfNodes && startTs === endTs;
}

function requestOf(way: Bounds): EstimateRequest {
  return {
    startTs: way.startTs > -Number.MAX_SAFE_INTEGER ? way.startTs : undefined,
    endTs: way.endTs < Number.MAX_SAFE_INTEGER ? way.endTs : undefined,
    nodes: [...way.nodes],
    ranges: way.ranges,
  };
}

function countOf(node: BoundExpression | undefined, parameters: ParameterValues, clause: string): number | undefined {
  if (node === undefined) return undefined;
  const value = fixedValue(node, parameters) as number;
  if (value >= 0) return value;
  const msg = 'must be an integer of 0 or more';
  throw new HedgerowError('invalid_statement', `${clause} takes an integer of 0 or more, not ${value}.`, {
    ...(node.kind === 'parameter' ? { errors: [{ loc: ['body', 'parameters', node.name], msg }] } : {}),
  });
}

/**
 * Returns how the requested order is produced. A scan with a single path yields rows in (event_ts,
 * id) order without sorting.
 */
function orderOf(match: BoundMatch, input: ScanPlan | JoinPlan, limit: number | undefined): MatchPlan['order'] {
  if (match.orderBy.length === 0) return 'none';
  if (input.op !== 'scan' || input.paths.length > 1 || match.grouping !== undefined || match.distinct) return 'sort';
  const [first, second, third] = match.orderBy;
  const isTime = first!.expression.kind === 'field' && first!.expression.field.kind === 'event_ts';
  const isThenId =
    second === undefined ||
    (second.expression.kind === 'field' &&
      second.expression.field.kind === 'id' &&
      second.descending === first!.descending &&
      third === undefined);
  if (!isTime || !isThenId) return 'sort';
  if (!first!.descending) return 'index';
  return limit === undefined ? 'sort' : 'reversed';
}

/**
 * Returns the shortcut for COUNT(*) and the least and greatest time of a window, which can be read
 * from the directories.
 */
function shortcutOf(match: BoundMatch, input: ScanPlan | JoinPlan): ShortcutPlan | undefined {
  const { grouping } = match;
  if (grouping === undefined || grouping.keys.length > 0 || input.op !== 'scan') return undefined;
  if (input.filter.length > 0 || input.paths.length !== 1) return undefined;
  const path = input.paths[0]!;
  if (path.nodes.length > 0 || path.ranges.length > 0) return undefined;
  const values: ShortcutPlan['values'][number][] = [];
  for (const { function: name, operand, distinct } of grouping.aggregates) {
    const isTime = operand?.kind === 'field' && operand.field.kind === 'event_ts';
    if (
      name === 'COUNT' &&
      !distinct &&
      (operand === undefined || isTime || (operand.kind === 'field' && operand.field.kind === 'id'))
    )
      values.push('count');
    else if (isTime && name === 'MIN') values.push('least');
    else if (isTime && name === 'MAX') values.push('greatest');
    else return undefined;
  }
  return { op: values.every((value) => value === 'count') ? 'count' : 'bounds', scan: input, values };
}

function strategyOf(input: ScanPlan | JoinPlan): Strategy {
  if (input.op === 'join') return strategyOfJoin(input);
  if (input.paths.length === 0) return 'TPI_BUCKET_PUSHDOWN';
  return input.paths.reduce((driving, path) => (path.estimatedRows > driving.estimatedRows ? path : driving)).strategy;
}
