// Assigns a number to each bound expression so that equal expressions get the same number, even if
// their source texts differ. The cost is linear in the size of the expressions.

import type { BoundExpression } from './bound.ts';
import { partsOf } from './parts.ts';

/** The numbers of the expressions in one statement. */
export class Identities {
  readonly #numbers = new Map<string, number>();
  readonly #known = new Map<BoundExpression, number>();

  /**
   * Returns the number of an expression. Two expressions have the same number if and only if they
   * are equal.
   */
  of(bound: BoundExpression): number {
    let number = this.#known.get(bound);
    if (number !== undefined) return number;
    const key = this.#keyOf(bound);
    number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    this.#known.set(bound, number);
    return number;
  }

  /**
   * Returns the structure of an expression as a string, in which subexpressions are replaced by
   * their numbers.
   */
  #keyOf(bound: BoundExpression): string {
    let key = '';
    for (const [name, value] of Object.entries(bound) as [string, unknown][]) {
      if (name === 'text' || name === 'items') continue;
      if (name === 'field' || typeof value !== 'object' || value === null) key += `${name} ${JSON.stringify(value)} `;
    }
    // The value of a constant is part of the key instead of a number, because lists may contain
    // very many constants.
    for (const part of partsOf(bound))
      key += part.kind === 'constant' ? `=${part.type} ${constantKey(part.value)} ` : `#${this.of(part)} `;
    return key;
  }
}

/** Returns the key of a constant, which is usually a number or a text. */
function constantKey(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
