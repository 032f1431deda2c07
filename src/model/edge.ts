// Defines what an edge is: every edge is checked here before it is stored, whatever its source.
//
// `readEdge` reads the JSON of a request: a body, a line, or an operation of a batch. `checkEdge`
// takes a value from a program: an embedded insert, a statement, or a row of a file. Both functions
// return a `CheckedEdge`, or throw one error that lists every wrong field with its place. Only
// these functions can create a `CheckedEdge`, and the engine stores nothing else. Code that
// receives a CheckedEdge therefore never looks at types again.

import { type ErrorCode, type FieldError, HedgerowError, refusal } from '../errors.ts';
import { isoSeconds, TIME_FORM, TIME_MESSAGE, timeProblem } from '../iso-time.ts';
import { type ColumnType, type PropertyValue, ruleOf } from './column-types.ts';
import { builtInType, type Column, type ColumnSet, RESERVED_NAMES } from './columns.ts';
import { fieldSentence, invalidFields, kindOf, type Place, pathText } from './fields.ts';
import { INTEGER, takeAny } from './members.ts';
import type { KindAndKey, MemberKind, NodeKey, NodeRef } from './node-refs.ts';
import type { RoleSet } from './roles.ts';

/**
 * One edge as a caller passes it. `event_ts` is in seconds. Members may be in any order and may
 * repeat. Properties with the value undefined are ignored.
 */
export interface EdgeInput {
  event_ts: number;
  /**
   * Numbers or, in a named table, keys of nodes: bare if the table has one kind, otherwise with
   * their kind.
   */
  members: readonly MemberInput[];
  /** In a named table: true if `members` are the internal numbers of nodes that exist. */
  areNumbers?: boolean | undefined;
  /**
   * Members by role, for a table with roles. Nodes that are not in `members` are added to it;
   * members that are in no list have no role.
   */
  roles?: RoleInputs | undefined;
  /** Built-in columns and user columns by name. */
  properties?: Readonly<Record<string, PropertyValue | undefined>> | undefined;
}

export { distinctNumbers, tooManyText } from './members.ts';

/** A member as a caller gives it. */
export type MemberInput = NodeKey | KindAndKey;

/** Members by role as a caller gives them. */
export type RoleInputs = Readonly<Record<string, readonly MemberInput[]>>;

/** The facts about a table that the check needs. */
export interface EdgeTable {
  readonly name: string;
  readonly columns: ColumnSet;
  readonly maxMembers: number;
  /** Of a named table: the kinds of its members. Undefined: members are plain numbers. */
  readonly kinds?: readonly MemberKind[] | undefined;
  readonly roles: RoleSet;
}

/**
 * One property of an edge. The value is null only if the column has a default: the edge then has
 * null instead of the default.
 */
export interface CheckedProperty {
  /** Column id. */
  readonly column: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly value: PropertyValue;
}

class Edge {
  declare private readonly isChecked: true;
  /** Epoch seconds: a safe integer, not -0. */
  readonly event_ts: number;
  /**
   * A set of safe integers in ascending order; empty as long as `refs` are not resolved. No other
   * code holds this array.
   */
  readonly members: number[];
  /** In a named table: the distinct members as keys, until `withNumbers`. */
  readonly refs: readonly NodeRef[] | undefined;
  /**
   * The masks of the members' roles, in the order of `refs` or `members`; undefined if no member
   * has a role.
   */
  readonly masks: readonly number[] | undefined;
  /** In ascending order of column ids; each column occurs once. */
  readonly properties: readonly CheckedProperty[];
  /** The columns that the properties were checked against. */
  readonly columns: ColumnSet;

  constructor(
    eventTs: number,
    members: number[],
    refs: readonly NodeRef[] | undefined,
    masks: readonly number[] | undefined,
    properties: readonly CheckedProperty[],
    columns: ColumnSet,
  ) {
    this.event_ts = eventTs;
    this.members = members;
    this.refs = refs;
    this.masks = masks;
    this.properties = properties;
    this.columns = columns;
  }
}

/** An edge that may be stored in a table with these columns. */
export type CheckedEdge = Edge;

/** Only this many wrong fields are listed. */
const MOST_ERRORS = 20;

const NO_PROPERTIES: readonly CheckedProperty[] = [];

const NO_PLACE: Place = [];

/**
 * Collects the faults of an edge. If the list of members is empty or too long, this determines the
 * error code. The code `unknown_column` is used only if nothing else is wrong. A `Faults` object is
 * created for every edge, and nearly all edges are valid. It therefore holds plain fields and
 * creates the list only at the first fault.
 */
class Faults {
  private readonly place: Place;
  private errors: FieldError[] | undefined;
  private code: ErrorCode | undefined;

  constructor(place: Place) {
    this.place = place;
    this.errors = undefined;
    this.code = undefined;
  }

  get isFull(): boolean {
    return this.errors !== undefined && this.errors.length >= MOST_ERRORS;
  }

  add(path: Place, msg: string, code: ErrorCode = 'invalid_input'): void {
    if (this.isFull) return;
    this.errors ??= [];
    this.errors.push({ loc: [...this.place, ...path], msg });
    const known = this.code;
    if (known === undefined || known === 'unknown_column' || code === 'empty_members' || code === 'too_many_members')
      this.code = code;
  }

  throwIfAny(): void {
    if (this.errors !== undefined) throw this.refusal(this.errors);
  }

  /**
   * Returns the error, with a stack trace if a program passed the edge. An error about a request
   * has none: clients can cause as many of these errors as they like, and stack traces take time.
   */
  private refusal(errors: FieldError[]): HedgerowError {
    if (this.place.length > 0) return refusal(this.code!, fieldSentence(errors), { errors });
    return new HedgerowError(this.code!, fieldSentence(errors, pathText), { errors });
  }
}

/**
 * Returns the checked edge for a value from a program. An edge that is already checked is returned
 * unchanged if the table's columns have not changed since. Throws the same errors as `readEdge`.
 */
export function checkEdge(edge: EdgeInput | CheckedEdge, table: EdgeTable): CheckedEdge {
  if (edge instanceof Edge) return edge.columns === table.columns ? edge : checkEdge(inputOf(edge, table), table);
  const faults = new Faults(NO_PLACE);
  const eventTs = takeSeconds(edge.event_ts, faults);
  const form = edge.areNumbers === true && table.kinds !== undefined ? { ...limitsOf(table), kinds: undefined } : table;
  const { members, refs, masks } = takeAny(edge.members, edge.roles, form, false, faults);
  const properties = edge.properties === undefined ? NO_PROPERTIES : takeProperties(edge.properties, table, faults);
  checkEnd(table.columns.end, eventTs, properties, faults);
  faults.throwIfAny();
  return new Edge(eventTs, members, refs, masks, properties, table.columns);
}

function limitsOf({ roles, maxMembers }: EdgeTable): { roles: RoleSet; maxMembers: number } {
  return { roles, maxMembers };
}

/**
 * Returns the edge of a named table with the numbers of its `refs`, which are in the same order.
 */
export function withNumbers(edge: CheckedEdge, numbers: readonly number[]): CheckedEdge {
  const { event_ts, masks, properties, columns } = edge;
  if (masks === undefined) {
    const members = [...numbers].sort((a, b) => a - b);
    return new Edge(event_ts, members, undefined, undefined, properties, columns);
  }
  const order = numbers.map((_, place) => place).sort((a, b) => numbers[a]! - numbers[b]!);
  const members = order.map((place) => numbers[place]!);
  const ordered = order.map((place) => masks[place]!);
  return new Edge(event_ts, members, undefined, ordered, properties, columns);
}

/**
 * Returns a checked edge as input, so that its columns are looked up again by name: a column may
 * have been renamed or dropped.
 */
function inputOf({ event_ts, members, refs, masks, properties }: CheckedEdge, table: EdgeTable): EdgeInput {
  // The object has no prototype because a column may be called `__proto__`.
  const values: Record<string, PropertyValue> = Object.create(null);
  for (const { name, value } of properties) values[name] = value;
  const given: readonly MemberInput[] = refs === undefined ? members : inputsOf(refs, table.kinds!);
  const roles = masks === undefined ? undefined : table.roles.listsOf(given, masks);
  return { event_ts, members: given, areNumbers: refs === undefined, roles, properties: values };
}

/**
 * Returns the checked edge for a JSON object. A name that is not a column is refused inside
 * `properties` and ignored at the top level. Properties that are null are left out. The array
 * `source.members` may become part of the edge, so the caller must not change it later. Throws
 * `invalid_input`, `empty_members`, `too_many_members` or `unknown_column`.
 */
export function readEdge(source: Record<string, unknown>, table: EdgeTable, place: Place): CheckedEdge {
  const faults = new Faults(place);
  const eventTs = readSeconds(source.event_ts, faults);
  const lists = table.roles.isEmpty ? undefined : roleLists(source, table.roles);
  const { members, refs, masks } = takeAny(source.members, lists, table, true, faults);
  let hasOthers = false;
  for (const name in source) {
    if (name === 'event_ts' || name === 'members' || name === 'table') continue;
    hasOthers = true;
    break;
  }
  const properties = hasOthers ? readProperties(source, table, faults) : NO_PROPERTIES;
  checkEnd(table.columns.end, eventTs, properties, faults);
  faults.throwIfAny();
  return new Edge(eventTs, members, refs, masks, properties, table.columns);
}

/**
 * Returns the lists of a request in `roles`, as rows have them, or at the top level, as the rows of
 * RETURN * have them; undefined if there are none.
 */
function roleLists(source: Record<string, unknown>, roles: RoleSet): unknown {
  let lists: Record<string, unknown> | undefined;
  for (const name in source) {
    if (roles.find(name) === undefined || isMissing(source[name])) continue;
    lists ??= Object.create(null) as Record<string, unknown>;
    lists[name] = source[name];
  }
  const given = source.roles;
  if (lists === undefined || roles.find('roles') !== undefined) return lists ?? given;
  return typeof given === 'object' && !Array.isArray(given) ? { ...given, ...lists } : lists;
}

/** The time and members of edges to remove, checked. */
export interface EdgeKey {
  readonly event_ts: number;
  /** A set in ascending order; empty if there are `refs`. */
  readonly members: number[];
  /** In a named table: the distinct members. */
  readonly refs: readonly NodeRef[] | undefined;
}

/**
 * Returns the time and members of an edge to remove. Throws `invalid_input`, `empty_members` or
 * `too_many_members`; the error lists every wrong field. `maxMembers` is not the limit for inserts:
 * that may have been higher before.
 */
export function readEdgeKey(
  source: Record<string, unknown>,
  table: Pick<EdgeTable, 'kinds'>,
  maxMembers: number,
  place: Place,
): { event_ts: number; members: MemberInput[] } {
  const faults = new Faults(place);
  const event_ts = readSeconds(source.event_ts, faults);
  // An edge is found by its set of members, whatever their roles.
  const form = { kinds: table.kinds, roles: undefined, maxMembers };
  const { members, refs } = takeAny(source.members, undefined, form, true, faults);
  faults.throwIfAny();
  return { event_ts, members: refs === undefined ? members : inputsOf(refs, table.kinds!) };
}

/** Returns members with their kinds, as a caller gives them. */
function inputsOf(refs: readonly NodeRef[], kinds: readonly MemberKind[]): KindAndKey[] {
  return refs.map(({ kind, key }) => ({ kind: kinds[kind]!.name, key }));
}

/** Returns the name in `source.table`, or undefined for the primary table. */
export function tableNameOf(source: Record<string, unknown>, place: Place): string | undefined {
  const name = source.table;
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string') return name;
  throw invalidFields([{ loc: [...place, 'table'], msg: `must be a string, not ${kindOf(name)}` }]);
}

/**
 * Returns the time and members of an edge that a program removes. Throws the same errors as
 * `readEdgeKey`.
 */
export function checkKey(
  eventTs: number,
  members: readonly MemberInput[],
  maxMembers: number,
  kinds?: readonly MemberKind[],
): EdgeKey {
  const faults = new Faults(NO_PLACE);
  const event_ts = takeSeconds(eventTs, faults);
  const taken = takeAny(members, undefined, { kinds, roles: undefined, maxMembers }, false, faults);
  faults.throwIfAny();
  return { event_ts, members: taken.members, refs: taken.refs };
}

/**
 * Returns what is wrong with a value that is not a time, as a phrase that follows the name of the
 * field.
 */
export function timeMessage(value: unknown): string {
  return typeof value === 'string' && value !== '' ? `${timeProblem(value)}; it must be ${TIME_FORM}` : TIME_MESSAGE;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Checks the seconds and returns them; -0 becomes 0. */
function takeSeconds(given: number, faults: Faults): number {
  if (!Number.isSafeInteger(given)) faults.add(['event_ts'], INTEGER);
  return given + 0;
}

function readSeconds(given: unknown, faults: Faults): number {
  const seconds = typeof given === 'string' ? isoSeconds(given) : given;
  if (Number.isSafeInteger(seconds)) return (seconds as number) + 0;
  faults.add(['event_ts'], isMissing(given) ? 'is missing' : timeMessage(given));
  return 0;
}

function takeProperties(
  given: Readonly<Record<string, PropertyValue | undefined>>,
  table: EdgeTable,
  faults: Faults,
): readonly CheckedProperty[] {
  const found: CheckedProperty[] = [];
  for (const name in given) {
    const value = given[name];
    if (value === undefined) continue;
    const column = table.columns.find(name);
    if (column === undefined) faults.add(['properties', name], unknownText(table), 'unknown_column');
    else if (value !== null) takeValue(column, value, [column.name], table.columns.end, found, faults);
    else if (column.default !== null) found.push(propertyOf(column, null));
  }
  const ordered = inOrder(found);
  for (let i = 1; i < ordered.length; i++) {
    if (ordered[i]!.column === ordered[i - 1]!.column)
      faults.add([ordered[i]!.name], 'is given twice (names are compared without case)');
  }
  return ordered;
}

/**
 * Returns the properties. If a column is given more than once, a top-level field with the exact
 * name of a built-in column takes precedence over other top-level fields, and these over the object
 * `properties`.
 */
function readProperties(source: Record<string, unknown>, table: EdgeTable, faults: Faults): readonly CheckedProperty[] {
  const found: CheckedProperty[] = [];
  const { columns } = table;
  for (const name in source) {
    if (builtInType(name) !== undefined)
      readValue(columns.find(name)!, source[name], [name], columns.end, found, faults);
  }
  const builtIn = found.splice(0);
  const inner = source.properties;
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    for (const name in inner) {
      const column = columns.find(name);
      const value = (inner as Record<string, unknown>)[name];
      if (column !== undefined) readValue(column, value, ['properties', name], columns.end, found, faults);
      else if (!faults.isFull) faults.add(['properties', name.slice(0, 100)], unknownText(table), 'unknown_column');
    }
  } else if (!isMissing(inner)) {
    faults.add(['properties'], `must be an object, not ${kindOf(inner)}`);
  }
  for (const name in source) {
    const column = RESERVED_NAMES.has(name) ? undefined : columns.find(name);
    if (column !== undefined) readValue(column, source[name], [name], columns.end, found, faults);
  }
  found.push(...builtIn);
  const ordered = inOrder(found);
  return ordered.filter(({ column }, index) => column !== ordered[index + 1]?.column);
}

function readValue(
  column: Column,
  value: unknown,
  path: Place,
  end: Column | undefined,
  into: CheckedProperty[],
  faults: Faults,
): void {
  if (!isMissing(value)) takeValue(column, value, path, end, into, faults);
}

/** Adds the value of a column to `into`. A value of the column `end` may be an ISO 8601 text. */
function takeValue(
  column: Column,
  value: unknown,
  path: Place,
  end: Column | undefined,
  into: CheckedProperty[],
  faults: Faults,
): void {
  if (column === end) {
    const seconds = typeof value === 'string' ? isoSeconds(value) : value;
    if (Number.isSafeInteger(seconds)) into.push(propertyOf(column, (seconds as number) + 0));
    else faults.add(path, `${timeMessage(value)} or null`);
    return;
  }
  const problem = ruleOf(column.type).problem(value);
  if (problem === undefined) into.push(propertyOf(column, value as PropertyValue));
  else faults.add(path, problem);
}

/** Checks that an interval does not end before it begins. */
function checkEnd(
  end: Column | undefined,
  eventTs: number,
  properties: readonly CheckedProperty[],
  faults: Faults,
): void {
  if (end === undefined) return;
  for (const { column, value } of properties) {
    if (column === end.id && typeof value === 'number' && value < eventTs)
      faults.add([end.name], `is ${value}, before event_ts, which is ${eventTs}; give a later time, or null`);
  }
}

function propertyOf({ id, name, type }: Column, value: PropertyValue): CheckedProperty {
  return { column: id, name, type, value };
}

/** Sorts by column id. Properties with the same id keep their order. */
function inOrder(found: CheckedProperty[]): CheckedProperty[] {
  return found.length > 1 ? found.sort((a, b) => a.column - b.column) : found;
}

function unknownText({ name }: EdgeTable): string {
  return `is not a column of table ${name}`;
}
