// The result of an evaluation: the derived facts in order, each with its confidence and its
// derivation.

import { compareTexts } from '../model/text-order.ts';
import type { Steps } from '../schedule/steps.ts';
import type { FactWorld } from './fact-world.ts';
import { GIVEN } from './relation.ts';
import type { CheckedRule, Constant } from './rule.ts';
import { rowsFrom, sortRows } from './sort-rows.ts';

/** A fact as answers contain it. */
export interface Fact {
  pred: string;
  args: Constant[];
}

export interface Derivation {
  rule: CheckedRule;
  /**
   * Handles of the facts that matched the rule's positive atoms, in the order of the rule's body.
   */
  premises: number[];
}

/** Number of facts whose places one step records. This takes some tenths of a millisecond. */
const STEP_FACTS = 50_000;
/** The handle of a fact is the number of its predicate times this, plus its row. */
const ROWS = 2 ** 32;

export class Model {
  readonly #world: FactWorld;
  readonly #rules: readonly CheckedRule[];
  /**
   * Places of facts in the result of `derived`: by predicate, then by row, counted from the first
   * derived row.
   */
  readonly #places: Int32Array[] = [];

  constructor(world: FactWorld, rules: readonly CheckedRule[]) {
    this.#world = world;
    this.#rules = rules;
  }

  /** The number of derived facts. */
  get count(): number {
    return this.#world.derived;
  }

  /**
   * Returns the handles of the derived facts, ordered by predicate (by code points), then by
   * arguments (numbers, then texts, then booleans).
   */
  *derived(): Steps<Float64Array> {
    const handles = new Float64Array(this.#world.derived);
    let at = 0;
    const predicates = this.#world.predicates.filter(({ relation, given }) => relation.count > given);
    predicates.sort((a, b) => compareTexts(a.relation.pred, b.relation.pred));
    for (const { relation, given, number } of predicates) {
      // The given facts are in the first rows.
      const rows = rowsFrom(given, relation.count);
      yield;
      const sorted = yield* sortRows(relation.columns, rows, this.#world.interner.size);
      const places = new Int32Array(sorted.length);
      this.#places[number] = places;
      for (let place = 0; place < sorted.length; place++) {
        const row = sorted[place]!;
        places[row - given] = at;
        handles[at++] = number * ROWS + row;
        if (place % STEP_FACTS === STEP_FACTS - 1) yield;
      }
    }
    return handles;
  }

  /**
   * Returns the place of a derived fact in the result of `derived`, from 0. `derived` must have
   * been run to its end before.
   */
  placeOf(fact: number): number {
    const { number, given } = this.#predicate(fact);
    return this.#places[number]![(fact % ROWS) - given]!;
  }

  factOf(fact: number): Fact {
    const { relation } = this.#predicate(fact);
    const row = fact % ROWS;
    const { values } = this.#world.interner;
    return { pred: relation.pred, args: relation.columns.map((column) => values[column[row]!]!) };
  }

  /** Returns a number from 0 to 1, which is 1 for given facts. */
  confidenceOf(fact: number): number {
    return this.#predicate(fact).relation.confidences[fact % ROWS]!;
  }

  /** Returns the rule of the fact's derivation, or undefined for a given fact. */
  ruleOf(fact: number): CheckedRule | undefined {
    return this.#rules[this.#predicate(fact).relation.rules[fact % ROWS]!];
  }

  /** Returns the derivation with the best confidence, or undefined for a given fact. */
  derivationOf(fact: number): Derivation | undefined {
    const { relation } = this.#predicate(fact);
    const row = fact % ROWS;
    const number = relation.rules[row]!;
    if (number === GIVEN) return undefined;
    const rule = this.#rules[number]!;
    const premises: number[] = [];
    for (const condition of rule.body) {
      if (condition.kind !== 'atom') continue;
      const premise = relation.premises[row * relation.width + premises.length]!;
      premises.push(this.#world.of(condition.atom.pred).number * ROWS + premise);
    }
    return { rule, premises };
  }

  /** Returns the handle of a given or derived fact, or undefined if the fact does not hold. */
  find(pred: string, args: readonly Constant[]): number | undefined {
    const found = this.#world.find(pred);
    if (found === undefined || found.relation.arity !== args.length) return undefined;
    const tuple = Int32Array.from(args, (value) => this.#world.interner.numberOf(value));
    if (tuple.includes(-1)) return undefined;
    const row = found.relation.find(tuple);
    return row < 0 ? undefined : found.number * ROWS + row;
  }

  #predicate(fact: number) {
    return this.#world.predicates[Math.floor(fact / ROWS)]!;
  }
}
