// Plans how the patterns of an EXISTS are joined to the outer rows: in which order, and by which
// kind of condition candidates are found. The order is chosen as for a MATCH (joins.ts), except
// that it begins with the outer rows. `node IN members` finds candidates too, as a MEMBER_JOIN.

import type { BoundExpression } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { bandOf, impliedBand } from './bands.ts';
import { bandTo, equalLink, estimatePairs, joined, memberLink, nextScan } from './joins.ts';
import { patternsOf } from './patterns-of.ts';
import type { Band, EqualLink, MemberLink, NodeLink, ScanPlan, SemiStep } from './plan.ts';

/** The rows for which an EXISTS is tested. */
export interface OuterRows {
  /** Their patterns, as bits. */
  readonly bits: number;
  readonly estimatedRows: number;
}

/**
 * Plans one step for each scan. Each of the `conditions` reads a pattern of the scans and at least
 * one more pattern.
 */
export function planSemiJoin(
  scans: readonly ScanPlan[],
  conditions: readonly BoundExpression[],
  outer: OuterRows,
  parameters: ParameterValues,
): SemiStep[] {
  const steps: SemiStep[] = [];
  const waiting = new Set(scans);
  let { bits, estimatedRows } = outer;
  let open = [...conditions];
  while (waiting.size > 0) {
    const next = nextScan([...waiting], bits, open);
    waiting.delete(next);
    const after = bits | (1 << next.pattern);
    const usable = open.filter((condition) => (patternsOf(condition) & ~after) === 0);
    open = open.filter((condition) => (patternsOf(condition) & ~after) !== 0);
    const step = planStep(next, bits, estimatedRows, usable, parameters);
    steps.push(step);
    bits = after;
    estimatedRows = step.estimatedRows;
  }
  return steps;
}

/** The conditions that can find candidates, and those that cannot. */
interface Links {
  band: Band | undefined;
  members: MemberLink | undefined;
  node: NodeLink | undefined;
  /** The condition of `node`. */
  nodeCondition: BoundExpression | undefined;
  readonly equal: EqualLink[];
  readonly equalConditions: BoundExpression[];
  readonly filter: BoundExpression[];
}

function planStep(
  right: ScanPlan,
  bits: number,
  leftRows: number,
  conditions: readonly BoundExpression[],
  parameters: ParameterValues,
): SemiStep {
  const links = linksOf(right.pattern, bits, conditions, parameters);
  const { members, filter } = links;
  const strategy = strategyOf(links);
  if (members !== undefined && links.nodeCondition !== undefined) filter.push(links.nodeCondition);
  if (strategy !== 'HASH_JOIN') filter.push(...links.equalConditions);
  const band = strategy === 'MEMBER_JOIN' ? nearBand(links.band, right.pattern, conditions) : links.band;
  if (band !== undefined) right.needs.times = true;
  if (members !== undefined) right.needs.members = true;
  return {
    strategy,
    right,
    band,
    members,
    node: members === undefined ? links.node : undefined,
    equal: strategy === 'HASH_JOIN' ? links.equal : [],
    filter,
    estimatedRows: estimatePairs(leftRows, right.estimatedRows, strategy, filter.length > 0),
  };
}

function linksOf(
  right: number,
  bits: number,
  conditions: readonly BoundExpression[],
  parameters: ParameterValues,
): Links {
  const links: Links = {
    band: undefined,
    members: undefined,
    node: undefined,
    nodeCondition: undefined,
    equal: [],
    equalConditions: [],
    filter: [],
  };
  for (const condition of conditions) {
    const time = bandTo(right, bandOf(condition, parameters));
    if (time !== undefined && (links.band === undefined || links.band.left === time.left)) {
      links.band = joined(links.band, time);
      continue;
    }
    const member = memberLink(condition, right, parameters);
    const node = nodeLink(condition, right);
    const pair = equalLink(condition, bits, right);
    if (member !== undefined && links.members === undefined) {
      links.members = member.link;
      if (!member.exact) links.filter.push(condition);
    } else if (node !== undefined && links.node === undefined) {
      links.node = node;
      links.nodeCondition = condition;
    } else if (pair !== undefined) {
      links.equal.push(pair);
      links.equalConditions.push(condition);
    } else links.filter.push(condition);
  }
  return links;
}

function strategyOf({ members, node, equal, band }: Links): SemiStep['strategy'] {
  if (members !== undefined || node !== undefined) return 'MEMBER_JOIN';
  if (equal.length > 0) return 'HASH_JOIN';
  return band === undefined ? 'NESTED_LOOP' : 'TEMPORAL_JOIN';
}

/** Adds the bands that follow from equal buckets, which the member join can use. */
function nearBand(band: Band | undefined, right: number, conditions: readonly BoundExpression[]): Band | undefined {
  let near = band;
  for (const condition of conditions) {
    const implied = bandTo(right, impliedBand(condition));
    if (implied !== undefined && (near === undefined || near.left === implied.left)) near = joined(near, implied);
  }
  return near;
}

/** Returns the link for `value IN alias.members` if the value and the members are on two sides. */
function nodeLink(condition: BoundExpression, right: number): NodeLink | undefined {
  if (condition.kind !== 'hasNode') return undefined;
  const { node, pattern, text } = condition;
  const read = patternsOf(node);
  const own = 1 << right;
  if (pattern === right) return read !== 0 && (read & own) === 0 ? { value: 'left', node, text } : undefined;
  return read === own ? { value: 'right', node, members: pattern, text } : undefined;
}
