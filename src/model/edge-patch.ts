// Reads the JSON of a request that changes some columns of one edge.

import { type FieldError, HedgerowError } from '../errors.ts';
import { isoSeconds } from '../iso-time.ts';
import { type PropertyValue, ruleOf } from './column-types.ts';
import type { Column, ColumnSet } from './columns.ts';
import { timeMessage } from './edge.ts';
import { invalidFields, kindOf, type Place } from './fields.ts';

/** New values by the names of columns, as the table spells them. Null clears a column. */
export type EdgePatch = Readonly<Record<string, PropertyValue>>;

const FIXED = new Map([
  ['id', 'never changes'],
  ['event_ts', 'cannot be changed here; an UPDATE statement can'],
  ['members', 'cannot be changed here; an UPDATE statement can'],
]);

/**
 * Returns the change that a JSON object describes: columns at the top level or in `properties`,
 * each at most once, and at least one. `table` and `times` are ignored. Throws `invalid_input`, or
 * `unknown_column` if nothing else is wrong; the error lists every wrong field.
 */
export function readPatch(source: Record<string, unknown>, columns: ColumnSet, table: string, place: Place): EdgePatch {
  const patch: Record<string, PropertyValue> = Object.create(null);
  const errors: FieldError[] = [];
  let isUnknown = true;
  const add = (path: Place, msg: string, unknown = false): void => {
    errors.push({ loc: [...place, ...path], msg });
    isUnknown &&= unknown;
  };
  const take = (name: string, value: unknown, path: Place): void => {
    const column = columns.find(name);
    const fixed = FIXED.get(name.toLowerCase());
    if (fixed !== undefined) add(path, fixed);
    else if (column === undefined) add(path, `is not a column of table ${table}${hintOf(name)}`, true);
    else if (column.name in patch) add(path, 'is given twice (names are compared without case)');
    else {
      const problem = problemOf(column, columns, value);
      if (problem !== undefined) add(path, problem);
      patch[column.name] = problem === undefined ? storedValue(column, columns, value) : null;
    }
  };
  for (const [name, value] of Object.entries(source)) {
    if (name === 'table' || name === 'times') continue;
    if (name !== 'properties') take(name, value, [name.slice(0, 100)]);
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      add(['properties'], `must be an object, not ${kindOf(value)}`);
    else for (const [inner, each] of Object.entries(value)) take(inner, each, ['properties', inner.slice(0, 100)]);
    if (errors.length >= MOST_ERRORS) break;
  }
  if (errors.length > 0) throw wrong(errors, isUnknown);
  if (Object.keys(patch).length === 0)
    throw invalidFields([{ loc: [...place], msg: 'must name at least one column to change, such as weight' }]);
  return patch;
}

const MOST_ERRORS = 20;

function wrong(errors: FieldError[], isUnknown: boolean): HedgerowError {
  const error = invalidFields(errors);
  return isUnknown ? new HedgerowError('unknown_column', error.message, { errors }) : error;
}

function hintOf(name: string): string {
  return name.toLowerCase() === 'end_ts' ? ', which has no intervals' : '';
}

function problemOf(column: Column, { end }: ColumnSet, value: unknown): string | undefined {
  if (value === null) return undefined;
  if (column !== end) return ruleOf(column.type).problem(value);
  const seconds = typeof value === 'string' ? isoSeconds(value) : value;
  return Number.isSafeInteger(seconds) ? undefined : `${timeMessage(value)} or null`;
}

function storedValue(column: Column, { end }: ColumnSet, value: unknown): PropertyValue {
  return column === end && typeof value === 'string' ? isoSeconds(value)! : (value as PropertyValue);
}
