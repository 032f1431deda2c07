// Lists the direct subexpressions of a bound expression.

import type { BoundExpression } from './bound.ts';

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
    case 'overlaps':
    case 'follows':
      return [bound.width];
    default:
      return [];
  }
}
