// Implements the meaning of one expression directly from the documented language: its type, and its
// value for one combination of rows.

import type { CallNode, Expression, NameNode } from '../../src/query/parser/ast.ts';
import { itemNodes } from './list-nodes.ts';
import { naiveExists } from './naive-exists.ts';
import { naiveScores, type TermOf } from './naive-search.ts';
import {
  aggregate,
  and,
  compare,
  computeIntegers,
  computeReals,
  identity,
  isIn,
  type NaiveValue,
  not,
  or,
  Refusal,
  refuse,
  textTest,
} from './naive-values.ts';

/** One edge as it is sent to clients, with columns in the table's order. */
export type NaiveRow = { readonly id: number; readonly event_ts: number; readonly members: readonly number[] } & {
  readonly [column: string]: NaiveValue;
};

export interface NaiveTable {
  readonly name: string;
  readonly bucketSeconds: number;
  /** Built-in and user columns in display order, without id, event_ts and members. */
  readonly columns: readonly { readonly name: string; readonly type: 'INTEGER' | 'REAL' | 'TEXT' | 'BOOLEAN' }[];
  /** Names of the roles; the rows of a table with roles have the field `roles`. */
  readonly roles?: readonly string[];
  readonly intervals: boolean;
  rows: NaiveRow[];
  /** The text index, if there is one. */
  readonly search?: { readonly columns: readonly string[]; readonly termOf: TermOf };
}

export type ScalarType = 'integer' | 'real' | 'text' | 'boolean' | 'null';
/** In a `list of null`, no item determines the type. */
export type Type = ScalarType | 'row' | `list of ${ScalarType | 'list' | 'row'}`;

/** One row for each pattern. */
export type Combination = readonly NaiveRow[];

/**
 * What an expression is evaluated on: a combination of rows and, in groups, all combinations in the
 * group.
 */
export interface Place {
  readonly rows: Combination;
  readonly group: readonly Combination[];
}

export interface Meaning {
  readonly type: Type;
  readonly value: (place: Place) => NaiveValue;
}

interface FoundSearch {
  readonly pattern: number;
  /** Returns the scores of the rows that match, by id. */
  readonly scores: () => ReadonlyMap<number, number>;
}

export interface Names {
  readonly patterns: readonly { readonly alias: string; readonly table: NaiveTable }[];
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly aggregates: boolean;
  /**
   * The searches of WHERE, which are collected here; score() needs one of its alias. Those inside
   * EXISTS are none of the WHERE around it.
   */
  readonly searches?: FoundSearch[] | undefined;
  /** All tables, where EXISTS is allowed: in WHERE. */
  readonly tables?: readonly NaiveTable[] | undefined;
  /** In ORDER BY, returns the meaning of the returned item that has the given name. */
  readonly itemNamed?: (name: string) => Meaning | undefined;
}

const NUMBERS: readonly Type[] = ['integer', 'real', 'null'];

export function unify(a: Type, b: Type): Type | undefined {
  if (a === b || b === 'null') return a;
  if (a === 'null') return b;
  if (NUMBERS.includes(a) && NUMBERS.includes(b)) return 'real';
  if (!a.startsWith('list of ') || !b.startsWith('list of ')) return undefined;
  const item = unify(itemOf(a), itemOf(b));
  return item && (`list of ${item}` as Type);
}

function itemOf(type: Type): Type {
  return type.slice('list of '.length) as Type;
}

export function isCondition(type: Type): boolean {
  return type === 'boolean' || type === 'null';
}

function isText(type: Type): boolean {
  return type === 'text' || type === 'null';
}

export function patternOf(names: Names, alias: NameNode): number {
  const index = names.patterns.findIndex((pattern) => pattern.alias.toLowerCase() === alias.name.toLowerCase());
  return index >= 0 ? index : refuse(`no alias ${alias.name}`);
}

export function meaningOf(node: Expression, names: Names): Meaning {
  const of = (inner: Expression) => meaningOf(inner, names);
  switch (node.kind) {
    case 'literal':
      return { type: node.type, value: () => node.value };
    case 'parameter':
      return parameter(node.name, names);
    case 'list':
    case 'values':
      return list(itemNodes(node).map(of));
    case 'name': {
      const item = names.itemNamed?.(node.name);
      if (item !== undefined) return item;
      const pattern = patternOf(names, node);
      return { type: 'row', value: ({ rows }) => rows[pattern]! };
    }
    case 'column':
      return column(patternOf(names, node.alias), node.column, names);
    case 'call':
      return call(node, names);
    case 'and':
    case 'or':
      return logic(node.kind === 'and' ? and : or, node.items.map(of));
    case 'not':
      return logic(([value]) => not(value!), [of(node.operand)]);
    case 'negate': {
      const operand = of(node.operand);
      if (!NUMBERS.includes(operand.type)) refuse('minus of no number');
      return { type: operand.type, value: (place) => negated(operand.value(place)) };
    }
    case 'binary':
      return binary(node.operator, of(node.left), of(node.right), node.left, node.right, names);
    case 'in':
      return membership(of(node.operand), of(node.list), node.operand, node.list, names);
    case 'between': {
      const low = binary('>=', of(node.operand), of(node.low), node.operand, node.low, names);
      const high = binary('<=', of(node.operand), of(node.high), node.operand, node.high, names);
      return { type: 'boolean', value: (place) => and([low.value(place), high.value(place)]) };
    }
    case 'isNull': {
      const operand = of(node.operand);
      return { type: 'boolean', value: (place) => operand.value(place) === null };
    }
    case 'exists':
      return naiveExists(node, names);
  }
}

function negated(value: NaiveValue): NaiveValue {
  return value === null ? null : 0 - (value as number);
}

function scalarType(value: unknown): ScalarType {
  if (value === null) return 'null';
  if (typeof value === 'number' && Number.isFinite(value)) return Number.isSafeInteger(value) ? 'integer' : 'real';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'boolean' : refuse('a parameter is no value');
}

function parameter(name: string, { parameters }: Names): Meaning {
  if (!Object.hasOwn(parameters, name) || parameters[name] === undefined) refuse(`$${name} is missing`);
  const value = parameters[name];
  if (!Array.isArray(value)) return { type: scalarType(value), value: () => value as NaiveValue };
  const type = value.reduce<Type>((sofar, item) => unify(sofar, scalarType(item)) ?? refuse('mixed list'), 'null');
  return { type: `list of ${type}` as Type, value: () => value };
}

function list(items: readonly Meaning[]): Meaning {
  let type: Type = 'null';
  for (const item of items) {
    if (item.type === 'row' || item.type.startsWith('list')) refuse('a list in a list');
    type = unify(type, item.type) ?? refuse('mixed list');
  }
  return { type: `list of ${type}` as Type, value: (place) => items.map((item) => item.value(place)) };
}

const TYPES = { INTEGER: 'integer', REAL: 'real', TEXT: 'text', BOOLEAN: 'boolean' } as const;

/**
 * Finds a column of a pattern by name, ignoring case. The returned `name` is the name as it is
 * displayed.
 */
export function findColumn(
  table: NaiveTable,
  name: string,
): { name: string; type: Type; isRole?: boolean } | undefined {
  const lower = name.toLowerCase();
  if (lower === 'id' || lower === 'event_ts') return { name: lower, type: 'integer' };
  if (lower === 'members') return { name: lower, type: 'list of integer' };
  const role = table.roles?.find((one) => one.toLowerCase() === lower);
  if (role !== undefined) return { name: role, type: 'list of integer', isRole: true };
  const found = table.columns.find((one) => one.name.toLowerCase() === lower);
  return found && { name: found.name, type: TYPES[found.type] };
}

function column(pattern: number, node: NameNode, names: Names): Meaning {
  const found = findColumn(names.patterns[pattern]!.table, node.name);
  if (found === undefined) throw new Refusal('unknown_column', `no column ${node.name}`);
  const value = (row: NaiveRow) => (found.isRole === true ? rolesOf(row)[found.name]! : row[found.name]!);
  return { type: found.type, value: ({ rows }) => value(rows[pattern]!) };
}

/** Returns the members of a row by role. */
export function rolesOf(row: NaiveRow): Readonly<Record<string, readonly number[]>> {
  return row.roles as unknown as Record<string, readonly number[]>;
}

function logic(join: (values: readonly NaiveValue[]) => boolean | null, items: readonly Meaning[]): Meaning {
  if (!items.every((item) => isCondition(item.type))) refuse('no condition');
  return { type: 'boolean', value: (place) => join(items.map((item) => item.value(place))) };
}

const COMPUTES = new Set(['+', '-', '*', '/', '%']);

function binary(operator: string, a: Meaning, b: Meaning, left: Expression, right: Expression, names: Names): Meaning {
  const both = (place: Place) => [a.value(place), b.value(place)] as const;
  if (operator === 'CONTAINS' || operator === 'STARTS WITH' || operator === 'ENDS WITH') {
    if (!isText(a.type) || !isText(b.type)) refuse(`${operator} of no text`);
    return { type: 'boolean', value: (place) => textTest(operator, ...both(place)) };
  }
  if (COMPUTES.has(operator)) return arithmetic(operator, a, b);
  const type = unify(a.type, b.type);
  if (type === undefined || type === 'row' || a.type === 'row' || b.type === 'row') refuse('compares across types');
  const isList = a.type.startsWith('list') || b.type.startsWith('list');
  if (isList && operator !== '=' && operator !== '<>') refuse('lists have no order');
  sameWidth(left, right, names);
  return { type: 'boolean', value: (place) => compare(operator, ...both(place)) };
}

function arithmetic(operator: string, a: Meaning, b: Meaning): Meaning {
  const type = unify(a.type, b.type);
  if (operator === '+' && type === 'text') {
    return {
      type,
      value: (place) => {
        const [x, y] = [a.value(place), b.value(place)];
        return x === null || y === null ? null : `${x}${y}`;
      },
    };
  }
  if (type === undefined || !NUMBERS.includes(type)) refuse('computes with no numbers');
  const compute = type === 'integer' ? computeIntegers : computeReals;
  return {
    type,
    value: (place) => {
      const [x, y] = [a.value(place), b.value(place)];
      return x === null || y === null ? null : compute(operator, x as number, y as number);
    },
  };
}

/** Refuses a comparison of buckets of different widths. */
function sameWidth(left: Expression, right: Expression, names: Names): void {
  const [a, b] = [widthOf(left, names), widthOf(right, names)];
  if (a !== undefined && b !== undefined && a !== b) refuse('buckets of two widths');
}

function widthOf(node: Expression, names: Names): number | undefined {
  if (node.kind !== 'call' || node.name.name.toLowerCase() !== 'bucket') return undefined;
  return names.patterns[patternOf(names, node.args[0] as NameNode & { kind: 'name' })]!.table.bucketSeconds;
}

function membership(operand: Meaning, of: Meaning, node: Expression, listNode: Expression, names: Names): Meaning {
  if (of.type === 'null') return { type: 'null', value: () => null };
  if (!of.type.startsWith('list of ')) refuse('IN no list');
  const isWritten =
    listNode.kind === 'list' ||
    listNode.kind === 'values' ||
    listNode.kind === 'parameter' ||
    listNode.kind === 'column';
  const isSingle = operand.type !== 'row' && !operand.type.startsWith('list');
  if (!isWritten || !isSingle || unify(operand.type, itemOf(of.type)) === undefined) refuse('IN across types');
  if (listNode.kind === 'list' || listNode.kind === 'values')
    for (const item of itemNodes(listNode)) sameWidth(node, item, names);
  return {
    type: 'boolean',
    value: (place) => isIn(operand.value(place), of.value(place) as readonly NaiveValue[]),
  };
}

const AGGREGATES = new Set(['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'COLLECT']);

export function isAggregate(node: Expression): boolean {
  return node.kind === 'call' && AGGREGATES.has(node.name.name.toUpperCase());
}

function call(node: CallNode, names: Names): Meaning {
  if (isAggregate(node)) return aggregateCall(node, names);
  const alias = (index: number): number => {
    const argument = node.args[index];
    return argument?.kind === 'name' ? patternOf(names, argument) : refuse('an alias is missing');
  };
  /** Returns the nodes of a side of shared(): all members of an alias, or those of a role. */
  const side = (index: number): Meaning['value'] => {
    const argument = node.args[index];
    if (argument?.kind !== 'column') {
      const pattern = alias(index);
      return ({ rows }) => rows[pattern]!.members;
    }
    const list = meaningOf(argument, names);
    if (list.type !== 'list of integer') refuse('no list of nodes');
    return list.value;
  };
  const plain = (count: number) => {
    if (node.star || node.distinct || node.args.length !== count) refuse('arguments');
  };
  switch (node.name.name.toLowerCase()) {
    case 'size': {
      plain(1);
      const operand = meaningOf(node.args[0]!, names);
      if (operand.type !== 'null' && !operand.type.startsWith('list')) refuse('size of no list');
      const count = (value: NaiveValue) => (value === null ? null : (value as readonly NaiveValue[]).length);
      return { type: 'integer', value: (place) => count(operand.value(place)) };
    }
    case 'bucket': {
      plain(1);
      const a = alias(0);
      const { bucketSeconds } = names.patterns[a]!.table;
      return { type: 'integer', value: ({ rows }) => Math.floor(rows[a]!.event_ts / bucketSeconds) };
    }
    case 'shared':
    case 'intersects': {
      plain(2);
      const [a, b] = [side(0), side(1)];
      const shared = (place: Place) => {
        const other = b(place) as readonly number[];
        return (a(place) as readonly number[]).filter((member) => other.includes(member)).length;
      };
      if (node.name.name.toLowerCase() === 'shared') return { type: 'integer', value: shared };
      return { type: 'boolean', value: (place) => shared(place) >= 1 };
    }
    case 'holds':
      plain(2);
      return holding(node, alias(0), names);
    case 'during': {
      plain(2);
      const [a, b] = [alias(0), alias(1)];
      return { type: 'boolean', value: ({ rows }) => isDuring(rows[a]!, rows[b]!) };
    }
    case 'search':
      plain(2);
      return searching(node, alias(0), names);
    case 'score':
      plain(1);
      return scoring(alias(0), names);
    case 'overlaps':
    case 'follows':
      plain(3);
      return nearness(node, alias(0), alias(1), names);
    default:
      return refuse('no such function');
  }
}

function searching(node: CallNode, pattern: number, names: Names): Meaning {
  const { table } = names.patterns[pattern]!;
  const { search } = table;
  if (search === undefined) return refuse('a table without a text index');
  const given = node.args[1]!;
  if (given.kind !== 'literal' && given.kind !== 'parameter') refuse('no written words');
  const query = meaningOf(given, names);
  if (query.type !== 'text') refuse('words are a text');
  let known: ReadonlyMap<number, number> | undefined;
  const scores = (): ReadonlyMap<number, number> => {
    const textsOf = (row: NaiveRow) => search.columns.map((name) => row[name] as string | null);
    const documents = table.rows.map((row) => ({ id: row.id, texts: textsOf(row) }));
    known ??= naiveScores(documents, query.value({ rows: [], group: [] }) as string, search.termOf);
    return known;
  };
  names.searches?.push({ pattern, scores });
  return { type: 'boolean', value: ({ rows }) => scores().has(rows[pattern]!.id) };
}

function scoring(a: number, { searches = [] }: Names): Meaning {
  const [search, other] = searches.filter(({ pattern }) => pattern === a);
  if (search === undefined || other !== undefined) return refuse('a score needs one search');
  return { type: 'real', value: ({ rows }) => search.scores().get(rows[a]!.id) ?? 0 };
}

function holding(node: CallNode, a: number, names: Names): Meaning {
  if (!names.patterns[a]!.table.intervals) refuse('a table without intervals');
  const time = meaningOf(node.args[1]!, names);
  if (time.type !== 'null' && !NUMBERS.includes(time.type)) refuse('a time is a number');
  return {
    type: time.type === 'null' ? 'null' : 'boolean',
    value: (place) => {
      const at = time.value(place) as number | null;
      const { event_ts, ...more } = place.rows[a]!;
      const end_ts = more.end_ts as number | null;
      return at === null ? null : event_ts <= at && (end_ts === null || at < end_ts);
    },
  };
}

/** Edges of tables without intervals end where they begin. */
function isDuring(inner: NaiveRow, outer: NaiveRow): boolean {
  const endOf = (row: NaiveRow) =>
    row.end_ts === undefined ? row.event_ts : ((row.end_ts as number | null) ?? Infinity);
  return outer.event_ts <= inner.event_ts && endOf(inner) <= endOf(outer);
}

function nearness(node: CallNode, a: number, b: number, names: Names): Meaning {
  const width = meaningOf(node.args[2]!, names);
  if (!NUMBERS.includes(width.type)) refuse('a width is a number');
  const isOverlap = node.name.name.toLowerCase() === 'overlaps';
  return {
    type: 'boolean',
    value: (place) => {
      const most = width.value(place) as number | null;
      if (most === null) return null;
      const difference = place.rows[a]!.event_ts - place.rows[b]!.event_ts;
      return isOverlap ? Math.abs(difference) <= most : difference > 0 && difference <= most;
    },
  };
}

function aggregateCall(node: CallNode, names: Names): Meaning {
  if (!names.aggregates) refuse('an aggregate may not stand here');
  const name = node.name.name.toUpperCase();
  if (node.star) return name === 'COUNT' ? { type: 'integer', value: ({ group }) => group.length } : refuse('*');
  if (node.args.length !== 1) refuse('one value');
  const operand = meaningOf(node.args[0]!, {
    patterns: names.patterns,
    parameters: names.parameters,
    aggregates: false,
    searches: names.searches,
  });
  const { type } = operand;
  const isSingle = type !== 'row' && !type.startsWith('list');
  if (type === 'row' && name !== 'COLLECT' && name !== 'COUNT') refuse('a whole row');
  if ((name === 'MIN' || name === 'MAX') && !isSingle) refuse('no order');
  if ((name === 'SUM' || name === 'AVG') && !NUMBERS.includes(type)) refuse('no numbers');
  return {
    type: typeOfAggregate(name, type),
    value: ({ group }) => {
      let values = group.map((rows) => operand.value({ rows, group: [] })).filter((value) => value !== null);
      if (node.distinct) values = [...new Map(values.map((value) => [identity(value), value])).values()];
      return aggregate(name, type === 'integer', values);
    },
  };
}

function typeOfAggregate(name: string, type: Type): Type {
  if (name === 'COUNT') return 'integer';
  if (name === 'COLLECT') return `list of ${type.startsWith('list') ? 'list' : type}` as Type;
  return name === 'AVG' && type !== 'null' ? 'real' : type;
}
