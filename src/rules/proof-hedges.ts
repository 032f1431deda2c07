// Finds the edges on which the proof of a fact rests.

import type { Steps } from '../schedule/steps.ts';
import { isAboutNodes } from './base-predicates.ts';
import type { ProvenFacts } from './proof.ts';

/** Number of facts that are visited between two yields. This takes one or two milliseconds. */
const FACTS_BETWEEN_YIELDS = 500;

/**
 * Returns the ids of all edges in the proof of `goal`, ascending. They are the edges that the
 * `hedge_tag` fields of the proof name. Apart from sorting the ids, the cost is linear in the size
 * of the proof. `isEdge` returns whether given facts with this number as their first argument are
 * about an edge.
 */
export function* hedgesOf(
  model: ProvenFacts,
  goal: number,
  isEdge: (id: number) => boolean = () => true,
): Steps<number[]> {
  const found = new Set<number>();
  const met = new Set([goal]);
  const stack = [goal];
  let untilYield = FACTS_BETWEEN_YIELDS;
  for (let fact = stack.pop(); fact !== undefined; fact = stack.pop()) {
    if (--untilYield === 0) {
      untilYield = FACTS_BETWEEN_YIELDS;
      yield;
    }
    const derivation = model.derivationOf(fact);
    if (derivation === undefined) {
      const { pred, args } = model.factOf(fact);
      const id = args[0];
      if (typeof id === 'number' && !isAboutNodes({ pred, args }) && isEdge(id)) found.add(id);
      continue;
    }
    for (const premise of derivation.premises) {
      if (met.has(premise)) continue;
      met.add(premise);
      stack.push(premise);
    }
  }
  return [...found].sort((a, b) => a - b);
}
