// Types of parameters: what a statement is bound for. Values never become syntax; only their types reach the binder.

import { type ErrorCode, HedgerowError } from '../../errors.ts';
import { shown } from '../shown.ts';
import type { Value, ValueType } from './bound.ts';

export interface ParameterType {
  readonly type: ValueType;
  /** Of a list: the type its items have in common; `null` when there is none. */
  readonly itemType: ValueType | undefined;
}

export type ParameterValues = Readonly<Record<string, unknown>>;

/** Items of a list parameter, at most. */
const MAX_LIST_ITEMS = 100_000;
/** What UTF-8 cannot hold: it would be stored as another text. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The type of one value. Throws `invalid_statement` for objects, lists in lists and lists of several types. */
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

/** The type that holds both: equal types, integer and real, anything with null. */
export function commonType(a: ValueType, b: ValueType): ValueType | undefined {
  if (a === b || b === 'null') return a;
  if (a === 'null') return b;
  const bothNumbers = (a === 'integer' || a === 'real') && (b === 'integer' || b === 'real');
  return bothNumbers ? 'real' : undefined;
}

function scalarType(name: string, value: unknown): ValueType {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw wrong(name, 'is no finite number');
      return Number.isSafeInteger(value) ? 'integer' : 'real';
    case 'string':
      if (LONE_SURROGATE.test(value))
        throw wrong(name, 'is no valid text: it holds half of a surrogate pair', 'invalid_input');
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

/** The value a statement runs with; it was checked when the statement was bound. */
export function parameterValue(values: ParameterValues, name: string): Value {
  return values[name] as Value;
}
