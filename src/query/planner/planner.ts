// Plans a MATCH: the accesses to the indexes, the order of the joins, and what need not be read at
// all.

import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundMatch, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { type Access, accessOf } from './access.ts';
import { bandOf, impliedBand, narrowWindows } from './bands.ts';
import { planExists, withExists } from './exists.ts';
import { fixedValue } from './fixed-values.ts';
import { planJoins } from './joins.ts';
import { nodeCountsOf } from './node-counts.ts';
import { addNeeds, copyOfNeeds, noNeeds } from './patterns-of.ts';
import {
  type BestPlan,
  type ColumnNeeds,
  type InputPlan,
  type MatchPlan,
  type ShortcutPlan,
  type Strategy,
  strategyOfJoin,
} from './plan.ts';
import { cheaper, type Estimator, planScan } from './scans.ts';
import { type MatchShape, shapeOf } from './shape.ts';

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
    cheaper(accessOf(pattern, own[place]!, parameters, estimate.lsn), pattern, estimate),
  );
  const windows = accesses.map((access) => (access.ways.length === 1 ? access.ways[0] : undefined));
  if (joint.length > 0) {
    const bands = joint.flatMap((condition) => bandOf(condition, parameters) ?? impliedBand(condition) ?? []);
    narrowWindows(windows, bands);
  }
  const needs = needsOf(shape, accesses);
  // The order of joins depends on estimates.
  const total = patterns.length === 1 ? totalBuckets : undefined;
  const scans = patterns.map((pattern, place) =>
    planScan(pattern, place, accesses[place]!, needs[place]!, estimate, total),
  );
  const rows = scans.length === 1 ? scans[0]! : planJoins(scans, joint, parameters, patterns);
  const all = match.inner.length === 0 ? patterns : [...patterns, ...match.inner];
  const planning = { patterns: all, needs, parameters, estimate, totalBuckets };
  const exists = planExists(shape.exists, windows, rows.estimatedRows, planning);
  const input = withExists(rows, shape.tested);
  const skip = countOf(match.skip, parameters, 'SKIP') ?? 0;
  const limit = countOf(match.limit, parameters, 'LIMIT');
  const order = orderOf(match, input, limit);
  const strategy = strategyOf(input);
  const shortcut = shortcutOf(match, input);
  const best = bestOfSearch(match, input, skip, limit);
  const nodeCounts = nodeCountsOf(match, input);
  return { match, input, exists, shortcut, nodeCounts, order, best, skip, limit, strategy };
}

/**
 * Returns the shape's own needs if nothing will be added to them: there is one pattern, no EXISTS,
 * at most one way and no remaining filter. Otherwise returns a copy with the needs of the filters,
 * to which joins and several ways may add theirs.
 */
function needsOf({ match, exists, needs: besides }: MatchShape, accesses: readonly Access[]): readonly ColumnNeeds[] {
  if (exists.length === 0 && accesses.length === 1 && accesses[0]!.ways.length <= 1 && accesses[0]!.filter.length === 0)
    return besides;
  const needs = besides.map(copyOfNeeds);
  for (const { filter } of accesses) for (const condition of filter) addNeeds(condition, needs, match.patterns);
  return needs;
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
function orderOf(match: BoundMatch, rows: InputPlan, limit: number | undefined): MatchPlan['order'] {
  if (match.orderBy.length === 0) return 'none';
  // Conditions with EXISTS keep the order of the rows.
  const input = rows.op === 'existsFilter' ? rows.input : rows;
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
  return limit === undefined || rows !== input ? 'sort' : 'reversed';
}

/** Greatest number of best rows for which the text blocks are asked. */
const MOST_BEST = 1000;

/** Plans the best rows of a search, if the order is that of the scores and there is a limit. */
function bestOfSearch(
  match: BoundMatch,
  input: InputPlan,
  skip: number,
  limit: number | undefined,
): BestPlan | undefined {
  const [first] = match.orderBy;
  if (limit === undefined || first === undefined || !first.descending || first.expression.kind !== 'score')
    return undefined;
  if (match.grouping !== undefined || match.distinct || input.op !== 'scan' || input.paths.length !== 1)
    return undefined;
  const isOnly = input.search !== undefined && input.filter.length === 0;
  if (!isOnly || skip + limit === 0 || skip + limit > MOST_BEST) return undefined;
  return { k: skip + limit, needs: needsOfBest(match) };
}

function needsOfBest({ patterns, items, orderBy }: BoundMatch): ColumnNeeds {
  const needs = patterns.map(noNeeds);
  for (const { expression } of [...items, ...orderBy]) addNeeds(expression, needs, patterns, true);
  return needs[0]!;
}

/**
 * Returns the shortcut for COUNT(*) and the least and greatest time of a window, which can be read
 * from the directories.
 */
function shortcutOf(match: BoundMatch, input: InputPlan): ShortcutPlan | undefined {
  const { grouping } = match;
  if (grouping === undefined || grouping.keys.length > 0 || input.op !== 'scan') return undefined;
  if (input.filter.length > 0 || input.texts.length > 0 || input.search !== undefined) return undefined;
  if (input.paths.length !== 1) return undefined;
  const path = input.paths[0]!;
  if (path.nodes.length > 0 || path.ranges.length > 0 || path.at !== undefined) return undefined;
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

function strategyOf(input: InputPlan): Strategy {
  if (input.op === 'existsFilter') return strategyOf(input.input);
  if (input.op === 'join') return strategyOfJoin(input);
  if (input.paths.length === 0) return 'TPI_BUCKET_PUSHDOWN';
  return input.paths.reduce((driving, path) => (path.estimatedRows > driving.estimatedRows ? path : driving)).strategy;
}
