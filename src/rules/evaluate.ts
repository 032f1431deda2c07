// Derives all facts that follow from a set of rules, each with its best confidence and one
// derivation: semi-naive evaluation, stratum by stratum, round by round.
//
// All rules of a stratum can be evaluated together, because their negations refer only to earlier
// strata. Round 1 applies every rule of the stratum to all facts. Each later round looks only for
// derivations that use a row of the delta: the facts that the previous round added or improved. The
// stratum is finished when the delta is empty. For example, with the edges 1-2, 2-3 and 3-4:
//
//   path(X, Y) if edge(X, Y)                 round 1: path(1, 2), path(2, 3), path(3, 4)
//   path(X, Z) if path(X, Y), edge(Y, Z)     round 2: path(1, 3), path(2, 4)
//                                            round 3: path(1, 4);  round 4: nothing new
//
// A round sees only the facts that existed when it began. So the first derivation of a fact has the
// least depth, except where confidences make one derivation better than another.
//
// Source: S. Abiteboul, R. Hull, V. Vianu, Foundations of Databases, 1995, chapters 13 (semi-naive
// evaluation) and 15 (stratified negation).

import { refusal } from '../errors.ts';
import type { BaseFacts } from './base-facts.ts';
import { FactWorld, type PredicateFacts } from './fact-world.ts';
import { type Emit, Join, type Round } from './join.ts';
import { Model } from './model.ts';
import type { Relation } from './relation.ts';
import type { CheckedRule } from './rule.ts';
import { planRule, type RulePlan } from './rule-plan.ts';
import type { RuleSet } from './rule-set.ts';

export type { Derivation, Fact } from './model.ts';

import type { Steps } from '../schedule/steps.ts';

export { Model };

export interface EvaluateLimits {
  /** Maximum number of facts that rules may derive. */
  facts: number;
  /** Maximum number of rounds in one stratum. */
  rounds: number;
}

export const DEFAULT_LIMITS: EvaluateLimits = { facts: 10_000_000, rounds: 1_000_000 };

/** Number of rows that one step tries. This takes about a millisecond. */
const STEP_ROWS = 30_000;
/**
 * The costs of running a rule once (besides the rows that it tries), of planning it, and of a
 * round, each counted in tried rows.
 */
const RUN_ROWS = 300;
const PLAN_ROWS = 3000;
const ROUND_ROWS = 100;
/** What each predicate and each rule adds to the cost of a round, even if nothing is new for it. */
const PREDICATE_ROWS = 8;
const RULE_ROWS = 8;

/**
 * Applies all rules in `set`, even disabled ones, so the caller must remove those first. `base`
 * contains facts of any predicates; their confidence is 1. Yields about every 1 to 2 ms, or every
 * 10 ms when there are millions of facts. The result does not depend on the order of the facts and
 * rules. Throws `too_many_facts`.
 */
export function* evaluate(set: RuleSet, base: BaseFacts, limits: EvaluateLimits = DEFAULT_LIMITS): Steps<Model> {
  const world = yield* FactWorld.load(set, base);
  let left = STEP_ROWS;
  for (const rules of byStratum(set)) {
    if (rules.length > 0) left = yield* new StratumRun(world, rules, limits, left).run();
  }
  return new Model(world, set.rules);
}

function byStratum({ rules, strataCount }: RuleSet): NumberedRule[][] {
  const strata: NumberedRule[][] = Array.from({ length: strataCount }, () => []);
  for (const [number, rule] of rules.entries()) strata[rule.stratum]!.push({ rule, number });
  return strata;
}

const NOTHING = new Int32Array(0);

interface NumberedRule {
  rule: CheckedRule;
  number: number;
}

interface Progress {
  readonly facts: PredicateFacts;
  /** The rows that are new in this round are those from `from` up to `to`, exclusive. */
  from: number;
  to: number;
  /** Rows from before this round whose confidence or depth became better during it. */
  improved: number[];
  readonly isImproved: Set<number>;
  /** The rows that this round starts from: the new ones and the improved ones. */
  delta: Int32Array;
}

class StratumRun implements Round {
  readonly #world: FactWorld;
  readonly #rules: readonly NumberedRule[];
  readonly #limits: EvaluateLimits;
  /** The progress of each predicate that grows. */
  readonly #progress = new Map<string, Progress>();
  readonly #growing: ReadonlySet<string>;
  /**
   * True if no derivation can be better than an earlier one: all confidences are 1, and the
   * positive atoms match only given facts and facts of this stratum.
   */
  readonly #isFlat: boolean;
  readonly #plans = new Map<string, RulePlan>();
  /** Number of derived facts when the plans were last discarded. */
  #plannedFacts = 0;
  #round = 0;
  /** Rows that may be tried before the next yield. */
  #left: number;

  /** `left` is the number of rows that may be tried before the first yield. */
  constructor(world: FactWorld, rules: readonly NumberedRule[], limits: EvaluateLimits, left: number) {
    this.#world = world;
    this.#rules = rules;
    this.#limits = limits;
    this.#left = left;
    this.#growing = new Set(rules.map(({ rule }) => rule.head.pred));
    this.#isFlat = rules.every(
      ({ rule }) =>
        rule.confidence === 1 &&
        rule.body.every(
          (one) => one.kind !== 'atom' || this.#growing.has(one.atom.pred) || isGiven(world, one.atom.pred),
        ),
    );
    for (const pred of this.#growing) {
      const facts = world.of(pred);
      const { count } = facts.relation;
      const delta = new Int32Array(0);
      this.#progress.set(pred, { facts, from: count, to: count, improved: [], isImproved: new Set(), delta });
    }
  }

  from(relation: Relation): number {
    return this.#progress.get(relation.pred)?.from ?? relation.count;
  }

  to(relation: Relation): number {
    return this.#progress.get(relation.pred)?.to ?? relation.count;
  }

  /**
   * Derives the facts. Returns the number of rows that may still be tried before the next yield.
   */
  *run(): Steps<number> {
    if (this.#fills(this.#rules.length * RULE_ROWS)) yield;
    for (this.#round = 1; ; this.#round++) {
      if (this.#round > this.#limits.rounds) throw tooMuch(`${this.#limits.rounds} rounds`);
      if (this.#round > 1) {
        if (!this.#next()) return this.#left;
        for (const { facts } of this.#progress.values()) {
          yield* facts.indexes.update();
          if (this.#fills(PREDICATE_ROWS)) yield;
        }
      }
      for (const one of this.#rules) {
        if (this.#round === 1) yield* this.#apply(one, -1);
        else yield* this.#applyToDelta(one);
        if (this.#fills(RULE_ROWS)) yield;
      }
      if (this.#fills(ROUND_ROWS)) yield;
    }
  }

  /**
   * Counts work as tried rows. Returns true when the current step is full, so that the caller
   * yields.
   */
  #fills(rows: number): boolean {
    this.#left -= rows;
    if (this.#left > 0) return false;
    this.#left = STEP_ROWS;
    return true;
  }

  /**
   * Begins a round. Its delta consists of the facts that the last round added or improved. Returns
   * false if the delta is empty.
   */
  #next(): boolean {
    let some = false;
    for (const progress of this.#progress.values()) {
      const { count } = progress.facts.relation;
      progress.from = progress.to;
      progress.to = count;
      const { from, improved } = progress;
      if (count === from && improved.length === 0) {
        progress.delta = NOTHING;
        continue;
      }
      progress.delta = new Int32Array(count - from + improved.length);
      for (let row = from; row < count; row++) progress.delta[row - from] = row;
      progress.delta.set(improved, count - from);
      progress.improved = [];
      progress.isImproved.clear();
      some = true;
    }
    if (this.#world.derived > 2 * this.#plannedFacts) {
      this.#plans.clear();
      this.#plannedFacts = this.#world.derived;
    }
    return some;
  }

  *#applyToDelta(one: NumberedRule): Steps<void> {
    for (const [place, condition] of one.rule.body.entries()) {
      if (condition.kind !== 'atom') continue;
      const progress = this.#progress.get(condition.atom.pred);
      if (progress !== undefined && progress.delta.length > 0) yield* this.#apply(one, place);
    }
  }

  /**
   * Applies a rule. `place` is the position of the atom that is matched with the delta. If it is
   * -1, every atom is matched with all rows.
   */
  *#apply(one: NumberedRule, place: number): Steps<void> {
    const key = `${one.number} ${place}`;
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = yield* planRule(one.rule, place, this.#world, this.#growing);
      this.#plans.set(key, plan);
      if (this.#fills(PLAN_ROWS)) yield;
    }
    const { body } = one.rule;
    const first = body[place];
    const delta = first?.kind === 'atom' ? this.#progress.get(first.atom.pred)!.delta : new Int32Array(0);
    const emit = this.#isFlat ? this.#flatEmit(one, plan) : this.#emit(one, plan);
    const join = new Join(plan.levels, plan.registers, this.#world.interner, this, delta, emit);
    const { relation } = this.#world.of(one.rule.head.pred);
    if (this.#fills(RUN_ROWS)) yield;
    for (;;) {
      // Each tried row gives at most one fact.
      if (relation.needsRoom(this.#left)) yield* relation.makeRoom(this.#left);
      this.#left = join.run(this.#left);
      if (this.#left > 0) return;
      this.#left = STEP_ROWS;
      yield;
    }
  }

  /**
   * Returns an `Emit` that keeps the first derivation of each fact, because no later one is better.
   */
  #flatEmit({ rule, number }: NumberedRule, { head, premises }: RulePlan): Emit {
    const { relation } = this.#world.of(rule.head.pred);
    const tuple = new Int32Array(relation.arity);
    const depth = this.#round;
    return (registers, rows) => {
      for (let at = 0; at < tuple.length; at++) tuple[at] = registers[head[at]!]!;
      const before = relation.count;
      const row = relation.put(tuple);
      if (row < before) return;
      relation.confidences[row] = 1;
      relation.depths[row] = depth;
      relation.rules[row] = number;
      for (let at = 0, to = row * relation.width; at < premises.length; at++) {
        relation.premises[to + at] = rows[premises[at]!]!;
      }
      this.#count();
    };
  }

  /**
   * Returns an `Emit` that keeps the derivation with the best confidence and, among equally good
   * ones, the one with the least depth.
   */
  #emit({ rule, number }: NumberedRule, { head, premises, levels }: RulePlan): Emit {
    const progress = this.#progress.get(rule.head.pred)!;
    const { relation } = progress.facts;
    const tuple = new Int32Array(relation.arity);
    const sources = Array.from(premises, (level) => levels[level]!.relation!);
    return (registers, rows) => {
      let least = 1;
      let deepest = 0;
      for (let at = 0; at < sources.length; at++) {
        const row = rows[premises[at]!]!;
        const source = sources[at]!;
        if (source.confidences[row]! < least) least = source.confidences[row]!;
        if (source.depths[row]! > deepest) deepest = source.depths[row]!;
      }
      const confidence = rule.confidence * least;
      for (let at = 0; at < tuple.length; at++) tuple[at] = registers[head[at]!]!;
      const before = relation.count;
      const row = relation.put(tuple);
      if (row < before) {
        const known = relation.confidences[row]!;
        if (confidence < known || (confidence === known && deepest + 1 >= relation.depths[row]!)) return;
        if (row < progress.to) improve(progress, row);
      } else this.#count();
      relation.confidences[row] = confidence;
      relation.depths[row] = deepest + 1;
      relation.rules[row] = number;
      for (let at = 0, to = row * relation.width; at < premises.length; at++) {
        relation.premises[to + at] = rows[premises[at]!]!;
      }
    };
  }

  #count(): void {
    this.#world.derived++;
    if (this.#world.derived > this.#limits.facts) throw tooMuch(`${this.#limits.facts} facts`);
  }
}

function improve({ improved, isImproved }: Progress, row: number): void {
  if (isImproved.has(row)) return;
  isImproved.add(row);
  improved.push(row);
}

function isGiven(world: FactWorld, pred: string): boolean {
  const { relation, given } = world.of(pred);
  return relation.count === given;
}

function tooMuch(what: string) {
  return refusal(
    'too_many_facts',
    `The rules derive more than ${what}. Narrow the rules, or the edges they run over (top_k, a time window, nodes).`,
  );
}
