// What an evaluation found: derived facts in order, each with its confidence and how it was
// derived.

import { compareTexts } from '../model/text-order.ts';
import type { Steps } from '../schedule/steps.ts';
import type { FactWorld } from './fact-world.ts';
import { GIVEN } from './relation.ts';
import type { CheckedRule, Constant } from './rule.ts';
import { rowsFrom, sortRows } from './sort-rows.ts';

/** A fact as it is written in an answer. */
export interface Fact {
  pred: string;
  args: Constant[];
}

export interface Derivation {
  rule: CheckedRule;
  /** The facts that the rule's positive atoms matched, in the order of its body. */
  premises: number[];
}

/** Facts that one step numbers: some tenths of a millisecond. */
const STEP_FACTS = 50_000;
/** A handle of a fact: its predicate's number times this, and its row. */
const ROWS = 2 ** 32;

export class Model {
  readonly #world: FactWorld;
  readonly #rules: readonly CheckedRule[];
  /** By predicate and row less those given: the fact's place in `derived`. */
  readonly #places: Int32Array[] = [];

  constructor(world: FactWorld, rules: readonly CheckedRule[]) {
    this.#world = world;
    this.#rules = rules;
  }

  /** How many facts were derived. */
  get count(): number {
    return this.#world.derived;
  }

  /**
   * Handles of the derived facts, by predicate (code points) and arguments (numbers, texts,
   * booleans).
   */
  *derived(): Steps<Float64Array> {
    const handles = new Float64Array(this.#world.derived);
    let at = 0;
    const predicates = this.#world.predicates.filter(({ relation, given }) => relation.count > given);
    predicates.sort((a, b) => compareTexts(a.relation.pred, b.relation.pred));
    for (const { relation, given, number } of predicates) {
      // Given facts come before all others.
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

  /** The place of a derived fact among all, from 0; asked for after `derived` has ended. */
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

  /** 0 to 1; 1 for given facts. */
  confidenceOf(fact: number): number {
    return this.#predicate(fact).relation.confidences[fact % ROWS]!;
  }

  /** The rule of `derivationOf`. */
  ruleOf(fact: number): CheckedRule | undefined {
    return this.#rules[this.#predicate(fact).relation.rules[fact % ROWS]!];
  }

  /** The derivation of the best confidence; undefined for a given fact. */
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

  /** The handle of a fact, given or derived. */
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
