// Parses the query string of range and node lookups: reads it in one pass, accepts only strict
// integers, and reports every invalid parameter.

import type { FieldError } from '../errors.ts';
import { decodeText, givenTwice, invalidFields, nameEnd, parameterEnd, parseInteger } from '../http/index.ts';
import { timeMessage } from '../http/schema.ts';
import { isoSeconds } from '../iso-time.ts';
import { MEMBERS_MESSAGE } from './member-form.ts';

export interface RowsQuery {
  table: string | undefined;
  startTs: number | undefined;
  endTs: number | undefined;
  at: number | undefined;
  limit: number | undefined;
  cursor: string | undefined;
  /** Of a node lookup: the role that the node must have. */
  role: string | undefined;
  /** True if times are written as ISO 8601; undefined means the default (seconds). */
  isoTimes: boolean | undefined;
  /** How members are shown; undefined means the default of the table. */
  members: 'numbers' | 'objects' | undefined;
  /** The kind of the node of a lookup, in a table whose members have several kinds. */
  kind: string | undefined;
}

export function parseRowsQuery(query: string): RowsQuery {
  const result: RowsQuery = {
    table: undefined,
    startTs: undefined,
    endTs: undefined,
    at: undefined,
    limit: undefined,
    cursor: undefined,
    role: undefined,
    isoTimes: undefined,
    members: undefined,
    kind: undefined,
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

/** Throws `invalid_input` unless both bounds of the range, or the time `at`, are given. */
export function requireWindow(query: RowsQuery): void {
  if (query.at !== undefined || (query.startTs !== undefined && query.endTs !== undefined)) return;
  const errors: FieldError[] = [];
  if (query.startTs === undefined) errors.push({ loc: ['query', 'start_ts'], msg: 'is missing' });
  if (query.endTs === undefined) errors.push({ loc: ['query', 'end_ts'], msg: 'is missing' });
  throw invalidFields(errors);
}

/** Parses epoch seconds in digits, or ISO 8601. Returns NaN if the text is neither. */
function parseTime(value: string): number {
  const seconds = parseInteger(value);
  return Number.isNaN(seconds) ? (isoSeconds(value) ?? Number.NaN) : seconds;
}

/**
 * Stores a parameter. Returns what is wrong with its value, or undefined. Unknown parameters are
 * ignored.
 */
function takeParameter(into: RowsQuery, name: string, value: string): string | undefined {
  switch (name) {
    case 'start_ts':
      if (into.startTs !== undefined) throw givenTwice(name);
      into.startTs = parseTime(value);
      return Number.isNaN(into.startTs) ? timeProblemOf(value) : undefined;
    case 'end_ts':
      if (into.endTs !== undefined) throw givenTwice(name);
      into.endTs = parseTime(value);
      return Number.isNaN(into.endTs) ? timeProblemOf(value) : undefined;
    case 'at':
      if (into.at !== undefined) throw givenTwice(name);
      into.at = parseTime(value);
      return Number.isNaN(into.at) ? timeProblemOf(value) : undefined;
    case 'limit':
      if (into.limit !== undefined) throw givenTwice(name);
      into.limit = parseInteger(value);
      if (Number.isNaN(into.limit) && DIGITS.test(value)) return TOO_LARGE;
      return into.limit >= 1 ? undefined : 'must be an integer of at least 1';
    case 'table':
      if (into.table !== undefined) throw givenTwice(name);
      into.table = value;
      return undefined;
    case 'cursor':
      if (into.cursor !== undefined) throw givenTwice(name);
      into.cursor = value;
      return undefined;
    case 'role':
      if (into.role !== undefined) throw givenTwice(name);
      into.role = value;
      return undefined;
    case 'times':
      if (into.isoTimes !== undefined) throw givenTwice(name);
      into.isoTimes = value === 'iso';
      return isTimes(value) ? undefined : TIMES_MESSAGE;
    case 'members':
      if (into.members !== undefined) throw givenTwice(name);
      if (value !== 'numbers' && value !== 'objects') return MEMBERS_MESSAGE;
      into.members = value;
      return undefined;
    case 'kind':
      if (into.kind !== undefined) throw givenTwice(name);
      into.kind = value;
      return undefined;
    default:
      return undefined;
  }
}

const TIMES_MESSAGE = 'must be epoch or iso';
const DIGITS = /^[+-]?\d+$/;
const TOO_LARGE = 'must be an integer of at most 2^53-1';

function timeProblemOf(value: string): string {
  return DIGITS.test(value) ? TOO_LARGE : timeMessage(value);
}

function isTimes(value: unknown): boolean {
  return value === 'epoch' || value === 'iso';
}

/** Returns true if `times` asks for ISO 8601. Throws `invalid_input` for an invalid value. */
export function wantsIso(value: unknown, place: 'query' | 'body'): boolean {
  if (value === undefined || value === null) return false;
  if (isTimes(value)) return value === 'iso';
  throw invalidFields([{ loc: [place, 'times'], msg: TIMES_MESSAGE }]);
}
