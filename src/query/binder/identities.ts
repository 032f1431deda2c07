// Tells which bound expressions are the same, whatever their texts; linear in their size.

import type { BoundExpression } from './bound.ts';
import { partsOf } from './parts.ts';

/** Of one statement. */
export class Identities {
  readonly #numbers = new Map<string, number>();
  readonly #known = new Map<BoundExpression, number>();

  /** Equal for the same expressions only. */
  of(bound: BoundExpression): number {
    let number = this.#known.get(bound);
    if (number !== undefined) return number;
    const key = this.#keyOf(bound);
    number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    this.#known.set(bound, number);
    return number;
  }

  /** What an expression is made of, those inside it by their numbers. */
  #keyOf(bound: BoundExpression): string {
    let key = '';
    for (const [name, value] of Object.entries(bound) as [string, unknown][]) {
      if (name === 'text' || name === 'items') continue;
      if (name === 'field' || typeof value !== 'object' || value === null) key += `${name} ${JSON.stringify(value)} `;
    }
    // Lists may hold very many constants, which need no numbers of their own.
    for (const part of partsOf(bound))
      key += part.kind === 'constant' ? `=${part.type} ${constantKey(part.value)} ` : `#${this.of(part)} `;
    return key;
  }
}

/** Of a value that stands for itself: a number or a text, in the usual case. */
function constantKey(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
