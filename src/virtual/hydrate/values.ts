// Converts row values to member ids, properties and times, each exact in JSON.

import { HedgerowError } from '../../errors.ts';
import { compareTexts } from '../../model/text-order.ts';
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

/** The distinct member ids of a group, ascending: numbers and times by value, texts by bytes. */
export function listIds(value: SqlValue, kind: ColumnKind, name: string): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw strange(name, 'no list');
  const items = (value as readonly (string | number | null)[]).filter((item) => item !== null);
  const isInteger = kind === 'integer' || kind === 'timestamp' || kind === 'timestamptz' || kind === 'date';
  const sorted = isInteger ? sortedIntegers(items, name) : [...items].sort(orderOf(kind));
  const ids = new Set<string>();
  for (const item of sorted) ids.add(idText(item, kind, name)!);
  return [...ids];
}

/** Typed arrays and plain numbers sort much faster than bigints, and a group may be large. */
function sortedIntegers(items: readonly (string | number)[], name: string): Iterable<number | bigint> {
  if (items.every((item) => Number.isSafeInteger(item))) return Float64Array.from(items as readonly number[]).sort();
  const integers = items.map((item) => BigInt(integerOf(INTEGER.test(String(item)) ? BigInt(item) : item, name)));
  return integers.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

const INTEGER = /^-?\d+$/;

function orderOf(kind: ColumnKind): (a: string | number, b: string | number) => number {
  if (kind === 'real') return (a, b) => compareReals(Number(a), Number(b));
  if (kind !== 'decimal') return (a, b) => compareTexts(String(a), String(b));
  return (a, b) => compareReals(Number(a), Number(b)) || (plainDecimal(String(a)) < plainDecimal(String(b)) ? -1 : 1);
}

/** NaN is the greatest, as in the databases. */
function compareReals(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
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
function plainDecimal(text: string): string {
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

function integerOf(value: SqlValue, name: string): number | bigint {
  if (typeof value === 'bigint' || Number.isInteger(value)) return value as number | bigint;
  throw strange(name, `${typeof value === 'object' ? 'a list' : shown(String(value))} for an integer`);
}

function textOf(value: SqlValue, name: string): string {
  if (typeof value === 'string') return value;
  throw strange(name, 'no text');
}

/** The error for a value that contradicts the backend's own column types. */
function strange(name: string, what: string): HedgerowError {
  return new HedgerowError(
    'hydration_failed',
    `The backend gave ${what} in the column of ${shown(name)}; its data may have changed while it was read: try again.`,
  );
}
