// Reads texts as times where a time is expected, for example in `e.event_ts >= "2024-05-02"`.
// Literals become constants here; the values of parameters are read when the statement runs.

import { isoDays, isoSeconds, timeProblem } from '../../iso-time.ts';
import { MAX_TIME_TEXTS } from '../limits.ts';
import type { Expression } from '../parser/ast.ts';
import { shownName } from '../shown.ts';
import type { BoundConstant, BoundExpression } from './bound.ts';
import type { Scope } from './scope.ts';

const DAY_SECONDS = 86_400;

/** `time`: seconds since 1970; `day`: days since 1970. */
export type TimeUnit = 'time' | 'day';

/**
 * Reads texts as times in a literal, in a parameter, or in a list of these. Returns any other
 * expression unchanged. Throws `invalid_statement` for a literal that is not a time.
 */
export function asTime(bound: BoundExpression, place: Expression, scope: Scope, unit: TimeUnit): BoundExpression {
  switch (bound.kind) {
    case 'constant': {
      if (Array.isArray(bound.value)) return timesOf(bound, place, scope, unit);
      if (typeof bound.value !== 'string') return bound;
      const value = unit === 'time' ? isoSeconds(bound.value) : isoDays(bound.value);
      if (value === undefined) throw scope.error(place, `${shownName(bound.value)} ${problemOf(bound.value, unit)}.`);
      return { kind: 'constant', value, type: 'integer', text: bound.text };
    }
    case 'parameter':
      if (bound.type === 'text') return { ...bound, type: 'integer', reads: unit };
      return bound.itemType === 'text' ? { ...bound, itemType: 'integer', reads: unit } : bound;
    case 'list': {
      if (bound.items.length > MAX_TIME_TEXTS && bound.items.some(({ type }) => type === 'text'))
        throw tooManyTimes(place, scope);
      const nodes = place.kind === 'list' ? place.items : [];
      const items = bound.items.map((item, index) => asTime(item, nodes[index] ?? place, scope, unit));
      // The same object is returned if no item was read as a time, so that the caller can tell.
      return items.every((item, index) => item === bound.items[index]) ? bound : { ...bound, items };
    }
    default:
      return bound;
  }
}

/** Reads the texts of a long list as times. */
function timesOf(bound: BoundConstant, place: Expression, scope: Scope, unit: TimeUnit): BoundConstant {
  if (bound.itemType !== 'text') return bound;
  const texts = bound.value as readonly string[];
  if (texts.length > MAX_TIME_TEXTS) throw tooManyTimes(place, scope);
  const value = texts.map((text, index) => {
    const offsets = place.kind === 'values' ? place.places : [];
    const start = offsets[2 * index] ?? place.start;
    const read = unit === 'time' ? isoSeconds(text) : isoDays(text);
    if (read === undefined)
      throw scope.error(
        { start, end: offsets[2 * index + 1] ?? place.end },
        `${shownName(text)} ${problemOf(text, unit)}.`,
      );
    return read;
  });
  return { ...bound, value, itemType: 'integer' };
}

function tooManyTimes(place: Expression, scope: Scope): Error {
  return scope.error(
    place,
    `a list holds at most ${MAX_TIME_TEXTS} texts that are times; write these as epoch seconds.`,
  );
}

/** Returns what is wrong with the text, as a phrase to be put after the text in a message. */
export function problemOf(text: string, unit: TimeUnit): string {
  return unit === 'day' && isoSeconds(text) !== undefined
    ? 'is a time, where a date such as 2024-05-02 is expected'
    : timeProblem(text);
}

export interface Sides {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/**
 * Returns both sides of a comparison in the same unit: texts compared with a time become seconds,
 * texts compared with a date become days.
 */
export function comparedSides(sides: Sides, places: { left: Expression; right: Expression }, scope: Scope): Sides {
  const left = withoutMark(sides.left);
  const right = withoutMark(sides.right);
  if (left.kind === 'date' && right.kind === 'date') return { left: left.operand, right: right.operand };
  if (left.kind === 'date') {
    const day = asTime(right, places.right, scope, 'day');
    return day === right ? { left, right } : { left: left.operand, right: day };
  }
  if (right.kind === 'date') {
    const day = asTime(left, places.left, scope, 'day');
    return day === left ? { left, right } : { left: day, right: right.operand };
  }
  if (sides.left.isTime === true) return { left, right: asTime(right, places.right, scope, 'time') };
  if (sides.right.isTime === true) return { left: asTime(left, places.left, scope, 'time'), right };
  return { left, right };
}

/**
 * Removes `datetime()`, which only marks a value as a time. The planner can then recognize the
 * column and use its index.
 */
function withoutMark(bound: BoundExpression): BoundExpression {
  return bound.kind === 'time' ? bound.operand : bound;
}

/** Does the same as `comparedSides` for `x IN list`. */
export function sidesOfIn(sides: Sides, places: { left: Expression; right: Expression }, scope: Scope): Sides {
  const left = withoutMark(sides.left);
  if (left.kind === 'date') {
    const days = asTime(sides.right, places.right, scope, 'day');
    return days === sides.right ? { left, right: days } : { left: left.operand, right: days };
  }
  return { left, right: sides.left.isTime === true ? asTime(sides.right, places.right, scope, 'time') : sides.right };
}

/**
 * Binds `date(x)`. If `x` is `event_ts`, the day is a bucket of one day, for which the planner can
 * use the time index.
 */
export function dateOf(operand: BoundExpression, text: string): BoundExpression {
  const time = withoutMark(operand);
  const day: BoundExpression =
    time.kind === 'field' && time.field.kind === 'event_ts'
      ? { kind: 'bucket', pattern: time.pattern, bucketSeconds: DAY_SECONDS, type: 'integer', text }
      : { kind: 'day', operand: time, type: 'integer', text };
  return { kind: 'date', operand: day, type: 'text', text };
}
