// Numbers the nodes of named tables for the picture, whose nodes are numbers.

import type { NodeNames } from '../node-names.ts';

/** A node as the service answers it: its key, and its kind if the table has several. */
export interface KeyedNode {
  readonly key: number | string;
  readonly kind?: string;
}

/**
 * The nodes of one picture. A number is its own number, a key gets a negative one, which no stored
 * node has.
 */
export class DrawnNodes {
  readonly #numbers = new Map<string, number>();
  readonly #keyed: KeyedNode[] = [];

  /** Returns the number of a member, or undefined if the value is not one. */
  numberOf(member: unknown): number | undefined {
    if (typeof member === 'number') return member;
    const keyed = typeof member === 'string' ? { key: member } : member;
    if (!isKeyed(keyed)) return undefined;
    const text = JSON.stringify([keyed.kind, keyed.key]);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      this.#keyed.push(keyed);
      number = -this.#keyed.length;
      this.#numbers.set(text, number);
    }
    return number;
  }

  /** Returns the node with a number that `numberOf` returned. */
  nodeOf(number: number): KeyedNode {
    return number < 0 ? this.#keyed[-1 - number]! : { key: number };
  }

  /** Returns `names` with the keys of the nodes that have one. */
  names(names: NodeNames): NodeNames {
    if (this.#keyed.length === 0) return names;
    return new Map([...names, ...this.#keyed.map(({ key }, at): [number, string] => [-1 - at, String(key)])]);
  }
}

function isKeyed(value: unknown): value is KeyedNode {
  if (typeof value !== 'object' || value === null) return false;
  const { key, kind } = value as Partial<KeyedNode>;
  return (typeof key === 'string' || typeof key === 'number') && (kind === undefined || typeof kind === 'string');
}
