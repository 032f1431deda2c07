// Orders the patterns of a MATCH by estimated size, and chooses how each is joined to the patterns
// before it.
//
// The order is greedy and left-deep. It begins with the smallest pattern. Then it repeatedly adds
// the smallest pattern that a condition connects to those already joined; if none is connected, it
// adds the smallest one. Each condition is applied at the first join where all its patterns are
// available. One kind of condition finds the candidate pairs of a join, in this order of
// preference: shared members (MEMBER_JOIN), equality (HASH_JOIN), a band on the times
// (TEMPORAL_JOIN), none (NESTED_LOOP). All other conditions are checked on the candidates.
//
// Example: for `MATCH (a:T), (b:T) WHERE a.room = 'x' AND overlaps(a, b, 60) AND shared(a, b) >=
// 2`, pattern a is probably smaller and comes first. Then b is joined by shared members, and the
// member join also uses the band on the times.

import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { bandOf, impliedBand, type TimeBand } from './bands.ts';
import { fixedValue } from './fixed-values.ts';
import { FEW_ROWS, ROWS_A_LOOKUP } from './node-lookups.ts';
import { patternsOf } from './patterns-of.ts';
import type { Band, EqualLink, JoinPlan, MemberLink, ScanPlan } from './plan.ts';

/** Plans the joins. Each of the `conditions` reads at least two patterns. */
export function planJoins(
  scans: readonly ScanPlan[],
  conditions: readonly BoundExpression[],
  parameters: ParameterValues,
  patterns: readonly BoundPattern[],
): JoinPlan {
  const waiting = new Set(scans);
  let bound = smallest([...waiting]);
  waiting.delete(bound as ScanPlan);
  let input: ScanPlan | JoinPlan = bound;
  let bits = 1 << (bound as ScanPlan).pattern;
  let open = [...conditions];
  while (waiting.size > 0) {
    const next = nextScan([...waiting], bits, open);
    waiting.delete(next);
    const after = bits | (1 << next.pattern);
    const usable = open.filter((condition) => (patternsOf(condition) & ~after) === 0);
    open = open.filter((condition) => (patternsOf(condition) & ~after) !== 0);
    input = planJoin(input, next, bits, usable, parameters, patterns);
    bits = after;
    bound = next;
  }
  return input as JoinPlan;
}

function smallest(scans: readonly ScanPlan[]): ScanPlan {
  return scans.reduce((least, scan) => (scan.estimatedRows < least.estimatedRows ? scan : least));
}

/**
 * Returns the smallest pattern that a condition connects to those already joined. If none is
 * connected, returns the smallest pattern.
 */
export function nextScan(waiting: readonly ScanPlan[], bits: number, conditions: readonly BoundExpression[]): ScanPlan {
  const tied = waiting.filter((scan) => {
    const after = bits | (1 << scan.pattern);
    return conditions.some((condition) => {
      const read = patternsOf(condition);
      return (read & (1 << scan.pattern)) !== 0 && (read & ~after) === 0;
    });
  });
  return smallest(tied.length > 0 ? tied : waiting);
}

function planJoin(
  left: ScanPlan | JoinPlan,
  right: ScanPlan,
  bits: number,
  conditions: readonly BoundExpression[],
  parameters: ParameterValues,
  patterns: readonly BoundPattern[],
): JoinPlan {
  const filter: BoundExpression[] = [];
  const equal: EqualLink[] = [];
  let band: Band | undefined;
  let members: MemberLink | undefined;
  for (const condition of conditions) {
    const time = bandTo(right.pattern, bandOf(condition, parameters));
    if (time !== undefined && (band === undefined || band.left === time.left)) {
      band = joined(band, time);
      continue;
    }
    const link = memberLink(condition, right.pattern, parameters);
    if (link !== undefined && members === undefined) {
      members = { ...link.link, looksUp: looksUp(scanOf(left, link.link.left), right, patterns) };
      if (!link.exact) filter.push(condition);
      continue;
    }
    const pair = equalLink(condition, bits, right.pattern);
    if (pair === undefined) filter.push(condition);
    else equal.push(pair);
  }
  // A member join is faster with the time band that follows from equal buckets. A hash join on the
  // bucket applies this band anyway.
  if (members !== undefined)
    for (const condition of conditions) {
      const near = bandTo(right.pattern, impliedBand(condition));
      if (near !== undefined && (band === undefined || band.left === near.left)) band = joined(band, near);
    }
  const strategy = strategyOf(band, members, equal);
  // Some conditions, such as a NULL width or a member link below 1, do not connect the patterns but
  // still filter the pairs.
  const cartesian = strategy === 'NESTED_LOOP' && filter.length === 0;
  if (strategy !== 'NESTED_LOOP' || band !== undefined) needsOfJoin(left, right, band, members);
  return {
    op: 'join',
    strategy,
    left,
    right,
    band,
    members,
    equal,
    filter,
    estimatedRows: estimateJoin(left, right, strategy, filter.length > 0),
    cartesian,
  };
}

/**
 * Returns a band as bounds for the time of the pattern `right` minus the time of the other pattern.
 * Returns undefined if there is no band, or if it is between two other patterns.
 */
export function bandTo(right: number, band: TimeBand | undefined): Band | undefined {
  if (band?.later === right) return { left: band.earlier, low: band.low, high: band.high };
  return band?.earlier === right ? { left: band.later, low: -band.high, high: -band.low } : undefined;
}

export function joined(a: Band | undefined, b: Band): Band {
  if (a === undefined) return b;
  return { left: a.left, low: Math.max(a.low, b.low), high: Math.min(a.high, b.high) };
}

/**
 * Returns the link for `shared(a, b) >= k` and the like. `exact` is true if the join answers the
 * whole condition.
 */
export function memberLink(
  condition: BoundExpression,
  right: number,
  parameters: ParameterValues,
): { link: MemberLink; exact: boolean } | undefined {
  if (condition.kind !== 'compare') return undefined;
  const isTurned = condition.right.kind === 'shared';
  const shared = isTurned ? condition.right : condition.left;
  const other = isTurned ? condition.left : condition.right;
  if (shared.kind !== 'shared' || shared.left === shared.right || patternsOf(other) !== 0) return undefined;
  if (shared.left !== right && shared.right !== right) return undefined;
  const value = fixedValue(other, parameters);
  if (typeof value !== 'number') return undefined;
  const operator = isTurned ? TURNED[condition.operator] : condition.operator;
  const left = shared.left === right ? shared.right : shared.left;
  // Members that share a role are common members: the join finds the pairs, the condition stays.
  const isWhole = shared.leftMask === undefined && shared.rightMask === undefined;
  if (operator === '=' && Number.isInteger(value) && value >= 1) return { link: { left, least: value }, exact: false };
  const least = operator === '>=' ? Math.ceil(value) : operator === '>' ? Math.floor(value) + 1 : 0;
  return least >= 1 ? { link: { left, least }, exact: isWhole } : undefined;
}

/** A filter is expected to keep this share of the nodes. */
const KEPT_SHARE = 0.01;

/**
 * Returns whether the right side is expected to be looked up by the nodes on the left, or reverse.
 */
function looksUp(left: ScanPlan, right: ScanPlan, patterns: readonly BoundPattern[]): boolean {
  const { isOfNodes } = patterns[left.pattern]!.table;
  if (!isOfNodes && !patterns[right.pattern]!.table.isOfNodes) return false;
  if (right.paths.length !== 1 || right.paths[0]!.nodes.length > 0 || right.estimatedRows < FEW_ROWS) return false;
  const kept = left.estimatedRows * KEPT_SHARE ** Math.min(1, left.texts.length + left.filter.length);
  return kept * (isOfNodes ? 1 : MEMBERS_AN_EDGE) * ROWS_A_LOOKUP <= right.estimatedRows;
}

const MEMBERS_AN_EDGE = 3;

const TURNED = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/**
 * Returns the link for `expression over the left = expression over the right` if both are single
 * values.
 */
export function equalLink(condition: BoundExpression, bits: number, right: number): EqualLink | undefined {
  if (condition.kind !== 'compare' || condition.operator !== '=') return undefined;
  if (condition.left.type === 'list' || condition.right.type === 'list') return undefined;
  const a = patternsOf(condition.left);
  const b = patternsOf(condition.right);
  const own = 1 << right;
  if (b === own && a !== 0 && (a & ~bits) === 0) return { left: condition.left, right: condition.right };
  if (a === own && b !== 0 && (b & ~bits) === 0) return { left: condition.right, right: condition.left };
  return undefined;
}

function strategyOf(
  band: Band | undefined,
  members: MemberLink | undefined,
  equal: readonly EqualLink[],
): JoinPlan['strategy'] {
  if (members !== undefined) return 'MEMBER_JOIN';
  if (equal.length > 0) return 'HASH_JOIN';
  return band === undefined ? 'NESTED_LOOP' : 'TEMPORAL_JOIN';
}

/** Marks the columns that the join itself reads from both sides. */
function needsOfJoin(
  left: ScanPlan | JoinPlan,
  right: ScanPlan,
  band: Band | undefined,
  members: MemberLink | undefined,
): void {
  if (band !== undefined) {
    right.needs.times = true;
    scanOf(left, band.left).needs.times = true;
  }
  if (members !== undefined) {
    right.needs.members = true;
    scanOf(left, members.left).needs.members = true;
  }
}

/** Returns the scan of a pattern within a plan. */
export function scanOf(plan: ScanPlan | JoinPlan, pattern: number): ScanPlan {
  if (plan.op === 'scan') return plan;
  return plan.right.pattern === pattern ? plan.right : scanOf(plan.left, pattern);
}

/**
 * Returns a rough estimate: a join on a link yields up to 4 rows per row of the larger side, and a
 * filter keeps a third of the rows.
 */
function estimateJoin(
  left: ScanPlan | JoinPlan,
  right: ScanPlan,
  strategy: JoinPlan['strategy'],
  filtered: boolean,
): number {
  return estimatePairs(left.estimatedRows, right.estimatedRows, strategy, filtered);
}

/** Returns the same estimate for the numbers of rows of the two sides. */
export function estimatePairs(left: number, right: number, strategy: JoinPlan['strategy'], filtered: boolean): number {
  const pairs = left * right;
  const rows = strategy === 'NESTED_LOOP' ? pairs : Math.min(pairs, 4 * Math.max(left, right));
  return Math.ceil(filtered ? rows / 3 : rows);
}
