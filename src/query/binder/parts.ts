// Lists and replaces the direct subexpressions of a bound expression, and lists the expressions of
// a MATCH. `partsOf` and `withParts` name every kind, so that the type checker reports a new kind
// that they lack.

import type { BoundExpression, BoundMatch } from './bound.ts';

export function partsOf(bound: BoundExpression): readonly BoundExpression[] {
  switch (bound.kind) {
    case 'compare':
    case 'arithmetic':
    case 'textMatch':
      return [bound.left, bound.right];
    case 'negate':
    case 'not':
    case 'isNull':
    case 'size':
    case 'time':
    case 'day':
    case 'date':
      return [bound.operand];
    case 'and':
    case 'or':
    case 'list':
      return bound.items;
    case 'in':
      return 'kind' in bound.items ? [bound.operand, bound.items] : [bound.operand, ...bound.items];
    case 'hasNode':
      return [bound.node];
    case 'node':
      return [bound.key];
    case 'overlaps':
    case 'follows':
      return [bound.width];
    case 'exists':
      return bound.where;
    case 'search':
    case 'score':
      return bound.fields;
    case 'constant':
    case 'parameter':
    case 'field':
    case 'row':
    case 'bucket':
    case 'shared':
    case 'aggregateValue':
    case 'keyValue':
    case 'itemValue':
      return [];
  }
}

/** Returns the expression with each part of `partsOf` replaced, except an IN's `BoundValues`. */
export function withParts(
  bound: BoundExpression,
  replaced: (part: BoundExpression) => BoundExpression,
): BoundExpression {
  switch (bound.kind) {
    case 'compare':
    case 'arithmetic':
    case 'textMatch':
      return { ...bound, left: replaced(bound.left), right: replaced(bound.right) };
    case 'negate':
    case 'not':
    case 'isNull':
    case 'size':
    case 'time':
    case 'day':
    case 'date':
      return { ...bound, operand: replaced(bound.operand) };
    case 'and':
    case 'or':
    case 'list':
      return { ...bound, items: bound.items.map(replaced) };
    case 'in':
      return 'kind' in bound.items
        ? { ...bound, operand: replaced(bound.operand) }
        : { ...bound, operand: replaced(bound.operand), items: bound.items.map(replaced) };
    case 'hasNode':
      return { ...bound, node: replaced(bound.node) };
    case 'node':
      return { ...bound, key: replaced(bound.key) };
    case 'overlaps':
    case 'follows':
      return { ...bound, width: replaced(bound.width) };
    case 'exists':
      return { ...bound, where: bound.where.map(replaced) };
    case 'search':
    case 'score':
      return bound;
    case 'constant':
    case 'parameter':
    case 'field':
    case 'row':
    case 'bucket':
    case 'shared':
    case 'aggregateValue':
    case 'keyValue':
    case 'itemValue':
      return bound;
  }
}

/** Yields all expressions that a MATCH evaluates. */
export function* expressionsOf({
  where,
  items,
  orderBy,
  grouping,
}: BoundMatch): Generator<BoundExpression, void, void> {
  yield* where;
  for (const { expression } of items) yield expression;
  for (const { expression } of orderBy) yield expression;
  if (grouping === undefined) return;
  yield* grouping.keys;
  for (const { operand } of grouping.aggregates) if (operand !== undefined) yield operand;
}

/**
 * Returns how many values of each row are put into tables or lists: keys of groups, values of
 * DISTINCT, and values of COLLECT.
 */
export function keptValuesOf({ items, distinct, grouping }: BoundMatch): number {
  const rowValues = distinct ? items.length : 0;
  if (grouping === undefined) return rowValues;
  const kept = grouping.aggregates.filter((aggregate) => aggregate.distinct || aggregate.function === 'COLLECT');
  return rowValues + grouping.keys.length + kept.length;
}
