// Facts that rules start from: rows of constants by predicate, in any order, repeats allowed.

import type { Constant } from './rule.ts';

/** A predicate's rows, one after the other. */
export interface GivenRelation {
  readonly arity: number;
  readonly values: Constant[];
  rows: number;
}

export class BaseFacts {
  readonly relations = new Map<string, GivenRelation>();

  /** `args`: finite numbers, texts, booleans; as many as with the predicate's first fact. */
  add(pred: string, ...args: readonly Constant[]): void {
    let relation = this.relations.get(pred);
    if (relation === undefined) {
      relation = { arity: args.length, values: [], rows: 0 };
      this.relations.set(pred, relation);
    }
    if (relation.arity !== args.length)
      throw new RangeError(`${pred} has ${relation.arity} arguments, this fact has ${args.length}`);
    // -0 is 0.
    for (const value of args) relation.values.push(value === 0 ? 0 : value);
    relation.rows++;
  }
}
