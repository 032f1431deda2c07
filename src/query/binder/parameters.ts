// Determines the types of parameters when a statement is bound, and reads their values at each run.
// The binder uses only the types, so values can never become syntax.

import { type ErrorCode, HedgerowError } from '../../errors.ts';
import { isoDays, isoSeconds } from '../../iso-time.ts';
import { HALF_PAIR, isWellFormed } from '../../model/text.ts';
import { MAX_ALL_ITEMS, MAX_LIST_ITEMS, MAX_LITERAL_LENGTH, MAX_PARAMETERS } from '../limits.ts';
import { shown, shownName } from '../shown.ts';
import type { BoundParameter, Value, ValueType } from './bound.ts';
import { problemOf, type TimeUnit } from './times.ts';

export interface ParameterType {
  readonly type: ValueType;
  /**
   * For lists, the common type of the items; `null` if the list is empty or contains only nulls.
   */
  readonly itemType: ValueType | undefined;
}

export type ParameterValues = Readonly<Record<string, unknown>>;

/**
 * Throws `invalid_statement` if there are too many parameters, or too many list items in all
 * parameters together.
 */
export function checkParameters(values: ParameterValues): void {
  let names = 0;
  let items = 0;
  for (const name in values) {
    const value = values[name];
    names += 1;
    if (names > MAX_PARAMETERS)
      throw wrong(name, `is beyond the limit of ${MAX_PARAMETERS} parameters; give many values as lists`);
    if (!Array.isArray(value)) continue;
    items += value.length;
    if (items > MAX_ALL_ITEMS)
      throw wrong(name, `brings the list items of all parameters to more than ${MAX_ALL_ITEMS}`);
  }
}

/**
 * Returns the type of one value. Throws `invalid_statement` for objects, nested lists, lists of
 * mixed types, numbers that are not finite, and values that are too long. Throws `invalid_input`
 * for a text that is not valid Unicode.
 */
export function parameterType(name: string, value: unknown): ParameterType {
  if (!Array.isArray(value)) return { type: scalarType(name, value), itemType: undefined };
  if (value.length > MAX_LIST_ITEMS) throw wrong(name, `has ${value.length} items, more than ${MAX_LIST_ITEMS}`);
  let itemType: ValueType = 'null';
  for (const item of value) {
    if (Array.isArray(item)) throw wrong(name, 'is a list in a list; lists hold single values');
    const type = scalarType(name, item);
    const common = commonType(itemType, type);
    if (common === undefined) throw wrong(name, `mixes ${itemType} and ${type}; a list holds values of one type`);
    itemType = common;
  }
  return { type: 'list', itemType };
}

/**
 * Returns the type that can hold values of both types: the type itself if they are equal, real for
 * integer and real, and the other type for null. Returns undefined if there is none.
 */
export function commonType(a: ValueType, b: ValueType): ValueType | undefined {
  if (a === b || b === 'null') return a;
  if (a === 'null') return b;
  const bothNumbers = (a === 'integer' || a === 'real') && (b === 'integer' || b === 'real');
  return bothNumbers ? 'real' : undefined;
}

function scalarType(name: string, value: unknown): ValueType {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw wrong(name, 'is not a finite number');
      return Number.isSafeInteger(value) ? 'integer' : 'real';
    case 'string':
      if (value.length > MAX_LITERAL_LENGTH)
        throw wrong(
          name,
          `has ${value.length} characters, more than ${MAX_LITERAL_LENGTH}; a stored text holds at most 64 KB`,
        );
      if (!isWellFormed(value)) throw wrong(name, HALF_PAIR, 'invalid_input');
      return 'text';
    case 'boolean':
      return 'boolean';
    default:
      if (value === null) return 'null';
      throw wrong(
        name,
        `is ${typeof value === 'object' ? 'an object' : `of type ${typeof value}`}; give a number, a text, a boolean, null or a list of these`,
      );
  }
}

function wrong(name: string, what: string, code: ErrorCode = 'invalid_statement'): HedgerowError {
  return new HedgerowError(code, `Parameter $${shown(name)} ${what}.`, {
    errors: [{ loc: ['body', 'parameters', name], msg: what }],
  });
}

/**
 * Returns the value of the parameter for this run. Its type was checked when the statement was
 * bound. Throws `invalid_statement` for a text that should be a time but is not one.
 */
export function parameterValue(values: ParameterValues, { name, reads }: BoundParameter): Value {
  const value = values[name] as Value;
  return reads === undefined ? value : timesOf(values, name, value, reads);
}

/**
 * Values converted to times, for each run. A run is identified by its parameters object. A list is
 * always converted to the same array, because facts about lists are cached by the identity of the
 * array.
 */
const TIMES = new WeakMap<ParameterValues, Map<string, Value>>();

function timesOf(values: ParameterValues, name: string, value: Value, unit: TimeUnit): Value {
  const key = `${unit} ${name}`;
  const known = TIMES.get(values)?.get(key);
  if (known !== undefined) return known;
  const read = Array.isArray(value) ? value.map((item) => timeOf(name, item, unit)) : timeOf(name, value, unit);
  const all = TIMES.get(values) ?? new Map<string, Value>();
  TIMES.set(values, all.set(key, read));
  return read;
}

function timeOf(name: string, value: Value, unit: TimeUnit): Value {
  if (typeof value !== 'string') return value;
  const read = unit === 'time' ? isoSeconds(value) : isoDays(value);
  if (read === undefined) throw wrong(name, `is ${shownName(value)}, which ${problemOf(value, unit)}`);
  return read;
}
