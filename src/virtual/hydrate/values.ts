// Converts row values to member ids, properties and times, each exact in JSON.

import { HedgerowError } from '../../errors.ts';
import type { ColumnKind, SqlValue } from '../backend.ts';
import { shown } from '../identifiers.ts';
import { isoDate, isoOfMicros } from '../times.ts';

export type PropertyValue = number | string | boolean | null;

/** The prefix of the ids of a node. */
export function vertexHead(nodeLabel: string): string {
  return `${nodeLabel.toLowerCase()}:`;
}

/**
 * The id of a member as text; undefined if null. Integers of any width are exact, times are ISO
 * 8601.
 */
export function idText(value: SqlValue, kind: ColumnKind, name: string): string | undefined {
  if (value === null) return undefined;
  switch (kind) {
    case 'decimal':
      return plainDecimal(textOf(value, name));
    case 'timestamp':
    case 'timestamptz':
      return isoOfMicros(integerOf(value, name));
    case 'date':
      return isoDate(Number(integerOf(value, name)));
    case 'integer':
      return String(integerOf(value, name));
    default:
      if (typeof value === 'object') throw strange(name, 'a list');
      return String(value);
  }
}

/**
 * The JSON form of a value: integers beyond 2^53 and decimals of many digits as text, NaN and
 * infinities as null.
 */
export function propertyOf(value: SqlValue, kind: ColumnKind, name: string): PropertyValue {
  if (value === null) return null;
  if (kind === 'text' && typeof value === 'string') return value;
  if (kind === 'integer' && typeof value === 'number' && Number.isSafeInteger(value)) return value + 0;
  if (kind === 'boolean' && typeof value === 'boolean') return value;
  if (kind === 'real') return Number.isFinite(value) ? (value as number) : null;
  const text = idText(value, kind, name)!;
  if (kind === 'integer') return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (kind !== 'decimal') return text;
  const number = Number(text);
  return plainDecimal(String(number)) === text ? number : text;
}

/** `1.50` as `1.5`, so that the same number looks the same from every database. */
export function plainDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Throws `hydration_failed` for anything that is not a whole number of seconds. */
export function secondOf(value: Exclude<SqlValue, null>, edgeLabel: string): number {
  const second = typeof value === 'bigint' ? Number(value) : value;
  if (typeof second === 'number' && Number.isSafeInteger(second)) return second;
  const found = typeof value === 'object' ? 'a list' : shown(String(value));
  throw new HedgerowError(
    'hydration_failed',
    `A row of ${edgeLabel} has the time ${found}, which is no whole number of seconds up to 2^53; correct the row or name another ts_column.`,
  );
}

export function integerOf(value: SqlValue, name: string): number | bigint {
  if (typeof value === 'bigint' || Number.isInteger(value)) return value as number | bigint;
  throw strange(name, `${typeof value === 'object' ? 'a list' : shown(String(value))} for an integer`);
}

function textOf(value: SqlValue, name: string): string {
  if (typeof value === 'string') return value;
  throw strange(name, 'no text');
}

/** The error for a value that contradicts the backend's own column types. */
export function strange(name: string, what: string): HedgerowError {
  return new HedgerowError(
    'hydration_failed',
    `The backend gave ${what} in the column of ${shown(name)}; its data may have changed while it was read: try again.`,
  );
}
