// Checks one edge as it comes in a body: one pass by hand, because valibot costs more here than the insert itself.

import type { ColumnType, EdgeInput, PropertyValue, Table } from '../engine/index.ts';
import { type FieldError, type HedgerowError, refusal } from '../errors.ts';
import { invalidFields, kindOf } from '../http/index.ts';
import { timeMessage } from '../http/schema.ts';
import { isoSeconds } from '../iso-time.ts';
import { MAX_TEXT_BYTES } from '../limits.ts';

/** Where the object stands: `['body']`, or `['body', 'operations', 3]`. */
export type Place = readonly (string | number)[];

/** What the check needs to know of a table. */
export type EdgeTable = Pick<Table, 'name' | 'item'>;

/** More wrong members than this are not listed. */
const MOST_ERRORS = 20;

const INTEGER = 'must be an integer of at most 2^53-1';
const EMPTY = 'is empty; an edge joins at least one node';
const NO_COLUMN = 'is no column of table';

/** The name in `table`, or undefined for the primary table. */
export function tableNameOf(source: Record<string, unknown>, place: Place): string | undefined {
  const name = source.table;
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string') return name;
  throw invalidFields([{ loc: [...place, 'table'], msg: `must be a string, not ${kindOf(name)}` }]);
}

/** Time and members of an insert or delete; throws invalid_input or empty_members, naming every wrong field. */
export function readEdgeKey(source: Record<string, unknown>, place: Place): { event_ts: number; members: number[] } {
  const errors: FieldError[] = [];
  const key = takeKey(source, place, errors);
  if (errors.length > 0) throw wrongEdge(errors);
  return key;
}

/** A whole edge; throws invalid_input, empty_members or unknown_column. */
export function readEdge(source: Record<string, unknown>, table: EdgeTable, place: Place): EdgeInput {
  const errors: FieldError[] = [];
  const key = takeKey(source, place, errors);
  let properties: Record<string, PropertyValue> | undefined;
  let others = 0;
  for (const name in source) {
    switch (name) {
      case 'event_ts':
      case 'members':
      case 'table':
        break;
      case 'weight':
      case 'mean_dist_m':
      case 'formation': {
        const value = source[name];
        if (value === null || value === undefined) break;
        properties ??= {};
        if (isOfType(BUILT_IN[name], value)) properties[name] = value;
        else errors.push({ loc: [...place, name], msg: messageFor(BUILT_IN[name]) });
        break;
      }
      default:
        others += 1;
    }
  }
  if (others > 0) properties = takeOthers(source, table, place, properties, errors);
  if (errors.length > 0) throw wrongEdge(errors);
  return properties === undefined ? key : { event_ts: key.event_ts, members: key.members, properties };
}

const BUILT_IN: Readonly<Record<'weight' | 'mean_dist_m' | 'formation', ColumnType>> = {
  weight: 'REAL',
  mean_dist_m: 'REAL',
  formation: 'TEXT',
};

function takeKey(source: Record<string, unknown>, place: Place, errors: FieldError[]) {
  const given = source.event_ts;
  const eventTs = typeof given === 'string' ? isoSeconds(given) : given;
  const members = source.members;
  if (!Number.isSafeInteger(eventTs)) {
    errors.push({ loc: [...place, 'event_ts'], msg: isMissing(given) ? 'is missing' : timeMessage(given) });
  }
  if (Array.isArray(members)) {
    if (members.length === 0) errors.push({ loc: [...place, 'members'], msg: EMPTY });
    for (let i = 0; i < members.length && errors.length < MOST_ERRORS; i++) {
      if (!Number.isSafeInteger(members[i])) errors.push({ loc: [...place, 'members', i], msg: INTEGER });
    }
  } else {
    const msg = isMissing(members) ? 'is missing' : `must be an array of integers, not ${kindOf(members)}`;
    errors.push({ loc: [...place, 'members'], msg });
  }
  return { event_ts: eventTs as number, members: members as number[] };
}

/** One error for all wrong fields: empty members have a code of their own, and unknown columns where nothing else is wrong. */
function wrongEdge(errors: FieldError[]): HedgerowError {
  const { message } = invalidFields(errors);
  const isEmpty = errors.some(({ msg }) => msg === EMPTY);
  const isUnknown = errors.every(({ msg }) => msg.startsWith(NO_COLUMN));
  return refusal(isEmpty ? 'empty_members' : isUnknown ? 'unknown_column' : 'invalid_input', message, { errors });
}

/** `properties` (unknown names refused), then user columns at top level (unknown names ignored), which win. */
function takeOthers(
  source: Record<string, unknown>,
  table: EdgeTable,
  place: Place,
  known: Record<string, PropertyValue> | undefined,
  errors: FieldError[],
): Record<string, PropertyValue> {
  // Without a prototype: a column may be called `__proto__`.
  const properties: Record<string, PropertyValue> = Object.create(null);
  const columns = columnsOf(table);
  const inner = source.properties;
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    takeColumns(inner as Record<string, unknown>, columns, [...place, 'properties'], properties, errors, table.name);
  } else if (inner !== undefined && inner !== null) {
    errors.push({ loc: [...place, 'properties'], msg: `must be an object, not ${kindOf(inner)}` });
  }
  takeColumns(source, columns, place, properties, errors, undefined);
  return known === undefined ? properties : Object.assign(properties, known);
}

interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** By lower-case name: names compare without case. */
function columnsOf(table: EdgeTable): Map<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, type] of Object.entries(BUILT_IN)) columns.set(name, { name, type });
  for (const column of table.item().columns) columns.set(column.name.toLowerCase(), column);
  return columns;
}

function takeColumns(
  source: Record<string, unknown>,
  columns: ReadonlyMap<string, Column>,
  place: Place,
  into: Record<string, PropertyValue>,
  errors: FieldError[],
  /** Given: names that are no column of this table are refused. */
  tableName: string | undefined,
): void {
  for (const name in source) {
    const value = source[name];
    if (tableName === undefined && RESERVED.has(name)) continue;
    const column = columns.get(name.toLowerCase());
    if (column === undefined) {
      if (tableName !== undefined && errors.length < MOST_ERRORS)
        errors.push({ loc: [...place, name.slice(0, 100)], msg: `${NO_COLUMN} ${tableName}` });
    } else if (value !== null && value !== undefined) {
      if (isOfType(column.type, value)) into[column.name] = value;
      else errors.push({ loc: [...place, name], msg: messageFor(column.type) });
    }
  }
}

/** Top-level names that are read elsewhere. */
const RESERVED: ReadonlySet<string> = new Set([
  'event_ts',
  'members',
  'table',
  'properties',
  'weight',
  'mean_dist_m',
  'formation',
]);

function isOfType(type: ColumnType, value: unknown): value is PropertyValue {
  switch (type) {
    case 'REAL':
      return typeof value === 'number' && Number.isFinite(value);
    case 'INTEGER':
      return Number.isSafeInteger(value);
    case 'BOOLEAN':
      return typeof value === 'boolean';
    case 'TEXT':
      return typeof value === 'string' && isStorable(value);
  }
}

/** Short enough, and no half of a surrogate pair, which UTF-8 cannot hold. */
function isStorable(value: string): boolean {
  if (value.length > MAX_TEXT_BYTES / 3 && Buffer.byteLength(value) > MAX_TEXT_BYTES) return false;
  return LONE_SURROGATE.test(value) === false;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function messageFor(type: ColumnType): string {
  switch (type) {
    case 'REAL':
      return 'must be a finite number';
    case 'INTEGER':
      return INTEGER;
    case 'BOOLEAN':
      return 'must be true or false';
    case 'TEXT':
      return `must be a string of at most ${MAX_TEXT_BYTES / 1024} KB of valid text`;
  }
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
