// Collects the items of a list. The plain values of a long list are stored as values, not as nodes.
// A statement may contain some hundred thousand values, and the phases after the parser then
// process each such list as one constant.

import { LONG_LIST } from '../limits.ts';
import type { Expression, ListNode, LiteralNode, ValuesNode } from './ast.ts';

type PlainNode = LiteralNode & { readonly type: ValuesNode['type'] };

export class ListItems {
  /** All items if `#type` is undefined; otherwise empty. */
  #nodes: Expression[] = [];
  /** Set while the list is long and all its items are plain values of one type. */
  #type: ValuesNode['type'] | undefined;
  readonly #values: (number | string)[] = [];
  /** Offsets of the values: start and end of each. */
  readonly #places: number[] = [];

  get count(): number {
    return this.#type === undefined ? this.#nodes.length : this.#values.length;
  }

  add(item: Expression): void {
    if (this.#type === undefined) {
      this.#nodes.push(item);
      if (this.#nodes.length === LONG_LIST) this.#becomeLong();
    } else if (isPlain(item) && item.type === this.#type) this.#keep(item);
    else {
      this.#nodes = this.#asNodes(this.#type);
      this.#type = undefined;
      this.#nodes.push(item);
    }
  }

  /** Returns the node for the list, whose position is `start` to `end`. */
  node(start: number, end: number): ListNode | ValuesNode {
    return this.#type === undefined
      ? { kind: 'list', items: this.#nodes, start, end }
      : { kind: 'values', values: this.#values, type: this.#type, places: this.#places, start, end };
  }

  #becomeLong(): void {
    const [first] = this.#nodes;
    if (first === undefined || !isPlain(first)) return;
    for (const node of this.#nodes) if (!isPlain(node) || node.type !== first.type) return;
    this.#type = first.type;
    for (const node of this.#nodes) this.#keep(node as PlainNode);
    this.#nodes = [];
  }

  #keep({ value, start, end }: PlainNode): void {
    this.#values.push(value as number | string);
    this.#places.push(start, end);
  }

  #asNodes(type: ValuesNode['type']): LiteralNode[] {
    return this.#values.map((value, index) => ({
      kind: 'literal',
      value,
      type,
      start: this.#places[2 * index]!,
      end: this.#places[2 * index + 1]!,
    }));
  }
}

function isPlain(node: Expression): node is PlainNode {
  return node.kind === 'literal' && (node.type === 'integer' || node.type === 'real' || node.type === 'text');
}
