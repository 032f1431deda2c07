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
import type { Steps } from '../schedule/steps.ts';
import type { RuleFact, StepFact } from './derived-fact.ts';
import { edgeFacts } from './edge-facts.ts';
import { nodePlaces } from './node-places.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export interface DerivedSource {
  readonly rules: RuleSet;
  readonly edges: readonly RetrievedEdge[];
  /** The table's name, for evidence. */
  readonly table: string;
  readonly bucketSeconds: number;
  /** Facts about nodes are answered when they name one of these; empty: all are. */
  readonly asked: readonly number[];
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
  /** Those that are answered, then those that only their proofs may rest on; by the number of the step less 1. */
  readonly #facts: Float64Array;
  /** Facts that are answered. */
  readonly count: number;
  readonly #tags: ProofTags;
  readonly #edges: ReadonlyMap<number, RetrievedEdge>;
  /** Rules that derived something, in order of first use: RULE-1 first. */
  readonly rules: readonly RuleFact[];

  private constructor(
    source: DerivedSource,
    model: Model,
    { facts, count, numbers }: Numbered,
    rules: readonly RuleFact[],
  ) {
    this.#model = model;
    this.#facts = facts;
    this.count = count;
    this.rules = rules;
    this.#edges = new Map(source.edges.map((edge) => [edge.edge_id, edge]));
    const tagOfRule = new Map(rules.map(({ id, rule_tag }) => [id, rule_tag]));
    this.#tags = {
      stepTag: (fact) => `STEP-${numbers[model.placeOf(fact)]!}`,
      ruleTag: (id) => tagOfRule.get(id)!,
      edge: (id) => {
        const edge = this.#edges.get(id);
        return edge === undefined ? undefined : { table: source.table, event_ts: edge.event_ts };
      },
    };
  }

  /** Throws `too_many_facts`. Every step is some ms at most. */
  static *of(source: DerivedSource): Steps<Derived> {
    const { rules, edges, bucketSeconds } = source;
    const base = yield* edgeFacts(edges, rules, bucketSeconds);
    const model = yield* evaluate(rules, base, { facts: MOST_FACTS, rounds: MOST_ROUNDS });
    const numbered = yield* numberedFacts(model, yield* model.derived(), source);
    const { facts, count } = numbered;
    const answered = facts.subarray(0, count);
    if ((yield* proofFacts(model, answered, MOST_PROOF_FACTS)) > MOST_PROOF_FACTS) throw tooLongProofs(count);
    const fired = new Map<string, RuleFact>();
    // Where nothing is answered no proof is written.
    for (const [place, fact] of (count === 0 ? answered : facts).entries()) {
      const { rule } = model.ruleOf(fact)!;
      if (!fired.has(rule.id)) {
        const rule_tag = `RULE-${fired.size + 1}`;
        fired.set(rule.id, { rule_tag, id: rule.id, name: rule.name, text: ruleText(rule) });
      }
      if (place % STEP_FACTS === STEP_FACTS - 1) yield;
    }
    return new Derived(source, model, numbered, [...fired.values()]);
  }

  /** With those that are not answered themselves. */
  get total(): number {
    return this.#facts.length;
  }

  /** The fact of a step alone; `number` from 1 to `total`. */
  fact(number: number): Pick<StepFact, 'predicate' | 'args'> {
    const { pred, args } = this.#model.factOf(this.#facts[number - 1]!);
    return { predicate: pred, args };
  }

  /** `number` from 1 to `count`. */
  *step(number: number): Steps<StepFact> {
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
  proof(number: number): Steps<Proof> {
    return proofSteps(this.#model, this.#facts[number - 1]!, this.#tags, number);
  }
}

interface Numbered {
  readonly facts: Float64Array;
  readonly count: number;
  /** Of the step, by the place of its fact in the order of all. */
  readonly numbers: Uint32Array;
}

/** Numbers the facts that are answered first, each part in its order. */
function* numberedFacts(model: Model, all: Float64Array, { rules, asked }: DerivedSource): Steps<Numbered> {
  const places = nodePlaces(rules);
  const wanted = new Set(asked);
  const facts = new Float64Array(all.length);
  const numbers = new Uint32Array(all.length);
  const rest: number[] = [];
  let count = 0;
  for (const [place, fact] of all.entries()) {
    if (place % STEP_FACTS === STEP_FACTS - 1) yield;
    if (wanted.size > 0 && !touches(model.factOf(fact), places, wanted)) rest.push(place);
    else {
      facts[count] = fact;
      numbers[place] = ++count;
    }
  }
  for (const [index, place] of rest.entries()) {
    facts[count + index] = all[place]!;
    numbers[place] = count + index + 1;
  }
  return { facts, count, numbers };
}

/** Facts that are about no node are of edges with an asked one: only those are retrieved. */
function touches(
  { pred, args }: { readonly pred: string; readonly args: readonly unknown[] },
  places: ReturnType<typeof nodePlaces>,
  asked: ReadonlySet<number>,
): boolean {
  const nodes = places.get(pred);
  return nodes === undefined || [...nodes].some((place) => asked.has(args[place] as number));
}
