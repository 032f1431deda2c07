// Derives facts from edges by rules, and prepares them for answers: facts and rules get numbers,
// and each fact gets a proof.

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
import type { Member, MemberKeys } from './retrieval/member-keys.ts';
import { type NodeFacts, nodeFacts } from './retrieval/node-facts.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export interface DerivedSource {
  readonly rules: RuleSet;
  readonly edges: readonly RetrievedEdge[];
  /** Name of the table; the evidence in proofs contains it. */
  readonly table: string;
  readonly bucketSeconds: number;
  /**
   * The nodes that the question names. Facts about nodes are reported only if they involve one of
   * these. If the list is empty, all facts are reported.
   */
  readonly asked: readonly Member[];
  /** The keys of a named table. */
  readonly keys: MemberKeys | undefined;
}

/**
 * Maximum number of facts that are derived for one answer. They need about 60 MB during evaluation.
 */
export const MOST_FACTS = 500_000;
/** Maximum number of facts in all proofs of an answer. They need about 200 MB as text. */
const MOST_PROOF_FACTS = 1_000_000;
const MOST_ROUNDS = 1_000_000;
/** Number of facts processed between two yields. */
const STEP_FACTS = 2000;

function tooLongProofs(facts: number): HedgerowError {
  return refusal(
    'too_many_facts',
    `The proofs of the ${facts} derived facts hold more than ${MOST_PROOF_FACTS} facts. Narrow the rules, or the edges they see (top_k, a window, nodes).`,
  );
}

export class Derived {
  readonly #model: Model;
  /**
   * Facts, indexed by step number minus 1. The reported facts come first, then all other derived
   * facts. Proofs may contain both.
   */
  readonly #facts: Float64Array;
  /** Number of reported facts. */
  readonly count: number;
  readonly #tags: ProofTags;
  readonly #edges: ReadonlyMap<number, RetrievedEdge>;
  /**
   * Rules that derived a fact, in the order of their first facts, so that RULE-1 derived the first
   * fact. Empty if no fact is reported.
   */
  readonly rules: readonly RuleFact[];
  /** The facts about nodes that were given; undefined for a table of numbers. */
  readonly nodes: NodeFacts | undefined;

  private constructor(
    source: DerivedSource,
    model: Model,
    { facts, count, numbers }: Numbered,
    rules: readonly RuleFact[],
    nodes: NodeFacts | undefined,
  ) {
    this.nodes = nodes;
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

  /** Derives the facts. Throws `too_many_facts`. Each step takes a few ms at most. */
  static *of(source: DerivedSource): Steps<Derived> {
    const { rules, edges, bucketSeconds, keys } = source;
    const nodes = keys && (yield* nodeFacts(edges, rules, keys));
    const base = yield* edgeFacts(edges, rules, bucketSeconds, nodes);
    const model = yield* evaluate(rules, base, { facts: MOST_FACTS, rounds: MOST_ROUNDS });
    const numbered = yield* numberedFacts(model, yield* model.derived(), source);
    const { facts, count } = numbered;
    const answered = facts.subarray(0, count);
    if ((yield* proofFacts(model, answered, MOST_PROOF_FACTS)) > MOST_PROOF_FACTS) throw tooLongProofs(count);
    const fired = new Map<string, RuleFact>();
    // If there are no reported facts, there are no proofs, so no rule needs a tag.
    for (const [place, fact] of (count === 0 ? answered : facts).entries()) {
      const { rule } = model.ruleOf(fact)!;
      if (!fired.has(rule.id)) {
        const rule_tag = `RULE-${fired.size + 1}`;
        fired.set(rule.id, { rule_tag, id: rule.id, name: rule.name, text: ruleText(rule) });
      }
      if (place % STEP_FACTS === STEP_FACTS - 1) yield;
    }
    return new Derived(source, model, numbered, [...fired.values()], nodes);
  }

  /** Number of all facts, including those that are not reported. */
  get total(): number {
    return this.#facts.length;
  }

  /** Returns the predicate and arguments of a step. `number` is from 1 to `total`. */
  fact(number: number): Pick<StepFact, 'predicate' | 'args'> {
    const { pred, args } = this.#model.factOf(this.#facts[number - 1]!);
    return { predicate: pred, args };
  }

  /** Returns a reported fact. `number` is from 1 to `count`. */
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

  /** Returns the confidence of a reported fact. `number` is from 1 to `count`. */
  confidenceOf(number: number): number {
    return this.#model.confidenceOf(this.#facts[number - 1]!);
  }

  /** Returns the proof of a reported fact. `number` is from 1 to `count`. */
  proof(number: number): Steps<Proof> {
    return proofSteps(this.#model, this.#facts[number - 1]!, this.#tags, number);
  }
}

interface Numbered {
  readonly facts: Float64Array;
  readonly count: number;
  /** Step numbers of the facts, indexed by a fact's place in the order of all facts. */
  readonly numbers: Uint32Array;
}

/**
 * Assigns step numbers to the reported facts first, then to the others. Both groups keep their
 * order.
 */
function* numberedFacts(model: Model, all: Float64Array, { rules, asked }: DerivedSource): Steps<Numbered> {
  const places = yield* nodePlaces(rules);
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

/**
 * Returns whether a fact involves a node that the question names. A fact that is not about nodes
 * counts too: it derives from the retrieved edges, and all of these contain such a node.
 */
function touches(
  { pred, args }: { readonly pred: string; readonly args: readonly unknown[] },
  places: ReadonlyMap<string, ReadonlySet<number>>,
  asked: ReadonlySet<unknown>,
): boolean {
  const nodes = places.get(pred);
  return nodes === undefined || [...nodes].some((place) => asked.has(args[place]));
}
