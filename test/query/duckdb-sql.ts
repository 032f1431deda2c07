// Translates a MATCH into DuckDB SQL with the same meaning. The only code that it shares with
// src/query is the syntax tree. With the naive evaluator it shares the rules for unifying types.

import type {
  CallNode,
  ExistsNode,
  Expression,
  ItemNode,
  MatchNode,
  NameNode,
  PatternNode,
} from '../../src/query/parser/ast.ts';
import { itemNodes } from './list-nodes.ts';
import { findColumn, isAggregate, type NaiveTable, type ScalarType, type Type, unify } from './naive-expressions.ts';

/** SQL for one expression of a valid statement. */
interface Piece {
  readonly sql: string;
  readonly type: Type;
}

interface Names {
  readonly patterns: readonly { readonly alias: string; readonly table: NaiveTable }[];
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tables: readonly NaiveTable[];
  /** In ORDER BY, returns the item that has the given name. */
  readonly itemNamed?: (name: string) => Expression | undefined;
}

interface Item {
  readonly node: Expression;
  /** The name by which ORDER BY may refer to the item. */
  readonly name: string | undefined;
}

export interface MatchSql {
  /**
   * SQL that returns columns c0, c1, ... in the order of the items, then `rank`, which is equal for
   * rows that tie in ORDER BY. Rows are ordered by rank. SKIP and LIMIT are not applied.
   */
  readonly sql: string;
  readonly skip: number;
  readonly limit: number;
}

/**
 * Returns the SQL of a MATCH. Tables and columns keep their names in DuckDB, which also ignores
 * case in names.
 */
export function matchSql(
  node: MatchNode,
  tables: readonly NaiveTable[],
  parameters: Readonly<Record<string, unknown>>,
): MatchSql {
  const patterns = patternsOf(node.patterns, tables);
  const names: Names = { patterns, parameters, tables };
  const conditions = conditionsOf(node, names);
  const items = node.items === undefined ? allColumns(names) : node.items.map((item) => itemOf(item, names));
  const orders = node.orderBy.map(({ expression }) => orderSql(expression, items, names));
  const listed = [
    ...items.map((item, place) => `${sqlOf(item.node, names).sql} as c${place}`),
    ...orders.map((sql, place) => `${sql} as o${place}`),
  ];
  const inner = `select ${node.distinct ? 'distinct ' : ''}${listed.join(', ')} from ${fromSql(patterns, conditions)}${groupBy(items.map((item) => item.node))}`;
  const order = node.orderBy.map(
    ({ descending }, place) => `o${place} ${descending ? 'desc nulls first' : 'asc nulls last'}`,
  );
  const rank = order.length === 0 ? '1' : `dense_rank() over (order by ${order.join(', ')})`;
  const columns = items.map((_, place) => `c${place}`).join(', ');
  return {
    sql: `select ${columns}, ${rank} as rank from (${inner}) order by rank`,
    skip: countOf(node.skip, parameters) ?? 0,
    limit: countOf(node.limit, parameters) ?? Infinity,
  };
}

function patternsOf(nodes: readonly PatternNode[], tables: readonly NaiveTable[]): Names['patterns'] {
  return nodes.map((pattern) => ({
    alias: pattern.alias.name,
    table: tables.find((table) => table.name.toLowerCase() === pattern.table.name.toLowerCase())!,
  }));
}

/** Returns the conditions of MEMBERS and WHERE. */
function conditionsOf({ patterns, where }: Pick<MatchNode, 'patterns' | 'where'>, names: Names): string[] {
  const conditions = patterns.flatMap((pattern) => holdsAll(pattern.alias.name, pattern.members, names));
  return where === undefined ? conditions : [...conditions, castTo(sqlOf(where, names), 'boolean')];
}

function fromSql(patterns: Names['patterns'], conditions: readonly string[]): string {
  const from = patterns.map(({ alias, table }) => `"${table.name}" as ${quoted(alias)}`).join(', ');
  return from + (conditions.length === 0 ? '' : ` where ${conditions.map((one) => `(${one})`).join(' and ')}`);
}

function existsSql(node: ExistsNode, names: Names): Piece {
  const own = patternsOf(node.patterns, names.tables);
  const conditions = conditionsOf(node, { ...names, patterns: [...names.patterns, ...own] });
  return { sql: `exists (select 1 from ${fromSql(own, conditions)})`, type: 'boolean' };
}

function quoted(name: string): string {
  return `"${name}"`;
}

/**
 * Returns a GROUP BY by position, because DuckDB would take a literal in GROUP BY as a position
 * anyway.
 */
function groupBy(items: readonly Expression[]): string {
  if (!items.some(hasAggregate)) return '';
  const keys = items.flatMap((item, place) => (hasAggregate(item) ? [] : [place + 1]));
  return keys.length === 0 ? '' : ` group by ${keys.join(', ')}`;
}

function hasAggregate(node: Expression): boolean {
  if (isAggregate(node)) return true;
  switch (node.kind) {
    case 'list':
    case 'and':
    case 'or':
      return node.items.some(hasAggregate);
    case 'values':
      return false;
    case 'call':
      return node.args.some(hasAggregate);
    case 'not':
    case 'negate':
    case 'isNull':
      return hasAggregate(node.operand);
    case 'binary':
      return hasAggregate(node.left) || hasAggregate(node.right);
    case 'in':
      return hasAggregate(node.operand) || hasAggregate(node.list);
    case 'between':
      return [node.operand, node.low, node.high].some(hasAggregate);
    default:
      return false;
  }
}

function allColumns({ patterns }: Names): Item[] {
  const at = { start: 0, end: 0 };
  return patterns.flatMap(({ alias, table }) =>
    ['id', 'event_ts', 'members', ...(table.roles ?? []), ...table.columns.map((column) => column.name)].map(
      (name) => ({
        node: { kind: 'column', alias: { name: alias, ...at }, column: { name, ...at }, ...at } as const,
        name: patterns.length === 1 ? name : undefined,
      }),
    ),
  );
}

function itemOf({ expression, as }: ItemNode, names: Names): Item {
  if (as !== undefined || expression.kind !== 'column' || names.patterns.length > 1)
    return { node: expression, name: as?.name };
  return { node: expression, name: findColumn(names.patterns[0]!.table, expression.column.name)!.name };
}

/**
 * Returns the SQL of an ORDER BY term. A bare name refers to the returned item with exactly that
 * name or, if there is none, to an item whose name differs only in case.
 */
function orderSql(node: Expression, items: readonly Item[], names: Names): string {
  const itemNamed = (name: string) =>
    (items.find((item) => item.name === name) ?? items.find((item) => item.name?.toLowerCase() === name.toLowerCase()))
      ?.node;
  return sqlOf(node, { ...names, itemNamed }).sql;
}

function countOf(node: MatchNode['skip'], parameters: Names['parameters']): number | undefined {
  if (node === undefined) return undefined;
  return (node.kind === 'parameter' ? parameters[node.name] : node.value) as number;
}

/**
 * Returns the conditions for MEMBERS: the edge contains every listed node. No edge contains null.
 */
function holdsAll(alias: string, node: Expression | undefined, names: Names): string[] {
  if (node === undefined) return [];
  return itemsOf(node, names).map(
    (item) => `coalesce(list_contains(${quoted(alias)}.members, ${castTo(item, 'integer')}), false)`,
  );
}

const SQL_TYPES: Readonly<Record<ScalarType, string>> = {
  integer: 'BIGINT',
  real: 'DOUBLE',
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  null: 'BIGINT',
};

function sqlType(type: Type): string {
  if (type.startsWith('list of ')) return `${sqlType(type.slice('list of '.length) as Type)}[]`;
  return SQL_TYPES[type as ScalarType];
}

function castTo({ sql, type }: Piece, wanted: Type): string {
  return type === wanted ? sql : `cast(${sql} as ${sqlType(wanted)})`;
}

function sqlOf(node: Expression, names: Names): Piece {
  const of = (inner: Expression) => sqlOf(inner, names);
  const condition = (inner: Expression) => castTo(of(inner), 'boolean');
  switch (node.kind) {
    case 'literal':
      return valueSql(node.value, node.type);
    case 'parameter':
      return parameterSql(names.parameters[node.name]);
    case 'list':
    case 'values':
      return listSql(itemNodes(node).map(of));
    case 'name': {
      const item = names.itemNamed?.(node.name);
      if (item !== undefined) return sqlOf(item, { ...names, itemNamed: () => undefined });
      return rowSql(node, names);
    }
    case 'column': {
      const { alias, table } = patternOf(node.alias, names);
      const { name, type } = findColumn(table, node.column.name)!;
      return { sql: `${quoted(alias)}.${quoted(name)}`, type };
    }
    case 'call':
      return isAggregate(node) ? aggregateSql(node, names) : callSql(node, names);
    case 'and':
    case 'or':
      return { sql: `(${node.items.map(condition).join(` ${node.kind} `)})`, type: 'boolean' };
    case 'not':
      return { sql: `(not ${condition(node.operand)})`, type: 'boolean' };
    case 'negate': {
      const { sql, type } = of(node.operand);
      return { sql: `(-(${sql}))`, type };
    }
    case 'binary':
      return binarySql(node.operator, of(node.left), of(node.right));
    case 'in':
      return membershipSql(of(node.operand), node.list, names);
    case 'between': {
      const low = binarySql('>=', of(node.operand), of(node.low)).sql;
      return { sql: `(${low} and ${binarySql('<=', of(node.operand), of(node.high)).sql})`, type: 'boolean' };
    }
    case 'isNull': {
      const operand = of(node.operand);
      return { sql: operand.type === 'row' ? 'false' : `(${operand.sql} is null)`, type: 'boolean' };
    }
    case 'exists':
      return existsSql(node, names);
  }
}

function patternOf(alias: NameNode, { patterns }: Names) {
  return patterns.find((pattern) => pattern.alias.toLowerCase() === alias.name.toLowerCase())!;
}

function rowSql(node: NameNode, names: Names): Piece {
  const { alias, table } = patternOf(node, names);
  const field = (name: string) => `'${name}': ${quoted(alias)}.${quoted(name)}`;
  const { roles = [] } = table;
  const fields = [
    ...['id', 'event_ts', 'members'].map(field),
    ...(roles.length === 0 ? [] : [`'roles': {${roles.map(field).join(', ')}}`]),
    ...table.columns.map(({ name }) => field(name)),
  ];
  return { sql: `{${fields.join(', ')}}`, type: 'row' };
}

/**
 * Returns a value with its type written out. Without the type, DuckDB takes 1 as a 32-bit integer
 * and 0.5 as a decimal.
 */
function valueSql(value: unknown, type: ScalarType): Piece {
  if (value === null) return { sql: 'null', type: 'null' };
  if (type === 'text') return { sql: `'${(value as string).replaceAll("'", "''")}'`, type };
  if (type === 'boolean') return { sql: String(value), type };
  return { sql: `cast('${value}' as ${SQL_TYPES[type]})`, type };
}

function parameterSql(value: unknown): Piece {
  if (Array.isArray(value)) return listSql(value.map(parameterSql));
  return valueSql(value, scalarType(value));
}

function scalarType(value: unknown): ScalarType {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'real';
  return typeof value === 'string' ? 'text' : 'boolean';
}

function listSql(items: readonly Piece[]): Piece {
  const type = items.reduce<Type>((sofar, item) => unify(sofar, item.type)!, 'null');
  const texts = items.map((item) => castTo(item, type));
  return { sql: `cast([${texts.join(', ')}] as ${sqlType(type)}[])`, type: `list of ${type}` as Type };
}

/** Returns the items of a list that is written out or passed as a parameter. */
function itemsOf(node: Expression, names: Names): Piece[] {
  if (node.kind === 'list' || node.kind === 'values') return itemNodes(node).map((item) => sqlOf(item, names));
  if (node.kind !== 'parameter') throw new Error(`a list cannot be a ${node.kind}`);
  return (names.parameters[node.name] as unknown[]).map(parameterSql);
}

const TESTS: Readonly<Record<string, string>> = {
  CONTAINS: 'contains',
  'STARTS WITH': 'starts_with',
  'ENDS WITH': 'suffix',
};

function binarySql(operator: string, left: Piece, right: Piece): Piece {
  const test = TESTS[operator];
  // Operands are always cast: an operand that DuckDB knows to be null has no type, and these
  // functions also accept lists.
  if (test !== undefined)
    return { sql: `${test}(cast(${left.sql} as VARCHAR), cast(${right.sql} as VARCHAR))`, type: 'boolean' };
  const type = unify(left.type, right.type)!;
  const [a, b] = [castTo(left, type), castTo(right, type)];
  switch (operator) {
    case '+':
      return { sql: `(${a} ${type === 'text' ? '||' : '+'} ${b})`, type };
    case '-':
    case '*':
      return { sql: `(${a} ${operator} ${b})`, type };
    case '/':
      // In DuckDB, division by 0 gives infinity, but here it gives null.
      return { sql: type === 'real' ? `(${a} / nullif(${b}, 0))` : `(${a} // ${b})`, type };
    case '%':
      return { sql: type === 'real' ? `(${a} % nullif(${b}, 0))` : `(${a} % ${b})`, type };
    default:
      if (type.startsWith('list of ')) return { sql: sameSet(operator, a, b), type: 'boolean' };
      return { sql: `(${a} ${operator} ${b})`, type: 'boolean' };
  }
}

/**
 * Compares lists as sets: order and duplicates do not matter, and a null in either list counts as a
 * member.
 */
function sameSet(operator: string, a: string, b: string): string {
  const sorted = (list: string) => `list_sort(list_distinct(${list}))`;
  const hasNull = (list: string) => `len(list_filter(${list}, lambda item: item is null)) > 0`;
  return `(case when ${a} is null or ${b} is null then null when (${hasNull(a)}) <> (${hasNull(b)}) then ${operator === '<>'} else ${sorted(a)} ${operator} ${sorted(b)} end)`;
}

/** Returns the SQL of IN. IN [] is false even for null. */
function membershipSql(operand: Piece, list: Expression, names: Names): Piece {
  if (list.kind === 'column') {
    const members = sqlOf(list, names).sql;
    const wanted = castTo(operand, operand.type === 'real' ? 'real' : 'integer');
    return { sql: `list_contains(cast(${members} as ${sqlType(operand.type)}[]), ${wanted})`, type: 'boolean' };
  }
  const isNull = list.kind === 'parameter' ? names.parameters[list.name] === null : list.kind === 'literal';
  if (isNull) return { sql: 'cast(null as boolean)', type: 'boolean' };
  const equals = itemsOf(list, names).map((item) => binarySql('=', operand, item).sql);
  return { sql: equals.length === 0 ? 'false' : `(${equals.join(' or ')})`, type: 'boolean' };
}

function callSql(node: CallNode, names: Names): Piece {
  const pattern = (index: number) => patternOf(node.args[index] as NameNode & Expression, names);
  const nodes = (index: number) => {
    const argument = node.args[index]!;
    return argument.kind === 'column' ? sqlOf(argument, names).sql : column(index, 'members');
  };
  const column = (index: number, name: string) => `${quoted(pattern(index).alias)}.${name}`;
  switch (node.name.name.toLowerCase()) {
    case 'size': {
      const list = sqlOf(node.args[0]!, names);
      return { sql: list.type === 'null' ? 'cast(null as BIGINT)' : `len(${list.sql})`, type: 'integer' };
    }
    case 'bucket':
      return {
        sql: `cast(floor(${column(0, 'event_ts')} / ${pattern(0).table.bucketSeconds}) as BIGINT)`,
        type: 'integer',
      };
    case 'shared':
      return { sql: `len(list_intersect(${nodes(0)}, ${nodes(1)}))`, type: 'integer' };
    case 'intersects':
      return { sql: `list_has_any(${nodes(0)}, ${nodes(1)})`, type: 'boolean' };
    case 'holds': {
      const time = castTo(sqlOf(node.args[1]!, names), 'real');
      const [begin, end] = [column(0, 'event_ts'), column(0, 'end_ts')];
      return { sql: `(${begin} <= ${time} and (${end} is null or ${end} > ${time}))`, type: 'boolean' };
    }
    case 'during': {
      const ends = [0, 1].map((place) => column(place, pattern(place).table.intervals ? 'end_ts' : 'event_ts'));
      const inside = `${ends[1]} is null or (${ends[0]} is not null and ${ends[0]} <= ${ends[1]})`;
      return { sql: `(${column(1, 'event_ts')} <= ${column(0, 'event_ts')} and (${inside}))`, type: 'boolean' };
    }
    default: {
      const width = castTo(sqlOf(node.args[2]!, names), 'real');
      const difference = `(${column(0, 'event_ts')} - ${column(1, 'event_ts')})`;
      if (node.name.name.toLowerCase() === 'overlaps')
        return { sql: `(abs(${difference}) <= ${width})`, type: 'boolean' };
      // If the width is null, the result is null, whatever the order is.
      return {
        sql: `(case when ${width} is not null then ${difference} > 0 and ${difference} <= ${width} end)`,
        type: 'boolean',
      };
    }
  }
}

function aggregateSql(node: CallNode, names: Names): Piece {
  const name = node.name.name.toUpperCase();
  if (node.star) return { sql: 'count(*)', type: 'integer' };
  const { sql, type } = sqlOf(node.args[0]!, { ...names, itemNamed: () => undefined });
  const value = `${node.distinct ? 'distinct ' : ''}${sql}`;
  switch (name) {
    case 'COUNT':
      return { sql: type === 'row' && !node.distinct ? 'count(*)' : `count(${value})`, type: 'integer' };
    case 'COLLECT': {
      const list = `list(${value}) filter (${sql} is not null)`;
      return { sql: `coalesce(${list}, [])`, type: `list of ${type.startsWith('list') ? 'list' : type}` as Type };
    }
    case 'SUM':
      return { sql: type === 'real' ? `sum(${value})` : `cast(sum(${value}) as BIGINT)`, type };
    case 'AVG':
      return { sql: `avg(${value})`, type: type === 'null' ? 'null' : 'real' };
    default:
      return { sql: `${name.toLowerCase()}(${value})`, type };
  }
}
