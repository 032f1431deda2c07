// Recognizes conditions that limit the time difference of two patterns (bands), and derives
// narrower time windows for each pattern from them.

import type { BoundComparison, BoundExpression } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import type { Bounds } from './access.ts';
import { fixedValue } from './fixed-values.ts';
import { patternsOf } from './patterns-of.ts';

/**
 * The condition `low <= later.event_ts - earlier.event_ts <= high`. The bounds are integers or
 * infinite.
 */
export interface TimeBand {
  readonly later: number;
  readonly earlier: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the band that is equivalent to a condition, or undefined if there is none. */
export function bandOf(condition: BoundExpression, parameters: ParameterValues): TimeBand | undefined {
  if (condition.kind === 'overlaps') {
    const width = widthOf(condition.width, parameters);
    if (width === undefined || condition.left === condition.right) return undefined;
    return { later: condition.left, earlier: condition.right, low: -width, high: width };
  }
  if (condition.kind === 'follows') {
    const width = widthOf(condition.width, parameters);
    if (width === undefined || condition.later === condition.earlier) return undefined;
    return { later: condition.later, earlier: condition.earlier, low: 1, high: width };
  }
  return condition.kind === 'compare' ? comparedTimes(condition, parameters) : undefined;
}

/**
 * Returns a band that follows from a condition without being equivalent to it: rows in the same
 * bucket are less than a bucket apart.
 */
export function impliedBand(condition: BoundExpression): TimeBand | undefined {
  if (condition.kind !== 'compare' || condition.operator !== '=') return undefined;
  const { left, right } = condition;
  if (left.kind !== 'bucket' || right.kind !== 'bucket' || left.pattern === right.pattern) return undefined;
  const most = left.bucketSeconds - 1;
  return { later: left.pattern, earlier: right.pattern, low: -most, high: most };
}

function widthOf(width: BoundExpression, parameters: ParameterValues): number | undefined {
  if (patternsOf(width) !== 0) return undefined;
  const value = fixedValue(width, parameters);
  return typeof value === 'number' ? Math.floor(value) : undefined;
}

/** A linear combination of patterns' times and a constant. */
interface Linear {
  /** Coefficient of each pattern's time. */
  readonly times: ReadonlyMap<number, number>;
  readonly constant: number;
}

/**
 * Returns the band for `a.event_ts - b.event_ts < 60`, `a.event_ts >= b.event_ts + 5` and the like.
 */
function comparedTimes(condition: BoundComparison, parameters: ParameterValues): TimeBand | undefined {
  if (condition.operator === '<>') return undefined;
  const left = linearOf(condition.left, parameters);
  const right = linearOf(condition.right, parameters);
  if (left === undefined || right === undefined) return undefined;
  const sum = plus(left, right, -1);
  const used = [...sum.times].filter(([, count]) => count !== 0);
  if (used.length !== 2) return undefined;
  const [first, second] = used as [[number, number], [number, number]];
  if (Math.abs(first[1]) !== 1 || first[1] + second[1] !== 0) return undefined;
  const later = first[1] === 1 ? first[0] : second[0];
  const earlier = first[1] === 1 ? second[0] : first[0];
  // The condition is now: later - earlier + constant (operator) 0.
  const at = -sum.constant;
  switch (condition.operator) {
    case '=':
      return { later, earlier, low: at, high: at };
    case '<':
      return { later, earlier, low: -Infinity, high: at - 1 };
    case '<=':
      return { later, earlier, low: -Infinity, high: at };
    case '>':
      return { later, earlier, low: at + 1, high: Infinity };
    default:
      return { later, earlier, low: at, high: Infinity };
  }
}

function linearOf(node: BoundExpression, parameters: ParameterValues): Linear | undefined {
  if (node.type !== 'integer') return undefined;
  if (node.kind === 'field')
    return node.field.kind === 'event_ts' ? { times: new Map([[node.pattern, 1]]), constant: 0 } : undefined;
  if (node.kind === 'arithmetic' && (node.operator === '+' || node.operator === '-')) {
    const left = linearOf(node.left, parameters);
    const right = linearOf(node.right, parameters);
    return left && right && plus(left, right, node.operator === '+' ? 1 : -1);
  }
  if (node.kind === 'time') return linearOf(node.operand, parameters);
  if (patternsOf(node) !== 0) return undefined;
  const value = fixedValue(node, parameters);
  return typeof value === 'number' ? { times: new Map(), constant: value } : undefined;
}

function plus(a: Linear, b: Linear, sign: 1 | -1): Linear {
  const times = new Map(a.times);
  for (const [pattern, count] of b.times) times.set(pattern, (times.get(pattern) ?? 0) + sign * count);
  return { times, constant: a.constant + sign * b.constant };
}

/**
 * Uses the bands to narrow the windows of the patterns, in place, until nothing changes, but in at
 * most as many rounds as there are patterns. If `b - a` is in [0, 60] and `a` is in [100, 200],
 * then `b` is in [100, 260].
 */
export function narrowWindows(windows: readonly (Bounds | undefined)[], bands: readonly TimeBand[]): void {
  for (let round = 0; round < windows.length; round++) {
    let changed = false;
    for (const { later, earlier, low, high } of bands) {
      const a = windows[later];
      const b = windows[earlier];
      if (a === undefined || b === undefined) continue;
      changed = narrow(a, startOf(b) + low, endOf(b) + high) || changed;
      changed = narrow(b, startOf(a) - high, endOf(a) - low) || changed;
    }
    if (!changed) return;
  }
}

/**
 * Returns the start of a window as a limit for other windows: -Infinity if the window has no start.
 */
function startOf({ startTs }: Bounds): number {
  return startTs > -Number.MAX_SAFE_INTEGER ? startTs : -Infinity;
}

function endOf({ endTs }: Bounds): number {
  return endTs < Number.MAX_SAFE_INTEGER ? endTs : Infinity;
}

function narrow(window: Bounds, start: number, end: number): boolean {
  const changed = start > window.startTs || end < window.endTs;
  if (start > window.startTs) window.startTs = start;
  if (end < window.endTs) window.endTs = end;
  return changed;
}
