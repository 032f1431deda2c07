// Checks that the proofs of an answer agree with its derived facts.

import { shown } from '../../rules/fault.ts';
import type { Proof } from '../../rules/proof.ts';
import type { Claims, Step } from './claims.ts';

/**
 * Returns the contradictions between a proof and `derived_facts`. Expects a proof that is valid by
 * itself.
 */
export function stepProblems(proof: unknown, steps: Claims['steps']): string[] {
  if (steps === undefined) return [];
  const { goal, nodes } = proof as Proof;
  const problems: string[] = [];
  for (const node of nodes) {
    const step = node.kind === 'conclusion' ? steps.get(node.fact) : undefined;
    if (step === undefined || node.kind !== 'conclusion') continue;
    for (const field of ['step_tag', 'rule_id', 'rule_tag', 'confidence'] as const)
      if (node[field] !== step[field])
        problems.push(
          `${shown(node.id)}: ${field} is ${shown(node[field])}, but derived_facts says ${shown(step[field])}`,
        );
  }
  const step = steps.get(goal);
  if (step === undefined) return problems;
  const edges = new Set(nodes.flatMap((node) => (node.kind === 'evidence' ? (node.edge_id ?? []) : [])));
  const tags = [...edges].sort((a, b) => a - b).map((id) => `HEDGE-${id}`);
  if (JSON.stringify(step.hedge_tags) !== JSON.stringify(tags))
    problems.push(`it rests on edges that are not the hedge_tags of its derived fact`);
  return problems;
}

/** Returns a line for each derived fact that is not the goal of any proof. */
export function unprovedSteps({ proofs, steps }: Claims): string[] {
  if (steps === undefined) return [];
  const goals = new Set(proofs.map((proof) => (proof as Partial<Proof> | null)?.goal));
  return [...steps.values()]
    .filter((step: Step) => !goals.has(step.fact))
    .map((step) => `${JSON.stringify(step.fact)} is derived, but has no proof`);
}
