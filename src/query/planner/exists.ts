// Plans EXISTS. Its conditions are divided by the patterns that they read:
//
// - no pattern of its own: a filter on the outer rows
// - one pattern of its own and no outer one: the access to this pattern, as in a MATCH
// - any other patterns: joins (semi-joins.ts)
//
// Patterns that no condition connects have nothing to do with each other, so each connected part is
// tested separately. A part that no condition connects to the outer rows is evaluated once.
//
// Example: in `MATCH (a:T) WHERE EXISTS ((b:T), (c:T) WHERE b.n = a.n AND c.k = 1 AND a.k > 5)`,
// the filter is a.k > 5, b is joined to a by n, and c is a part that is evaluated once.

import type { BoundExists, BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { type Access, accessOf, type Bounds } from './access.ts';
import { bandOf, impliedBand, narrowWindows } from './bands.ts';
import { planJoins } from './joins.ts';
import { addExists, addNeeds, hasExists, ownPatterns, patternsOf } from './patterns-of.ts';
import type { ColumnNeeds, ExistsFilterPlan, ExistsPart, ExistsPlan, ExistsPlans, JoinPlan, ScanPlan } from './plan.ts';
import { cheaper, type Estimator, planScan } from './scans.ts';
import { planSemiJoin } from './semi-joins.ts';

/** The conditions of an EXISTS by what they read. It does not depend on values. */
export interface ExistsShape {
  readonly exists: BoundExists;
  /** Conditions that read outer patterns only. They may contain an EXISTS. */
  readonly outer: readonly BoundExpression[];
  /** For each of its patterns, the conditions that read only this pattern, or none at all. */
  readonly own: readonly (readonly BoundExpression[])[];
  /** Other conditions without an EXISTS. */
  readonly joint: readonly BoundExpression[];
  /** Other conditions with an EXISTS. */
  readonly nested: readonly BoundExpression[];
}

export const NO_EXISTS: ExistsPlans = new Map();

/** Returns the shapes of every EXISTS in some conditions, each before those inside it. */
export function existsShapes(conditions: readonly BoundExpression[]): ExistsShape[] {
  const found: BoundExists[] = [];
  for (const condition of conditions) addExists(condition, found);
  return found.flatMap((exists) => [shapeOfExists(exists), ...existsShapes(exists.where)]);
}

function shapeOfExists(exists: BoundExists): ExistsShape {
  const { first, patterns, where } = exists;
  const bits = ownPatterns(exists);
  const outer: BoundExpression[] = [];
  const own: BoundExpression[][] = patterns.map(() => []);
  const joint: BoundExpression[] = [];
  const nested: BoundExpression[] = [];
  for (const condition of where) {
    const read = patternsOf(condition);
    const isTested = hasExists(condition);
    if ((read & bits) === 0 && (isTested || read !== 0)) outer.push(condition);
    else if (isTested) nested.push(condition);
    else if ((read & (read - 1)) === 0) own[read === 0 ? 0 : 31 - Math.clz32(read) - first]!.push(condition);
    else joint.push(condition);
  }
  return { exists, outer, own, joint, nested };
}

/** Adds the columns that the conditions read, except those on single patterns of an EXISTS. */
export function addNeedsOfExists(
  shapes: readonly ExistsShape[],
  needs: readonly ColumnNeeds[],
  patterns: readonly BoundPattern[],
): void {
  for (const { outer, joint, nested } of shapes)
    for (const condition of [...outer, ...joint, ...nested]) addNeeds(condition, needs, patterns);
}

/** What the plans of every EXISTS of a statement have in common. */
export interface ExistsPlanning {
  /** All patterns of the statement, by number. */
  readonly patterns: readonly BoundPattern[];
  /** The columns that are read, by pattern. The plans add theirs. */
  readonly needs: readonly ColumnNeeds[];
  readonly parameters: ParameterValues;
  readonly estimate: Estimator;
  /** See `planShape`. */
  readonly totalBuckets: ((pattern: BoundPattern) => number) | undefined;
}

/**
 * Plans every EXISTS. `windows` are the bounds of the outer patterns that have one access path;
 * `outerRows` is an estimate.
 */
export function planExists(
  shapes: readonly ExistsShape[],
  windows: readonly (Bounds | undefined)[],
  outerRows: number,
  planning: ExistsPlanning,
): ExistsPlans {
  if (shapes.length === 0) return NO_EXISTS;
  const plans = new Map<BoundExists, ExistsPlan>();
  const bounds = [...windows];
  let marker = planning.patterns.length;
  for (const shape of shapes) {
    const scans = planScans(shape, bounds, planning);
    const parts = partsOfExists(shape, scans).map((part): ExistsPart => planPart(part, outerRows, planning, marker++));
    // If a part that is evaluated once has no match, the others need not be evaluated.
    parts.sort((a, b) => (a.op === 'once' ? 0 : 1) - (b.op === 'once' ? 0 : 1));
    plans.set(shape.exists, { filter: shape.outer, parts, marker: marker++ });
  }
  return plans;
}

/** Plans the accesses to the patterns of an EXISTS, and adds their bounds to `bounds`. */
function planScans(shape: ExistsShape, bounds: (Bounds | undefined)[], planning: ExistsPlanning): ScanPlan[] {
  const { exists, own, joint } = shape;
  const { patterns, needs, parameters, estimate } = planning;
  const accesses = exists.patterns.map((pattern, place) =>
    cheaper(accessOf(pattern, own[place]!, parameters, estimate.lsn), pattern, estimate),
  );
  for (const [place, access] of accesses.entries()) bounds[exists.first + place] = onlyWay(access);
  // The bounds of the outer patterns must not become narrower: an EXISTS need not be true.
  const inside = bounds.map((window, number) => (number < exists.first && window ? { ...window } : window));
  const bands = joint.flatMap((condition) => bandOf(condition, parameters) ?? impliedBand(condition) ?? []);
  narrowWindows(inside, bands);
  // The order of joins depends on estimates.
  const total = exists.patterns.length === 1 ? planning.totalBuckets : undefined;
  return exists.patterns.map((pattern, place) => {
    const number = exists.first + place;
    for (const condition of accesses[place]!.filter) addNeeds(condition, needs, patterns);
    return planScan(pattern, number, accesses[place]!, needs[number]!, estimate, total);
  });
}

function onlyWay({ ways }: Access): Bounds | undefined {
  return ways.length === 1 ? ways[0] : undefined;
}

/** Connected patterns of an EXISTS, with their conditions. */
interface ConnectedPart {
  readonly scans: readonly ScanPlan[];
  readonly joint: readonly BoundExpression[];
  readonly nested: readonly BoundExpression[];
  /** The outer patterns that the conditions read, as bits. */
  readonly outerBits: number;
}

function partsOfExists({ exists, joint, nested }: ExistsShape, scans: readonly ScanPlan[]): ConnectedPart[] {
  const own = ownPatterns(exists);
  const conditions = [...joint, ...nested];
  const groups: number[] = [];
  for (const bits of [...scans.map(({ pattern }) => 1 << pattern), ...conditions.map((one) => patternsOf(one) & own)]) {
    let merged = bits;
    for (let i = groups.length - 1; i >= 0; i--) if ((groups[i]! & merged) !== 0) merged |= groups.splice(i, 1)[0]!;
    groups.push(merged);
  }
  return groups.map((group) => {
    const isOf = (condition: BoundExpression) => (patternsOf(condition) & group) !== 0;
    const read = conditions.filter(isOf).reduce((bits, condition) => bits | patternsOf(condition), 0);
    return {
      scans: scans.filter(({ pattern }) => (group & (1 << pattern)) !== 0),
      joint: joint.filter(isOf),
      nested: nested.filter(isOf),
      outerBits: read & ~own,
    };
  });
}

function planPart(part: ConnectedPart, outerRows: number, planning: ExistsPlanning, marker: number): ExistsPart {
  const { scans, joint, nested, outerBits } = part;
  const { parameters } = planning;
  if (outerBits !== 0) {
    const steps = planSemiJoin(scans, joint, { bits: outerBits, estimatedRows: outerRows }, parameters);
    return { op: 'semi', steps, filter: nested, marker };
  }
  const input = scans.length === 1 ? scans[0]! : planJoins(scans, joint, parameters, planning.patterns);
  return { op: 'once', input: withExists(input, nested) };
}

/** Returns the plan for the rows of `input` for which conditions with an EXISTS are true. */
export function withExists(
  input: ScanPlan | JoinPlan,
  conditions: readonly BoundExpression[],
): ScanPlan | JoinPlan | ExistsFilterPlan {
  if (conditions.length === 0) return input;
  // As for joins, a filter is estimated to keep a third of the rows.
  return { op: 'existsFilter', input, conditions, estimatedRows: Math.ceil(input.estimatedRows / 3) };
}
