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
import { type KindAndKey, type MemberKind, type NodeKey, type NodeRef, readRef, refText } from './node-refs.ts';

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
  /** Built-in columns and user columns by name. */
  properties?: Readonly<Record<string, PropertyValue | undefined>> | undefined;
}

/** A member as a caller gives it. */
export type MemberInput = NodeKey | KindAndKey;

/** The facts about a table that the check needs. */
export interface EdgeTable {
  readonly name: string;
  readonly columns: ColumnSet;
  readonly maxMembers: number;
  /** Of a named table: the kinds of its members. Undefined: members are plain numbers. */
  readonly kinds?: readonly MemberKind[] | undefined;
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
  /** In ascending order of column ids; each column occurs once. */
  readonly properties: readonly CheckedProperty[];
  /** The columns that the properties were checked against. */
  readonly columns: ColumnSet;

  constructor(
    eventTs: number,
    members: number[],
    refs: readonly NodeRef[] | undefined,
    properties: readonly CheckedProperty[],
    columns: ColumnSet,
  ) {
    this.event_ts = eventTs;
    this.members = members;
    this.refs = refs;
    this.properties = properties;
    this.columns = columns;
  }
}

/** An edge that may be stored in a table with these columns. */
export type CheckedEdge = Edge;

/** Only this many wrong fields are listed. */
const MOST_ERRORS = 20;

const INTEGER = 'must be an integer between -(2^53-1) and 2^53-1';
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
  const refs =
    table.kinds === undefined || edge.areNumbers === true ? undefined : takeRefs(edge.members, table, faults);
  const members = refs === undefined ? takeMembers(edge.members, table.maxMembers, false, faults) : [];
  const properties = edge.properties === undefined ? NO_PROPERTIES : takeProperties(edge.properties, table, faults);
  faults.throwIfAny();
  return new Edge(eventTs, members, refs, properties, table.columns);
}

/**
 * Returns the edge of a named table with the numbers of its members, a set in ascending order.
 */
export function withNumbers({ event_ts, properties, columns }: CheckedEdge, members: number[]): CheckedEdge {
  return new Edge(event_ts, members, undefined, properties, columns);
}

/**
 * Returns a checked edge as input, so that its columns are looked up again by name: a column may
 * have been renamed or dropped.
 */
function inputOf({ event_ts, members, refs, properties }: CheckedEdge, table: EdgeTable): EdgeInput {
  // The object has no prototype because a column may be called `__proto__`.
  const values: Record<string, PropertyValue> = Object.create(null);
  for (const { name, value } of properties) values[name] = value;
  if (refs === undefined) return { event_ts, members, areNumbers: true, properties: values };
  return { event_ts, members: inputsOf(refs, table.kinds!), properties: values };
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
  const refs = table.kinds === undefined ? undefined : takeRefs(source.members, table, faults);
  const members = refs === undefined ? takeMembers(source.members, table.maxMembers, true, faults) : [];
  let hasOthers = false;
  for (const name in source) {
    if (name === 'event_ts' || name === 'members' || name === 'table') continue;
    hasOthers = true;
    break;
  }
  const properties = hasOthers ? readProperties(source, table, faults) : NO_PROPERTIES;
  faults.throwIfAny();
  return new Edge(eventTs, members, refs, properties, table.columns);
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
  const refs =
    table.kinds === undefined ? undefined : takeRefs(source.members, { kinds: table.kinds, maxMembers }, faults);
  const members = refs === undefined ? takeMembers(source.members, maxMembers, true, faults) : [];
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
  const refs = kinds === undefined ? undefined : takeRefs(members, { kinds, maxMembers }, faults);
  const set = refs === undefined ? takeMembers(members, maxMembers, false, faults) : [];
  faults.throwIfAny();
  return { event_ts, members: set, refs };
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

/** Returns the distinct members of an edge of a named table. No meaning after a fault. */
function takeRefs(given: unknown, table: Pick<EdgeTable, 'kinds' | 'maxMembers'>, faults: Faults): NodeRef[] {
  const kinds = table.kinds!;
  if (!Array.isArray(given)) {
    const msg = isMissing(given) ? 'is missing' : `must be an array of keys, not ${kindOf(given)}`;
    faults.add(['members'], msg);
    return [];
  }
  if (given.length === 0) faults.add(['members'], 'must hold at least one node', 'empty_members');
  const refs: NodeRef[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < given.length && seen.size < MOST_COUNTED; i++) {
    const ref = readRef(given[i], kinds);
    if (typeof ref === 'string') {
      faults.add(['members', i], ref);
      if (faults.isFull) break;
    } else if (seen.size < seen.add(refText(ref)).size) refs.push(ref);
  }
  if (refs.length > table.maxMembers)
    faults.add(['members'], tooManyText(refs.length, table.maxMembers), 'too_many_members');
  return refs;
}

/**
 * The largest number of distinct members that are counted before a list is refused. No edge has
 * more than 255 members. A larger Set could take seconds to fill if the numbers were chosen to have
 * the same hash.
 */
const MOST_COUNTED = 4096;

/**
 * Returns the member set in ascending order without repeats. If `owned` is true and the array is
 * already such a set, the array itself is returned. The result has no meaning after a fault.
 */
function takeMembers(given: unknown, limit: number, owned: boolean, faults: Faults): number[] {
  if (!Array.isArray(given)) {
    const msg = isMissing(given) ? 'is missing' : `must be an array of integers, not ${kindOf(given)}`;
    faults.add(['members'], msg);
    return [];
  }
  const members = given as number[];
  if (members.length === 0) faults.add(['members'], 'must hold at least one node id', 'empty_members');
  let isAscending = true;
  let isWrong = false;
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    if (!Number.isSafeInteger(member)) {
      isWrong = true;
      faults.add(['members', i], INTEGER);
      if (faults.isFull) break;
    } else if (i > 0 && member <= members[i - 1]!) isAscending = false;
  }
  if (isWrong) return [];
  const set = isAscending ? (owned ? members : members.slice()) : sortedSet(members);
  // -0 becomes 0.
  for (let i = 0; i < set.length && set[i]! <= 0; i++) if (set[i] === 0) set[i] = 0;
  if (set.length > limit) faults.add(['members'], tooManyText(set.length, limit), 'too_many_members');
  return set;
}

/**
 * Lists up to this length are sorted by insertion. For three members this takes a sixth of the time
 * of `sort` or of a Set, and most edges have few members.
 */
const SHORT_LIST = 32;

/**
 * Returns the distinct numbers in ascending order. If a list has more than `MOST_COUNTED` distinct
 * numbers, only the first ones are returned.
 */
function sortedSet(members: readonly number[]): number[] {
  if (members.length > SHORT_LIST) return distinctNumbers(members, MOST_COUNTED).sort((a, b) => a - b);
  const set = members.slice();
  for (let i = 1; i < set.length; i++) {
    const member = set[i]!;
    let at = i;
    for (; at > 0 && set[at - 1]! > member; at--) set[at] = set[at - 1]!;
    set[at] = member;
  }
  let count = 1;
  for (let i = 1; i < set.length; i++) if (set[i] !== set[i - 1]) set[count++] = set[i]!;
  set.length = count;
  return set;
}

/** Returns the message about too many members, which follows the word `members`. */
export function tooManyText(count: number, limit: number): string {
  const counted = count === MOST_COUNTED ? `${MOST_COUNTED} or more` : count;
  return `holds ${counted} distinct node ids; at most ${limit} are accepted`;
}

/**
 * Returns the distinct numbers of a list in the order in which they first occur, up to `most`
 * numbers.
 */
export function distinctNumbers(numbers: readonly number[], most: number): number[] {
  const set = new Set<number>();
  for (const number of numbers) {
    set.add(number);
    if (set.size === most) break;
  }
  return [...set];
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
    else if (value !== null) takeValue(column, value, [column.name], found, faults);
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
    if (builtInType(name) !== undefined) readValue(columns.find(name)!, source[name], [name], found, faults);
  }
  const builtIn = found.splice(0);
  const inner = source.properties;
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    for (const name in inner) {
      const column = columns.find(name);
      const value = (inner as Record<string, unknown>)[name];
      if (column !== undefined) readValue(column, value, ['properties', name], found, faults);
      else if (!faults.isFull) faults.add(['properties', name.slice(0, 100)], unknownText(table), 'unknown_column');
    }
  } else if (!isMissing(inner)) {
    faults.add(['properties'], `must be an object, not ${kindOf(inner)}`);
  }
  for (const name in source) {
    const column = RESERVED_NAMES.has(name) ? undefined : columns.find(name);
    if (column !== undefined) readValue(column, source[name], [name], found, faults);
  }
  found.push(...builtIn);
  const ordered = inOrder(found);
  return ordered.filter(({ column }, index) => column !== ordered[index + 1]?.column);
}

function readValue(column: Column, value: unknown, path: Place, into: CheckedProperty[], faults: Faults): void {
  if (!isMissing(value)) takeValue(column, value, path, into, faults);
}

function takeValue(column: Column, value: unknown, path: Place, into: CheckedProperty[], faults: Faults): void {
  const problem = ruleOf(column.type).problem(value);
  if (problem === undefined) into.push(propertyOf(column, value as PropertyValue));
  else faults.add(path, problem);
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
