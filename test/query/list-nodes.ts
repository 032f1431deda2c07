// Returns the items of a literal list, long or short, as the reference evaluators read them.

import type { Expression, ListNode, LiteralNode, ValuesNode } from '../../src/query/parser/ast.ts';

export function itemNodes(node: ListNode | ValuesNode): readonly Expression[] {
  if (node.kind === 'list') return node.items;
  const { values, type, places } = node;
  return values.map(
    (value, index): LiteralNode => ({
      kind: 'literal',
      value,
      type,
      start: places[2 * index]!,
      end: places[2 * index + 1]!,
    }),
  );
}
