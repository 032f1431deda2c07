// Collects the edges, derived facts ("steps") and rules that the sentences of an answer may cite.

import { finish } from '../schedule/steps.ts';
import { type Derived, MOST_FACTS } from './derived.ts';
import type { RuleFact, StepFact } from './derived-fact.ts';
import type { StepFacts, Support } from './firewall/firewall.ts';
import type { Keyed } from './firewall/key-claims.ts';
import type { Member } from './retrieval/member-keys.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export function supportOf(
  edges: readonly RetrievedEdge[],
  derived: Derived | undefined,
  names?: ReadonlyMap<Member, string>,
  columnValues?: ReadonlySet<string>,
  keyed?: Keyed,
): Support {
  const rules = new Map<number, RuleFact>();
  for (const [index, rule] of (derived?.rules ?? []).entries()) rules.set(index + 1, rule);
  return {
    edges: new Map(edges.map((edge) => [edge.edge_id, edge])),
    rules,
    steps: new LazyStepFacts(derived),
    names,
    columnValues,
    keyed,
  };
}

/**
 * Maximum number of facts with which the facts in an answer are compared. A prompt contains far
 * fewer.
 */
const MOST_LOOKED_AT = 5000;

/** Steps by number. They are built on demand, because an answer cites only a few of them. */
class LazyStepFacts implements StepFacts {
  readonly #derived: Derived | undefined;
  readonly #made = new Map<number, StepFact>();

  constructor(derived: Derived | undefined) {
    this.#derived = derived;
  }

  has(number: number): boolean {
    return Number.isInteger(number) && number >= 1 && number <= Math.min(MOST_FACTS, this.#derived?.count ?? 0);
  }

  get(number: number): StepFact | undefined {
    if (!this.has(number)) return undefined;
    const made = this.#made.get(number) ?? finish(this.#derived!.step(number));
    this.#made.set(number, made);
    return made;
  }

  *values(): Generator<Pick<StepFact, 'predicate' | 'args'>, void, void> {
    const count = Math.min(MOST_LOOKED_AT, this.#derived?.total ?? 0);
    for (let number = 1; number <= count; number++) yield this.#derived!.fact(number);
  }
}
