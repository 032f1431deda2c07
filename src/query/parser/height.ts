// Limits the height of expression trees, because later phases process them recursively.

import { MAX_HEIGHT } from '../limits.ts';
import type { Expression } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/**
 * Throws `syntax_error` if an expression is too high for recursive processing. The time is linear
 * in the size of the expression, and the recursion is no deeper than the limit.
 */
export function checkHeight(expression: Expression, stream: TokenStream): void {
  const above = firstAbove(expression, MAX_HEIGHT);
  if (above !== undefined) throw stream.failAt(above.start, `operators are nested more than ${MAX_HEIGHT} deep.`);
}

/**
 * Returns the first expression that is `left` levels below `node`, or undefined if there is none.
 */
function firstAbove(node: Expression, left: number): Expression | undefined {
  if (left === 0) return node;
  switch (node.kind) {
    case 'list':
    case 'and':
    case 'or':
      return firstAboveAll(node.items, left - 1);
    case 'call':
      return firstAboveAll(node.args, left - 1);
    case 'not':
    case 'negate':
    case 'isNull':
      return firstAbove(node.operand, left - 1);
    case 'binary':
      return firstAbove(node.left, left - 1) ?? firstAbove(node.right, left - 1);
    case 'in':
      return firstAbove(node.operand, left - 1) ?? firstAbove(node.list, left - 1);
    case 'exists':
      return node.where && firstAbove(node.where, left - 1);
    case 'between':
      return firstAbove(node.operand, left - 1) ?? firstAbove(node.low, left - 1) ?? firstAbove(node.high, left - 1);
    default:
      return undefined;
  }
}

function firstAboveAll(nodes: readonly Expression[], left: number): Expression | undefined {
  for (const node of nodes) {
    const above = firstAbove(node, left);
    if (above !== undefined) return above;
  }
  return undefined;
}
