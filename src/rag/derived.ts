// What rules derive from edges, as answers tell it: numbered facts and rules, and a proof of each fact.

import { type HedgerowError, refusal } from '../errors.ts';
import {
  evaluate,
  factText,
  hedgesOf,
  type Model,
  type Proof,
  type ProofTags,
  proofFacts,
  proofSteps,
  type RuleSet,
  ruleText,
} from '../rules/index.ts';
import type { RuleFact, StepFact } from './derived-fact.ts';
import { edgeFacts } from './edge-facts.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export interface DerivedSource {
  readonly rules: RuleSet;
  readonly edges: readonly RetrievedEdge[];
  /** The table's name, for evidence. */
  readonly table: string;
  readonly bucketSeconds: number;
}

/** Facts of one answer: some 60 MB while they are worked out. */
export const MOST_FACTS = 500_000;
/** Facts in all proofs of an answer: some 200 MB of text. */
const MOST_PROOF_FACTS = 1_000_000;
const MOST_ROUNDS = 1_000_000;
/** Facts looked at in one step. */
const STEP_FACTS = 5000;

function tooLongProofs(facts: number): HedgerowError {
  return refusal(
    'too_many_facts',
    `The proofs of the ${facts} derived facts hold more than ${MOST_PROOF_FACTS} facts. Narrow the rules, or the edges they see (top_k, a window, nodes).`,
  );
}

export class Derived {
  readonly #model: Model;
  /** By place, which is the number of the step less 1. */
  readonly #facts: Float64Array;
  readonly #tags: ProofTags;
  readonly #edges: ReadonlyMap<number, RetrievedEdge>;
  /** Rules that derived something, in order of first use: RULE-1 first. */
  readonly rules: readonly RuleFact[];

  private constructor(source: DerivedSource, model: Model, facts: Float64Array, rules: readonly RuleFact[]) {
    this.#model = model;
    this.#facts = facts;
    this.rules = rules;
    this.#edges = new Map(source.edges.map((edge) => [edge.edge_id, edge]));
    const tagOfRule = new Map(rules.map(({ id, rule_tag }) => [id, rule_tag]));
    this.#tags = {
      stepTag: (fact) => `STEP-${model.placeOf(fact) + 1}`,
      ruleTag: (id) => tagOfRule.get(id)!,
      edge: (id) => {
        const edge = this.#edges.get(id);
        return edge === undefined ? undefined : { table: source.table, event_ts: edge.event_ts };
      },
    };
  }

  /** Throws `too_many_facts`. Every step is some ms at most. */
  static *of(source: DerivedSource): Generator<void, Derived, void> {
    const { rules, edges, bucketSeconds } = source;
    const base = yield* edgeFacts(edges, rules, bucketSeconds);
    const model = yield* evaluate(rules, base, { facts: MOST_FACTS, rounds: MOST_ROUNDS });
    const facts = yield* model.derived();
    if ((yield* proofFacts(model, facts, MOST_PROOF_FACTS)) > MOST_PROOF_FACTS) throw tooLongProofs(facts.length);
    const fired = new Map<string, RuleFact>();
    for (const [place, fact] of facts.entries()) {
      const { rule } = model.ruleOf(fact)!;
      if (!fired.has(rule.id)) {
        const rule_tag = `RULE-${fired.size + 1}`;
        fired.set(rule.id, { rule_tag, id: rule.id, name: rule.name, text: ruleText(rule) });
      }
      if (place % STEP_FACTS === STEP_FACTS - 1) yield;
    }
    return new Derived(source, model, facts, [...fired.values()]);
  }

  get count(): number {
    return this.#facts.length;
  }

  /** The fact of a step alone; `number` from 1 to `count`. */
  fact(number: number): Pick<StepFact, 'predicate' | 'args'> {
    const { pred, args } = this.#model.factOf(this.#facts[number - 1]!);
    return { predicate: pred, args };
  }

  /** `number` from 1 to `count`. */
  *step(number: number): Generator<void, StepFact, void> {
    const fact = this.#facts[number - 1]!;
    const { pred, args } = this.#model.factOf(fact);
    const { rule } = this.#model.derivationOf(fact)!.rule;
    const hedges = yield* hedgesOf(this.#model, fact, (id) => this.#edges.has(id));
    return {
      step_tag: `STEP-${number}`,
      fact: factText(pred, args),
      predicate: pred,
      args,
      confidence: this.#model.confidenceOf(fact),
      rule_id: rule.id,
      rule_tag: this.#tags.ruleTag(rule.id),
      hedge_tags: hedges.map((id) => `HEDGE-${id}`),
    };
  }

  /** Of a step; `number` from 1 to `count`. */
  confidenceOf(number: number): number {
    return this.#model.confidenceOf(this.#facts[number - 1]!);
  }

  /** `number` from 1 to `count`. */
  proof(number: number): Generator<void, Proof, void> {
    return proofSteps(this.#model, this.#facts[number - 1]!, this.#tags, number);
  }
}
