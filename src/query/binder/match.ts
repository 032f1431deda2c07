// Binds MATCH: patterns, conditions, items and their names, groups and order.

import { KEY_COLUMNS } from '../../model/columns.ts';
import { finish } from '../../schedule/steps.ts';
import type { ItemNode, LiteralNode, MatchNode, ParameterNode } from '../parser/ast.ts';
import { shownName } from '../shown.ts';
import type { BoundConstant, BoundExpression, BoundItem, BoundMatch, BoundValues } from './bound.ts';
import { conjuncts, InnerPatterns } from './exists.ts';
import { bindExpression, bindingCondition } from './expressions.ts';
import { Grouping } from './grouping.ts';
import { Identities } from './identities.ts';
import type { ParameterValues } from './parameters.ts';
import { bindPatterns, type Catalog } from './patterns.ts';
import { ReturnedItems } from './returned-items.ts';
import { nameOfField, Scope } from './scope.ts';

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
  const inner = new InnerPatterns(patterns, catalog);
  const rows = new Scope({
    text,
    patterns,
    parameters,
    inner,
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
    inner: inner.patterns,
    where,
    distinct: node.distinct,
    items: grouped,
    grouping: isGrouped ? { keys: grouping.keys, aggregates: grouping.aggregates } : undefined,
    orderBy,
    skip: bindCount(node.skip, rows, 'SKIP'),
    limit: bindCount(node.limit, rows, 'LIMIT'),
  };
}

/** Binds `RETURN *`: all columns of every pattern. */
function allColumns(scope: Scope): BoundItem[] {
  return scope.patterns.flatMap((pattern, place) => {
    const { roles, columns, isOfNodes } = pattern.table;
    const names = [...(isOfNodes ? [] : KEY_COLUMNS), ...roles.names, ...columns.columns.map((column) => column.name)];
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
  const name = nameOfField(field);
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
