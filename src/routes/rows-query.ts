// Reads the query string of range and node lookups: one pass, strict integers, every wrong parameter named.

import type { FieldError } from '../errors.ts';
import { invalidFields } from '../http/field-errors.ts';
import { parseInteger } from '../http/integers.ts';
import { decodeText, givenTwice, nameEnd, parameterEnd } from '../http/query-text.ts';

export interface RowsQuery {
  table: string | undefined;
  startTs: number | undefined;
  endTs: number | undefined;
  limit: number | undefined;
  cursor: string | undefined;
}

const NOT_INTEGER = 'must be an integer of at most 2^53-1, written in digits';

export function parseRowsQuery(query: string): RowsQuery {
  const result: RowsQuery = {
    table: undefined,
    startTs: undefined,
    endTs: undefined,
    limit: undefined,
    cursor: undefined,
  };
  let errors: FieldError[] | undefined;
  let start = 0;
  while (start < query.length) {
    const end = parameterEnd(query, start);
    const equals = nameEnd(query, start, end);
    const name = decodeText(query.slice(start, equals));
    const wrong = takeParameter(result, name, decodeText(query.slice(equals + 1, end)));
    if (wrong !== undefined) {
      errors ??= [];
      errors.push({ loc: ['query', name], msg: wrong });
    }
    start = end + 1;
  }
  if (errors !== undefined) throw invalidFields(errors);
  return result;
}

/** A range names both bounds. */
export function requireWindow(query: RowsQuery): void {
  if (query.startTs !== undefined && query.endTs !== undefined) return;
  const errors: FieldError[] = [];
  if (query.startTs === undefined) errors.push({ loc: ['query', 'start_ts'], msg: 'is missing' });
  if (query.endTs === undefined) errors.push({ loc: ['query', 'end_ts'], msg: 'is missing' });
  throw invalidFields(errors);
}

/** What is wrong with the value, undefined when nothing is. Unknown parameters are ignored. */
function takeParameter(into: RowsQuery, name: string, value: string): string | undefined {
  switch (name) {
    case 'start_ts':
      if (into.startTs !== undefined) throw givenTwice(name);
      into.startTs = parseInteger(value);
      return Number.isNaN(into.startTs) ? NOT_INTEGER : undefined;
    case 'end_ts':
      if (into.endTs !== undefined) throw givenTwice(name);
      into.endTs = parseInteger(value);
      return Number.isNaN(into.endTs) ? NOT_INTEGER : undefined;
    case 'limit':
      if (into.limit !== undefined) throw givenTwice(name);
      into.limit = parseInteger(value);
      return into.limit >= 1 ? undefined : 'must be an integer of at least 1';
    case 'table':
      if (into.table !== undefined) throw givenTwice(name);
      into.table = value;
      return undefined;
    case 'cursor':
      if (into.cursor !== undefined) throw givenTwice(name);
      into.cursor = value;
      return undefined;
    default:
      return undefined;
  }
}
