// Converts row values to member ids, properties and times, so that each is exact in JSON.

import { HedgerowError } from '../../errors.ts';
import type { ColumnKind, SqlValue } from '../backend.ts';
import { shown } from '../identifiers.ts';
import { isoDate, isoOfMicros } from '../times.ts';

export type PropertyValue = number | string | boolean | null;

/** Returns the prefix of the ids of all nodes with a label. */
export function vertexHead(nodeLabel: string): string {
  return `${nodeLabel.toLowerCase()}:`;
}

/**
 * Returns the id of a member as text, or undefined for null. Integers of any width are exact. Times
 * are written as in ISO 8601.
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
 * Returns a value as a property in JSON. Integers beyond 2^53 and decimals with many digits become
 * text. NaN and the infinities become null.
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

/** Writes `1.50` as `1.5`, so that a number looks the same from every database. */
export function plainDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Returns the time of an edge. Throws `hydration_failed` if it is not in whole seconds. */
export function secondOf(value: Exclude<SqlValue, null>, edgeLabel: string): number {
  const second = typeof value === 'bigint' ? Number(value) : value;
  if (typeof second === 'number' && Number.isSafeInteger(second)) return second;
  const found = typeof value === 'object' ? 'a list' : shown(String(value));
  throw new HedgerowError(
    'hydration_failed',
    `A row of ${edgeLabel} has the time ${found}, which is not a whole number of seconds up to 2^53; correct the row or name another ts_column.`,
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

/** Returns the error for a value that contradicts the column's type in the backend. */
export function strange(name: string, what: string): HedgerowError {
  return new HedgerowError(
    'hydration_failed',
    `The backend gave ${what} in the column of ${shown(name)}; its data may have changed while it was read: try again.`,
  );
}
