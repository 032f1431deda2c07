// Plans a MATCH: what each index is asked for, the order of the joins, and what need not be read at all.

import type { RangeCondition } from '../../engine/types.ts';
import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundMatch, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { constantValue } from '../executor/evaluate.ts';
import { type Access, accessOf, type Bounds } from './access.ts';
import { bandOf, narrowWindows } from './bands.ts';
import { planJoins } from './joins.ts';
import { addNeeds, noNeeds, patternsOf } from './patterns-of.ts';
import type { AccessPath, ColumnNeeds, JoinPlan, MatchPlan, ScanPlan, ShortcutPlan, Strategy } from './plan.ts';

/** What indexes and directories say about rows, without reading them. */
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
  const own = match.patterns.map((_, place) => match.where.filter((condition) => isOwn(condition, place)));
  const joint = match.where.filter((condition) => match.patterns.every((_, place) => !isOwn(condition, place)));
  const accesses = match.patterns.map((pattern, place) =>
    cheaper(accessOf(pattern, own[place]!, parameters), pattern, estimate),
  );
  const bands = joint.flatMap((condition) => bandOf(condition, parameters) ?? []);
  narrowWindows(
    accesses.map((access) => (access.ways.length === 1 ? access.ways[0] : undefined)),
    bands,
  );
  const needs = needsOf(match, accesses);
  const scans = match.patterns.map((pattern, place) =>
    planScan(pattern, place, accesses[place]!, needs[place]!, estimate),
  );
  const input = scans.length === 1 ? scans[0]! : planJoins(scans, joint, parameters);
  const skip = countOf(match.skip, parameters, 'SKIP') ?? 0;
  const limit = countOf(match.limit, parameters, 'LIMIT');
  const order = orderOf(match, input, limit);
  return { match, input, shortcut: shortcutOf(match, input), order, skip, limit, strategy: strategyOf(input) };
}

/** Several ways in, when an index answers each and together they touch less than the one way that they are parts of. */
function cheaper(access: Access, pattern: BoundPattern, estimate: Estimator): Access {
  const { instead } = access;
  if (instead === undefined) return access;
  const paths = access.ways.map((way) => planPath(pattern, way, estimate).path);
  const whole = planPath(pattern, instead.ways[0]!, estimate).path;
  const touched = paths.reduce((sum, path) => sum + path.bucketsScanned, 0);
  const isIndexed = paths.every((path) => path.strategy !== 'FULL_SCAN');
  return isIndexed && touched < whole.bucketsScanned ? access : instead;
}

/** Whether a condition reads this pattern and no other. One that reads none goes with the first. */
function isOwn(condition: BoundExpression, place: number): boolean {
  const bits = patternsOf(condition);
  return bits === 1 << place || (bits === 0 && place === 0);
}

function needsOf(match: BoundMatch, accesses: readonly Access[]): ColumnNeeds[] {
  const needs = match.patterns.map(noNeeds);
  const expressions = [
    ...accesses.flatMap((access) => access.filter),
    ...match.where.filter((condition) => match.patterns.every((_, place) => !isOwn(condition, place))),
    ...(match.grouping?.keys ?? []),
    ...(match.grouping?.aggregates ?? []).flatMap((aggregate) => aggregate.operand ?? []),
    ...match.items.map((item) => item.expression),
    ...match.orderBy.map((order) => order.expression),
  ];
  for (const expression of expressions) addNeeds(expression, needs, match.patterns);
  return needs;
}

export function planScan(
  pattern: BoundPattern,
  place: number,
  access: Access,
  needs: ColumnNeeds,
  estimate: Estimator,
): ScanPlan {
  const paths = access.ways.filter((way) => way.startTs <= way.endTs).map((way) => planPath(pattern, way, estimate));
  // Rows that several ways find are told apart by their keys.
  if (paths.length > 1) {
    needs.times = true;
    needs.ids = true;
  }
  const total = estimate(pattern, { startTs: undefined, endTs: undefined, nodes: [], ranges: [] });
  return {
    op: 'scan',
    pattern: place,
    paths: paths.map(({ path }) => path),
    filter: access.filter,
    needs,
    estimatedRows: Math.min(
      total.rows,
      paths.reduce((sum, { path }) => sum + path.estimatedRows, 0),
    ),
    totalBuckets: total.totalBuckets,
  };
}

function planPath(pattern: BoundPattern, way: Bounds, estimate: Estimator): { path: AccessPath } {
  const request = {
    startTs: way.startTs > -Number.MAX_SAFE_INTEGER ? way.startTs : undefined,
    endTs: way.endTs < Number.MAX_SAFE_INTEGER ? way.endTs : undefined,
    nodes: [...way.nodes],
    ranges: way.ranges,
  };
  const { rows, strategy, bucketsScanned } = estimate(pattern, request);
  return { path: { ...request, strategy, estimatedRows: rows, bucketsScanned } };
}

function countOf(node: BoundExpression | undefined, parameters: ParameterValues, clause: string): number | undefined {
  if (node === undefined) return undefined;
  const value = constantValue(node, parameters) as number;
  if (value >= 0) return value;
  const msg = 'must be an integer of 0 or more';
  throw new HedgerowError('invalid_statement', `${clause} takes an integer of 0 or more, not ${value}.`, {
    ...(node.kind === 'parameter' ? { errors: [{ loc: ['body', 'parameters', node.name], msg }] } : {}),
  });
}

/** Rows of one table come in the order (event_ts, id) by themselves. */
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

/** COUNT(*) and the least and greatest time of a window stand in the directories. */
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
  if (input.op === 'join') return input.strategy;
  if (input.paths.length === 0) return 'TPI_BUCKET_PUSHDOWN';
  return input.paths.reduce((driving, path) => (path.estimatedRows > driving.estimatedRows ? path : driving)).strategy;
}
