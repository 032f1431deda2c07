// The edges that the proof of a fact rests on.

import type { Steps } from '../schedule/steps.ts';
import type { ProvenFacts } from './proof.ts';

/** Facts that are looked at between two yields: one or two milliseconds. */
const FACTS_BETWEEN_YIELDS = 500;

/**
 * The ids of all edges in the proof of `goal`, ascending: what its `hedge_tags` name. Linear in the
 * proof. `isEdge`: whether given facts whose first argument is this number say something of an
 * edge.
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
      const id = model.factOf(fact).args[0];
      if (typeof id === 'number' && isEdge(id)) found.add(id);
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
