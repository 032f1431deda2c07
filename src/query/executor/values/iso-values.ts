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

function writtenAs({ type, items }: ResultForm): Written | undefined {
  if (type === 'TIME') return timeText;
  if (type === 'EDGE') return edgeWithText;
  const item = type === 'LIST' && items !== undefined ? writtenAs(items) : undefined;
  return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
}

function timeText(value: Value): Value {
  return typeof value === 'number' ? isoTime(value) : value;
}

/** Converts the time in an edge and keeps the order of the columns. */
function edgeWithText(value: Value): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const edge = value as Readonly<Record<string, Value>>;
  return { ...edge, event_ts: timeText(edge.event_ts!) };
}
