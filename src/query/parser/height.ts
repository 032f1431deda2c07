// How high the tree of an expression is, measured without recursion.

import { MAX_HEIGHT } from '../limits.ts';
import type { Expression } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/** Throws `syntax_error` where an expression is too high for those who walk it. Linear in its size. */
export function checkHeight(expression: Expression, stream: TokenStream): void {
  let level: readonly Expression[] = [expression];
  for (let height = 1; level.length > 0; height++) {
    if (height > MAX_HEIGHT)
      throw stream.failAt(level[0]!.start, `operators stand in one another more than ${MAX_HEIGHT} deep.`);
    level = level.flatMap(partsOf);
  }
}

/** The expressions directly inside one. */
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
