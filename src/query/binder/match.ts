// Binds MATCH: patterns, conditions, items and their names, groups and order.

import type { Database, Table } from '../../engine/index.ts';
import { KEY_COLUMNS } from '../../model/columns.ts';
import { didYouMean } from '../../model/suggestions.ts';
import { finish } from '../../schedule/steps.ts';
import type { ItemNode, LiteralNode, MatchNode, NameNode, ParameterNode, PatternNode } from '../parser/ast.ts';
import { shown, shownName } from '../shown.ts';
import { errorAt } from '../syntax-error.ts';
import type {
  BoundConstant,
  BoundExpression,
  BoundItem,
  BoundMatch,
  BoundNode,
  BoundPattern,
  BoundValues,
} from './bound.ts';
import { bindExpression, bindingCondition, itemTypeOf } from './expressions.ts';
import { Grouping } from './grouping.ts';
import { Identities } from './identities.ts';
import { bindMemberList } from './nodes.ts';
import type { ParameterValues } from './parameters.ts';
import { ReturnedItems } from './returned-items.ts';
import { Scope } from './scope.ts';

/** The part of the database that the binder needs. */
export type Catalog = Pick<Database, 'table' | 'tables' | 'nodes'>;

/**
 * Returns the hyperedge table or node table of this name. Throws `table_not_found` with the
 * position and a suggestion.
 */
export function bindTable(catalog: Catalog, name: NameNode, text: string): Table {
  try {
    return catalog.table(name.name);
  } catch {
    const nodeTables = catalog.nodes.tables();
    const lower = name.name.toLowerCase();
    const found = nodeTables.find((one) => one.name.toLowerCase() === lower);
    if (found !== undefined) return found;
    const names = [...catalog.tables(), ...nodeTables].map((one) => one.name);
    throw errorAt(
      text,
      name.start,
      `there is no table ${shownName(name.name)}; SHOW TABLES lists them.${didYouMean(name.name, names)}`,
      undefined,
      'table_not_found',
    );
  }
}

export function bindMatch(node: MatchNode, text: string, catalog: Catalog, parameters: ParameterValues): BoundMatch {
  return finish(bindingMatch(node, text, catalog, parameters));
}

/** Does the same as `bindMatch`. Yields null between steps if there are many conditions. */
export function* bindingMatch(
  node: MatchNode,
  text: string,
  catalog: Catalog,
  parameters: ParameterValues,
): Generator<null, BoundMatch, void> {
  const patterns = bindPatterns(node.patterns, text, catalog, parameters);
  const rows = new Scope({
    text,
    patterns,
    parameters,
    noAggregates: 'aggregates are allowed in RETURN and ORDER BY, not in WHERE',
  });
  const where = node.where === undefined ? [] : conjuncts(yield* bindingCondition(node.where, rows, 'WHERE'));
  const identities = new Identities();
  const grouping = new Grouping(identities);
  const output = rows.with(grouping.bind, '');
  const items = node.items === undefined ? allColumns(rows) : bindItems(node.items, output);
  checkNames(items, node, rows);
  const isGrouped = grouping.aggregates.length > 0;
  const grouped = isGrouped ? grouping.split(items, node, output) : items;
  const returned = new ReturnedItems(items, identities);
  // If there are no groups, no aggregate is returned, so an aggregate in ORDER BY is an error.
  const ordered = isGrouped ? output : rows.with(undefined, 'an aggregate in ORDER BY must also be returned');
  const orderBy = node.orderBy.map((order) => returned.order(order, ordered, isGrouped || node.distinct));
  return {
    kind: 'match',
    patterns,
    where,
    distinct: node.distinct,
    items: grouped,
    grouping: isGrouped ? { keys: grouping.keys, aggregates: grouping.aggregates } : undefined,
    orderBy,
    skip: bindCount(node.skip, rows, 'SKIP'),
    limit: bindCount(node.limit, rows, 'LIMIT'),
  };
}

function bindPatterns(
  nodes: readonly PatternNode[],
  text: string,
  catalog: Catalog,
  parameters: ParameterValues,
): BoundPattern[] {
  const seen = new Set<string>();
  return nodes.map((node) => {
    const key = node.alias.name.toLowerCase();
    if (seen.has(key))
      throw errorAt(
        text,
        node.alias.start,
        `alias ${shown(node.alias.name)} occurs twice; take another name.`,
        undefined,
        'invalid_statement',
      );
    seen.add(key);
    const table = bindTable(catalog, node.table, text);
    return { alias: node.alias.name, table, members: bindMembers(node, table, text, parameters) };
  });
}

/** Binds the nodes of MEMBERS: integers that do not depend on columns. */
function bindMembers(
  node: PatternNode,
  table: Table,
  text: string,
  parameters: ParameterValues,
): BoundPattern['members'] {
  if (node.members === undefined) return undefined;
  const scope = new Scope({ text, patterns: [], parameters });
  if (table.isOfNodes)
    throw scope.error(node.members, `MEMBERS belongs to edges; the rows of ${table.name} are nodes.`);
  const { kinds } = table;
  if (kinds !== undefined) return bindKeys(node.members, table, kinds, scope);
  const bound = bindExpression(node.members, scope);
  if (bound.kind === 'parameter' && bound.type !== 'list')
    throw scope.error(node.members, `MEMBERS takes a list of node ids, and ${shown(bound.text)} is ${bound.type}.`);
  const items = bound.kind === 'list' ? bound.items : undefined;
  if (items?.length === 0 || (bound.kind === 'parameter' && bound.itemType === 'null'))
    throw scope.error(node.members, 'MEMBERS takes at least one node id.');
  if (itemTypeOf(bound) !== 'integer') throw scope.error(node.members, 'MEMBERS takes integers, the ids of nodes.');
  return items ?? (bound as BoundValues);
}

/** Binds the nodes of MEMBERS in a named table: keys. */
function bindKeys(
  node: NonNullable<PatternNode['members']>,
  table: Table,
  kinds: NonNullable<Table['kinds']>,
  scope: Scope,
): BoundPattern['members'] {
  const bound = bindMemberList(node, table, kinds, scope, 'number');
  if (bound.kind === 'list' ? bound.items.length === 0 : itemTypeOf(bound) === 'null')
    throw scope.error(node, 'MEMBERS takes at least one key.');
  return bound.kind === 'list' ? bound.items : (bound as BoundValues | BoundNode);
}

/** Splits a condition into the conditions that must all hold. */
export function conjuncts(condition: BoundExpression): BoundExpression[] {
  const all: BoundExpression[] = [];
  addConjuncts(condition, all);
  return all;
}

function addConjuncts(condition: BoundExpression, into: BoundExpression[]): void {
  if (condition.kind === 'and') for (const item of condition.items) addConjuncts(item, into);
  else into.push(condition);
}

/** Binds `RETURN *`: all columns of every pattern. */
function allColumns(scope: Scope): BoundItem[] {
  return scope.patterns.flatMap((pattern, place) => {
    const head = pattern.table.isOfNodes ? [] : KEY_COLUMNS;
    const names = [...head, ...pattern.table.columns.columns.map((column) => column.name)];
    return names.map((name) => {
      const field = scope.findField(place, name)!;
      const full = `${pattern.alias}.${name}`;
      const expression = scope.field(place, { name, start: 0, end: 0 }, { start: 0, end: 0 });
      return {
        name: scope.patterns.length === 1 ? name : full,
        expression: { ...expression, field, text: full },
      };
    });
  });
}

function bindItems(nodes: readonly ItemNode[], scope: Scope): BoundItem[] {
  return nodes.map((node) => {
    const expression = bindExpression(node.expression, scope);
    return { name: node.as?.name ?? itemName(expression, scope), expression };
  });
}

/**
 * Returns the name of an item without AS. A column has its own name (after its alias if there are
 * several patterns), a whole row has its alias, and any other item has its source text.
 */
function itemName(expression: BoundExpression, scope: Scope): string {
  if (expression.kind === 'row') return scope.patterns[expression.pattern]!.alias;
  if (expression.kind !== 'field') return expression.text;
  const { field, pattern } = expression;
  const name = field.kind === 'property' ? field.name : field.kind;
  return scope.patterns.length === 1 ? name : `${scope.patterns[pattern]!.alias}.${name}`;
}

function checkNames(items: readonly BoundItem[], node: MatchNode, scope: Scope): void {
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    if (seen.has(name))
      throw scope.error(
        node.items?.[index] ?? node,
        `two result columns are called ${shownName(name)}; name one with AS.`,
      );
    seen.add(name);
  }
}

/** Binds LIMIT or SKIP. The value of a parameter is checked when the statement runs. */
function bindCount(
  node: LiteralNode | ParameterNode | undefined,
  scope: Scope,
  clause: string,
): BoundConstant | BoundValues | undefined {
  if (node === undefined) return undefined;
  const bound = bindExpression(node, scope) as BoundConstant | BoundValues;
  if (bound.type !== 'integer') throw scope.error(node, `${clause} takes an integer of 0 or more.`);
  return bound;
}
