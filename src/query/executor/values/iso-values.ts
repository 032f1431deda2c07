// Converts times in result values to ISO 8601, depending on the type of the column: times, edges,
// and lists of these.

import { isoTime } from '../../../iso-time.ts';
import type { Value } from '../../binder/bound.ts';
import type { ResultForm } from '../../binder/column-types.ts';

/** Converts a value for output. */
export type Written = (value: Value) => Value;

/** Returns one converter per column, or undefined for a column whose values do not change. */
export function isoValues(forms: readonly ResultForm[]): readonly (Written | undefined)[] {
  return forms.map(writtenAs);
}

function writtenAs({ type, items, ends }: ResultForm): Written | undefined {
  if (type === 'TIME') return timeText;
  if (type === 'EDGE') return ends === undefined ? edgeWithText : (value) => edgeWithText(value, ends);
  const item = type === 'LIST' && items !== undefined ? writtenAs(items) : undefined;
  return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
}

function timeText(value: Value): Value {
  return typeof value === 'number' ? isoTime(value) : value;
}

/**
 * Converts the times in an edge and keeps the order of the columns. `ends` is the column of the
 * ends of intervals, if the table has them.
 */
function edgeWithText(value: Value, ends?: string): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const edge = value as Readonly<Record<string, Value>>;
  const shown = { ...edge, event_ts: timeText(edge.event_ts!) };
  return ends === undefined ? shown : { ...shown, [ends]: timeText(edge[ends]!) };
}
