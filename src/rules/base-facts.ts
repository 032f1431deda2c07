// Collects the facts that rules start from: rows of constants for each predicate, in any order and
// possibly repeated.

import type { Constant } from './rule.ts';

/** The rows of a predicate, one after the other in `values`. */
export interface GivenRelation {
  readonly arity: number;
  readonly values: Constant[];
  rows: number;
}

export class BaseFacts {
  readonly relations = new Map<string, GivenRelation>();

  /**
   * Adds a fact. `args` are finite numbers, texts or booleans, as many as in the predicate's first
   * fact.
   */
  add(pred: string, ...args: readonly Constant[]): void {
    let relation = this.relations.get(pred);
    if (relation === undefined) {
      relation = { arity: args.length, values: [], rows: 0 };
      this.relations.set(pred, relation);
    }
    if (relation.arity !== args.length)
      throw new RangeError(`${pred} has ${relation.arity} arguments, this fact has ${args.length}`);
    // -0 becomes 0.
    for (const value of args) relation.values.push(value === 0 ? 0 : value);
    relation.rows++;
  }
}
