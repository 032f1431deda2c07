// Binds ORDER BY over rows or, with DISTINCT or groups, over the returned items.

import type { Expression, OrderNode } from '../parser/ast.ts';
import { shown } from '../shown.ts';
import type { BoundExpression, BoundItem, BoundOrder } from './bound.ts';
import { bindExpression } from './expressions.ts';
import { replaceLeaves } from './grouping.ts';
import type { Identities } from './identities.ts';
import type { Scope } from './scope.ts';

export class ReturnedItems {
  readonly #items: readonly BoundItem[];
  readonly #identities: Identities;
  #byName: ReadonlyMap<string, number> | undefined;
  #byIdentity: ReadonlyMap<number, number> | undefined;

  constructor(items: readonly BoundItem[], identities: Identities) {
    this.#items = items;
    this.#identities = identities;
  }

  /**
   * Binds one term of ORDER BY. `onlyItems` is true with DISTINCT or groups: rows can then be
   * ordered only by returned items.
   */
  order({ expression, descending }: OrderNode, scope: Scope, onlyItems: boolean): BoundOrder {
    const bound = this.#bind(expression, scope, onlyItems);
    if (bound.type === 'row' || bound.type === 'list')
      throw scope.error(
        expression,
        `rows are ordered by single values, and ${shown(bound.text)} is a whole ${bound.type}.`,
      );
    return { expression: bound, descending };
  }

  #bind(expression: Expression, scope: Scope, onlyItems: boolean): BoundExpression {
    const itemNamed = (name: string): BoundExpression | undefined => {
      this.#byName ??= placesByName(this.#items);
      const place = this.#byName.get(name) ?? this.#byName.get(name.toLowerCase());
      if (place === undefined) return undefined;
      return onlyItems ? this.#value(place) : this.#items[place]!.expression;
    };
    const bound = bindExpression(expression, scope.withItems(itemNamed));
    return onlyItems ? this.#overItems(bound, expression, scope) : bound;
  }

  #value(index: number): BoundExpression {
    const { type, text, isTime } = this.#items[index]!.expression;
    return { kind: 'itemValue', index, type, text, isTime };
  }

  #overItems(bound: BoundExpression, node: Expression, scope: Scope): BoundExpression {
    const places = this.#placesByIdentity();
    return replaceLeaves(
      bound,
      (part) => {
        const index = places.get(this.#identities.of(part));
        return index === undefined ? undefined : this.#value(index);
      },
      (part) => {
        throw scope.error(
          node,
          `with DISTINCT or groups only returned items can be ordered by, and ${shown(part.text)} is not one.`,
        );
      },
    );
  }

  #placesByIdentity(): ReadonlyMap<number, number> {
    if (this.#byIdentity === undefined) {
      const places = new Map<number, number>();
      for (const [place, { expression }] of this.#items.entries()) {
        const identity = this.#identities.of(expression);
        if (!places.has(identity)) places.set(identity, place);
      }
      this.#byIdentity = places;
    }
    return this.#byIdentity;
  }
}

/**
 * Returns the positions of items by their names as written. An item is also found by the lower-case
 * form of its name, unless another item has exactly that name.
 */
function placesByName(items: readonly BoundItem[]): ReadonlyMap<string, number> {
  const places = new Map(items.map(({ name }, place) => [name, place]));
  for (const [place, { name }] of items.entries()) {
    const lower = name.toLowerCase();
    if (!places.has(lower)) places.set(lower, place);
  }
  return places;
}
