// The facts of one evaluation: a relation with its indexes for every predicate. All relations share
// one set of constants.

import type { Steps } from '../schedule/steps.ts';
import type { BaseFacts, GivenRelation } from './base-facts.ts';
import { ConstantSet } from './constant-set.ts';
import { Interner } from './interner.ts';
import { termsOf } from './join-order.ts';
import { GIVEN, Relation } from './relation.ts';
import { RowIndexes } from './row-index.ts';
import type { ParsedRule } from './rule.ts';
import type { RuleSet } from './rule-set.ts';
import { rowsFrom, sortRows } from './sort-rows.ts';

/** Number of values that one step loads. This takes about a millisecond. */
const LOAD_VALUES = 10_000;
/** Number of rules whose predicates one step defines. This takes about a millisecond. */
const RULES_A_STEP = 100;

export interface PredicateFacts {
  readonly relation: Relation;
  readonly indexes: RowIndexes;
  /** Index in `predicates`. */
  readonly number: number;
  /** Number of rows that were given. */
  given: number;
}

export class FactWorld {
  readonly interner: Interner;
  readonly predicates: PredicateFacts[] = [];
  readonly #byName = new Map<string, PredicateFacts>();
  /** Number of facts that rules derived. */
  derived = 0;

  private constructor(interner: Interner) {
    this.interner = interner;
  }

  /**
   * Loads the facts, sorted as in answers, so that the order in which they were added does not
   * matter. Throws `RangeError` if a fact has another number of arguments than its predicate has in
   * the rules.
   */
  static *load(set: RuleSet, base: BaseFacts): Steps<FactWorld> {
    const world = new FactWorld(yield* Interner.of(yield* allConstants(set, base)));
    const widths = premiseWidths(set.rules);
    for (const [index, rule] of set.rules.entries()) {
      world.#define(rule, widths);
      if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
    }
    for (const [pred, given] of base.relations) {
      const facts = world.#add(pred, given.arity, 0);
      if (facts.relation.arity !== given.arity)
        throw new RangeError(`${pred} has ${facts.relation.arity} arguments in the rules, ${given.arity} in the facts`);
      yield* world.#fill(facts, given);
    }
    return world;
  }

  /** Returns the facts of a predicate that occurs in a rule or a fact. */
  of(pred: string): PredicateFacts {
    return this.#byName.get(pred)!;
  }

  find(pred: string): PredicateFacts | undefined {
    return this.#byName.get(pred);
  }

  #define({ head, body }: ParsedRule, widths: ReadonlyMap<string, number>): void {
    for (const { pred, args } of [head, ...body.flatMap((one) => (one.kind === 'compare' ? [] : [one.atom]))])
      this.#add(pred, args.length, widths.get(pred) ?? 0);
  }

  #add(pred: string, arity: number, width: number): PredicateFacts {
    let facts = this.#byName.get(pred);
    if (facts === undefined) {
      const constants = this.interner.size;
      const relation = new Relation(pred, arity, constants, width);
      facts = { relation, indexes: new RowIndexes(relation, constants), number: this.predicates.length, given: 0 };
      this.#byName.set(pred, facts);
      this.predicates.push(facts);
    }
    return facts;
  }

  *#fill(facts: PredicateFacts, { arity, values, rows }: GivenRelation): Steps<void> {
    const columns = Array.from({ length: arity }, () => new Int32Array(rows));
    for (let at = 0; at < values.length; at++) {
      columns[at % arity]![Math.floor(at / arity)] = this.interner.numberOf(values[at]!);
      if (at % LOAD_VALUES === LOAD_VALUES - 1) yield;
    }
    const order = yield* sortRows(columns, rowsFrom(0, rows), this.interner.size);
    const { relation } = facts;
    const tuple = new Int32Array(arity);
    for (let at = 0; at < rows; at++) {
      for (let column = 0; column < arity; column++) tuple[column] = columns[column]![order[at]!]!;
      if (relation.needsRoom(1)) yield* relation.makeRoom(1);
      const row = relation.put(tuple);
      relation.confidences[row] = 1;
      relation.rules[row] = GIVEN;
      if (at % LOAD_VALUES === LOAD_VALUES - 1) yield;
    }
    facts.given = relation.count;
  }
}

function* allConstants(set: RuleSet, base: BaseFacts): Steps<ConstantSet> {
  const constants = new ConstantSet();
  for (const { values } of base.relations.values()) {
    for (let at = 0; at < values.length; at++) {
      constants.add(values[at]!);
      if (at % LOAD_VALUES === LOAD_VALUES - 1) yield;
    }
  }
  for (const [index, { head, body }] of set.rules.entries()) {
    for (const term of [...head.args, ...body.flatMap(termsOf)]) if ('constant' in term) constants.add(term.constant);
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
  }
  return constants;
}

/**
 * Returns for each predicate that rules derive the maximum number of positive atoms in one of these
 * rules.
 */
function premiseWidths(rules: readonly ParsedRule[]): Map<string, number> {
  const widths = new Map<string, number>();
  for (const { head, body } of rules) {
    const atoms = body.filter(({ kind }) => kind === 'atom').length;
    widths.set(head.pred, Math.max(atoms, widths.get(head.pred) ?? 0));
  }
  return widths;
}
