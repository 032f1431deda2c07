// Evaluates a MATCH over plain arrays of rows: nested loops over every combination. It shares only
// the syntax tree with src/query.

import type { CallNode, Expression, ItemNode, MatchNode } from '../../src/query/parser/ast.ts';
import { membersTest, naivePatterns } from './naive-exists.ts';
import {
  type Combination,
  findColumn,
  isAggregate,
  isCondition,
  type Meaning,
  meaningOf,
  type NaiveRow,
  type NaiveTable,
  type Names,
  type Place,
} from './naive-expressions.ts';
import { identity, type NaiveValue, orderOf, refuse } from './naive-values.ts';

export interface NaiveEntry {
  readonly values: readonly NaiveValue[];
  /** The ORDER BY keys. */
  readonly order: readonly NaiveValue[];
}

export interface NaiveResult {
  readonly columns: readonly string[];
  /**
   * All rows in order, before SKIP and LIMIT. It is not specified which of several tied rows SKIP
   * and LIMIT select.
   */
  readonly entries: readonly NaiveEntry[];
  /** Whether two entries may swap places because their ORDER BY keys are equal. */
  readonly tied: (a: NaiveEntry, b: NaiveEntry) => boolean;
  readonly skip: number;
  readonly limit: number;
}

interface Item {
  readonly name: string;
  readonly node: Expression;
  readonly meaning: Meaning;
}

/** Evaluates a MATCH. Throws `Refusal` if the statement must be refused. */
export function naiveMatch(
  node: MatchNode,
  text: string,
  tables: readonly NaiveTable[],
  parameters: Readonly<Record<string, unknown>>,
): NaiveResult {
  const names = namesOf(node, tables, parameters);
  const holds = node.patterns.map((pattern) => membersTest(pattern.members, parameters));
  const where = node.where === undefined ? undefined : meaningOf(node.where, { ...names, tables });
  if (where !== undefined && !isCondition(where.type)) refuse('WHERE is no condition');
  const items = itemsOf(node, text, { ...names, aggregates: true });
  const isGrouped = items.some((item) => hasAggregate(item.node));
  if (isGrouped) checkBeside(items);
  const orders = node.orderBy.map(({ expression }) => orderMeaning(expression, items, node, names, isGrouped));
  const skip = countOf(node.skip, names) ?? 0;
  const limit = countOf(node.limit, names) ?? Infinity;
  const found =
    limit === 0
      ? []
      : combinations(names, holds).filter((rows) => where === undefined || where.value({ rows, group: [] }) === true);
  const places = limit === 0 ? [] : placesOf(found, items, isGrouped);
  let entries = places.map((place) => entryOf(place, items, orders));
  if (node.distinct)
    entries = [
      ...new Map(entries.map((entry) => [identity(entry.values), entry] as const).reverse()).values(),
    ].reverse();
  const compare = comparing(node.orderBy.map((order) => order.descending));
  entries.sort(compare);
  return { columns: items.map((item) => item.name), entries, tied: (a, b) => compare(a, b) === 0, skip, limit };
}

function namesOf(node: MatchNode, tables: readonly NaiveTable[], parameters: Names['parameters']): Names {
  return { patterns: naivePatterns(node.patterns, tables), parameters, aggregates: false, searches: [] };
}

function combinations({ patterns }: Names, holds: readonly ((row: NaiveRow) => boolean)[]): Combination[] {
  let all: Combination[] = [[]];
  for (const [index, { table }] of patterns.entries()) {
    const rows = table.rows.filter(holds[index]!);
    all = all.flatMap((before) => rows.map((row) => [...before, row]));
  }
  return all;
}

function itemsOf(node: MatchNode, text: string, names: Names): Item[] {
  const items = node.items === undefined ? allColumns(names) : node.items.map((item) => itemOf(item, text, names));
  if (new Set(items.map((item) => item.name)).size < items.length) refuse('two result columns of one name');
  return items;
}

function allColumns(names: Names): Item[] {
  return names.patterns.flatMap(({ alias, table }) =>
    ['id', 'event_ts', 'members', ...(table.roles ?? []), ...table.columns.map((column) => column.name)].map((name) => {
      const at = { start: 0, end: 0 };
      const node = { kind: 'column', alias: { name: alias, ...at }, column: { name, ...at }, ...at } as const;
      return { name: names.patterns.length === 1 ? name : `${alias}.${name}`, node, meaning: meaningOf(node, names) };
    }),
  );
}

function itemOf(item: ItemNode, text: string, names: Names): Item {
  const { expression } = item;
  const meaning = meaningOf(expression, names);
  return { name: item.as?.name ?? nameOf(expression, text, names), node: expression, meaning };
}

function nameOf(node: Expression, text: string, names: Names): string {
  const pattern = (alias: string) => names.patterns.find((one) => one.alias.toLowerCase() === alias.toLowerCase())!;
  if (node.kind === 'name') return pattern(node.name).alias;
  if (node.kind !== 'column') return text.slice(node.start, node.end);
  const { alias, table } = pattern(node.alias.name);
  const { name } = findColumn(table, node.column.name)!;
  return names.patterns.length === 1 ? name : `${alias}.${name}`;
}

/** Returns the direct subexpressions of an expression. */
function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'list':
    case 'and':
    case 'or':
      return node.items;
    case 'call':
      return node.args;
    case 'not':
    case 'negate':
    case 'isNull':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'in':
      return [node.operand, node.list];
    case 'between':
      return [node.operand, node.low, node.high];
    default:
      return [];
  }
}

function hasAggregate(node: Expression): boolean {
  return isAggregate(node) || partsOf(node).some(hasAggregate);
}

/**
 * Returns a text that is equal for expressions that differ only in positions and in the case of
 * names. A row is never null, so COUNT(alias) is COUNT(*).
 */
function shape(node: Expression): string {
  return JSON.stringify(node, function (this: { kind?: string }, key: string, value: unknown) {
    if (key === 'start' || key === 'end') return undefined;
    if (isCountOfRows(value)) return { ...value, args: [], star: true };
    return key === 'name' && typeof value === 'string' && this.kind !== 'parameter' ? value.toLowerCase() : value;
  });
}

function isCountOfRows(value: unknown): value is CallNode {
  const node = value as CallNode | null;
  if (node?.kind !== 'call' || node.name.name.toUpperCase() !== 'COUNT') return false;
  return !node.distinct && node.args.length === 1 && node.args[0]!.kind === 'name';
}

/**
 * Returns whether an expression consists of constants, the `known` expressions and, if
 * `aggregates`, aggregates.
 */
function madeOf(node: Expression, known: ReadonlySet<string>, aggregates: boolean): boolean {
  if (known.has(shape(node))) return true;
  if (isAggregate(node)) return aggregates;
  if (node.kind === 'name' || node.kind === 'column') return false;
  const isOfRows = node.kind === 'call' && node.name.name.toLowerCase() !== 'size';
  return !isOfRows && partsOf(node).every((part) => madeOf(part, known, aggregates));
}

/** Refuses an item that does not consist of group keys, constants and aggregates. */
function checkBeside(items: readonly Item[]): void {
  const keys = new Set(items.filter((item) => !hasAggregate(item.node)).map((item) => shape(item.node)));
  if (!items.every((item) => madeOf(item.node, keys, true))) refuse('stands beside an aggregate');
}

function orderMeaning(
  node: Expression,
  items: readonly Item[],
  match: MatchNode,
  names: Names,
  isGrouped: boolean,
): Meaning {
  const named = (name: string) => itemNamed(items, name)?.meaning;
  const meaning = meaningOf(node, { ...names, aggregates: isGrouped, itemNamed: named });
  if (meaning.type === 'row' || meaning.type.startsWith('list')) refuse('ordered by no single value');
  if (isGrouped || match.distinct) {
    const byName = items.map((item) => shape({ kind: 'name', name: item.name, start: 0, end: 0 }));
    const known = new Set([...items.map((item) => shape(item.node)), ...byName]);
    if (!madeOf(node, known, false)) refuse('ordered by what is not returned');
  }
  return meaning;
}

/**
 * Returns the item with exactly that name or, if there is none, an item whose name differs only in
 * case.
 */
function itemNamed(items: readonly Item[], name: string): Item | undefined {
  return (
    items.find((item) => item.name === name) ?? items.find((item) => item.name.toLowerCase() === name.toLowerCase())
  );
}

function countOf(node: Expression | undefined, names: Names): number | undefined {
  if (node === undefined) return undefined;
  const meaning = meaningOf(node, { ...names, patterns: [] });
  const value = meaning.value({ rows: [], group: [] }) as number;
  return meaning.type === 'integer' && value >= 0 ? value : refuse('no count');
}

function placesOf(found: readonly Combination[], items: readonly Item[], isGrouped: boolean): Place[] {
  if (!isGrouped) return found.map((rows) => ({ rows, group: [] }));
  const keys = items.filter((item) => !hasAggregate(item.node));
  if (keys.length === 0) return [{ rows: found[0] ?? [], group: found }];
  const groups = new Map<string, Combination[]>();
  for (const rows of found) {
    const key = identity(keys.map((item) => item.meaning.value({ rows, group: [] })));
    groups.set(key, [...(groups.get(key) ?? []), rows]);
  }
  return [...groups.values()].map((group) => ({ rows: group[0]!, group }));
}

function entryOf(place: Place, items: readonly Item[], orders: readonly Meaning[]): NaiveEntry {
  return {
    values: items.map((item) => item.meaning.value(place)),
    order: orders.map((order) => order.value(place)),
  };
}

/** Returns a comparison with nulls last when ascending and first when descending. */
function comparing(descending: readonly boolean[]): (a: NaiveEntry, b: NaiveEntry) => number {
  return (a, b) => {
    for (const [index, down] of descending.entries()) {
      const [x, y] = [a.order[index]!, b.order[index]!];
      const order = x === null || y === null ? Number(x === null) - Number(y === null) : orderOf(x, y);
      if (order !== 0) return down ? -order : order;
    }
    return 0;
  };
}
