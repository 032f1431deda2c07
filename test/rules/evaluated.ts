// Evaluates wire rules over facts in one call, running the service's steps to their end.

import { BaseFacts } from '../../src/rules/base-facts.ts';
import { evaluate, type Model } from '../../src/rules/evaluate.ts';
import { type Proof, type ProofTags, proofOf } from '../../src/rules/proof.ts';
import { enabledOf, readRuleSet } from '../../src/rules/rule-set.ts';
import { finish, type Steps } from '../../src/schedule/steps.ts';
import type { WireFact } from './naive-evaluator.ts';

/** Runs a generator to its end. */
export function drained<T>(steps: Steps<T>): T {
  return finish(steps);
}

export function modelOf(rules: readonly unknown[], facts: readonly WireFact[]): Model {
  const base = new BaseFacts();
  for (const { pred, args } of facts) base.add(pred, ...args);
  return drained(evaluate(enabledOf(readRuleSet(rules, ['body', 'rules'])), base));
}

/**
 * Returns step tags in answer order, and rule tags in the order of their first use. `timesOfEdges`
 * has the times of the edges given as evidence.
 */
export function tagsOf(model: Model, timesOfEdges: ReadonlyMap<number, number> = new Map()): ProofTags {
  const steps = new Map<number, string>();
  const rules = new Map<string, string>();
  for (const fact of drained(model.derived())) {
    steps.set(fact, `STEP-${steps.size + 1}`);
    const { id } = model.derivationOf(fact)!.rule.rule;
    if (!rules.has(id)) rules.set(id, `RULE-${rules.size + 1}`);
  }
  return {
    stepTag: (fact) => steps.get(fact)!,
    ruleTag: (id) => rules.get(id)!,
    edge: (id) => {
      const event_ts = timesOfEdges.get(id);
      return event_ts === undefined ? undefined : { table: 'meetings', event_ts };
    },
  };
}

/** Returns one proof per derived fact, in the form that parsed JSON has. */
export function proofsOf(model: Model, tags: ProofTags): Proof[] {
  const facts = [...drained(model.derived())];
  return facts.map((fact, at) => structuredClone(proofOf(model, fact, tags, at + 1)));
}
