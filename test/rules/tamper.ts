// Forges valid proofs so that they state something false, or no longer follow from their premises.

import type { ConclusionNode, Proof, ProofNode } from '../../src/rules/proof.ts';
import type { Random } from '../support/random.ts';
import type { Value, WireFact } from './naive-evaluator.ts';

export interface Forgery {
  /** The kind of forgery. */
  name: string;
  proof: Proof;
}

/**
 * Reports whether a fact holds in the program of the proof, and supplies values for making false
 * facts.
 */
export interface Truth {
  holds(fact: WireFact): boolean;
  values: readonly Value[];
}

/** Returns the proof with a random forgery. */
export function forged(proof: Proof, truth: Truth, random: Random): Forgery {
  for (;;) {
    const name = pick(Object.keys(FORGERIES), random);
    const copy = structuredClone(proof);
    if (FORGERIES[name]!(copy, truth, random)) return { name, proof: copy };
  }
}

/** Returns every forgery that applies to the proof, once each. */
export function everyForgery(proof: Proof, truth: Truth, random: Random): Forgery[] {
  return Object.entries(FORGERIES).flatMap(([name, forge]) => {
    const copy = structuredClone(proof);
    return forge(copy, truth, random) ? [{ name, proof: copy }] : [];
  });
}

/** Changes the proof in place. Returns false if the forgery does not apply. */
type Forge = (proof: Proof, truth: Truth, random: Random) => boolean;

const FORGERIES: Record<string, Forge> = {
  'another goal': (proof) => {
    proof.goal = `${proof.goal}x`;
    return true;
  },
  'another depth': (proof, _, random) => {
    proof.depth += 1 + random.below(2);
    return true;
  },
  'another confidence of the proof': (proof) => {
    proof.confidence = other(proof.confidence);
    return true;
  },
  unproved: (proof) => {
    proof.status = 'unproved';
    return true;
  },
  'without nodes': (proof) => {
    proof.nodes = [];
    return true;
  },
  'another text of a fact': (proof, _, random) => {
    const node = pick(proof.nodes.filter(isFact), random);
    node.fact = `${node.fact} `;
    return true;
  },
  'another predicate': (proof, _, random) => {
    const node = pick(
      proof.nodes.filter((one) => 'predicate' in one),
      random,
    );
    node.predicate = `${node.predicate}_`;
    return true;
  },
  'other arguments': (proof, _, random) => {
    const node = pick(
      proof.nodes.filter((one) => 'args' in one),
      random,
    );
    node.args = [...node.args, 1];
    return true;
  },
  'a fact that does not hold': (proof, truth, random) => {
    const node = pick(proof.nodes.filter(isFact), random);
    const args = node.args.map(() => pick(truth.values, random));
    if (truth.holds({ pred: node.predicate, args })) return false;
    const before = node.fact;
    node.args = args;
    node.fact = `${node.predicate}(${args.map((value) => JSON.stringify(value)).join(', ')})`;
    if (proof.goal === before) proof.goal = node.fact;
    return true;
  },
  'another confidence': (proof, _, random) => {
    const node = pick(proof.nodes.filter(isFact), random);
    node.confidence = other(node.confidence);
    if (node.fact === proof.goal) proof.confidence = node.confidence;
    return true;
  },
  'a rule that does not exist': (proof, _, random) => {
    const node = conclusionOf(proof, random);
    node.rule_id = `${node.rule_id}x`;
    return true;
  },
  'an absence of a fact that holds': (proof, _, random) => {
    const absences = proof.nodes.filter((one) => one.kind === 'absence');
    if (absences.length === 0) return false;
    const { predicate, args } = pick(proof.nodes.filter(isFact), random);
    Object.assign(pick(absences, random), { predicate, args });
    return true;
  },
  'a guard that is false': (proof, _, random) => {
    const guards = proof.nodes.filter((one) => one.kind === 'guard');
    if (guards.length === 0) return false;
    const guard = pick(guards, random);
    guard.compare = [guard.compare[0], '!=', guard.compare[0]];
    return true;
  },
  'another operator': (proof, _, random) => {
    const guards = proof.nodes.filter((one) => one.kind === 'guard');
    if (guards.length === 0) return false;
    const guard = pick(guards, random);
    guard.compare[1] = pick(
      (['==', '!=', '<', '<=', '>', '>='] as const).filter((op) => op !== guard.compare[1]),
      random,
    );
    return true;
  },
  'premises in another order': (proof) => {
    for (const node of proof.nodes) {
      if (node.kind !== 'conclusion') continue;
      const signs = node.premises.map((id) => signOf(proof.nodes.find((one) => one.id === id)!));
      const at = signs.findIndex((sign) => sign !== signs[0]);
      if (at < 0) continue;
      [node.premises[0], node.premises[at]] = [node.premises[at]!, node.premises[0]!];
      return true;
    }
    return false;
  },
  'one premise less': (proof, _, random) => {
    const { premises } = conclusionOf(proof, random);
    premises.splice(random.below(premises.length), 1);
    return true;
  },
  'a premise twice': (proof, _, random) => {
    const { premises } = conclusionOf(proof, random);
    premises.push(pick(premises, random));
    return true;
  },
  'a premise that does not exist': (proof, _, random) => {
    const { premises } = conclusionOf(proof, random);
    premises[random.below(premises.length)] = 'nowhere';
    return true;
  },
  'a conclusion that rests on the goal': (proof, _, random) => {
    const node = conclusionOf(proof, random);
    const goal = proof.nodes.at(-1)!.id;
    node.premises[0] = goal;
    proof.edges = proof.edges.filter(({ to, from }) => to !== node.id || node.premises.includes(from));
    proof.edges.push({ from: goal, to: node.id, role: 'premise' });
    return true;
  },
  'a missing edge': (proof, _, random) => {
    proof.edges.splice(random.below(proof.edges.length), 1);
    return true;
  },
  'an edge in the wrong direction': (proof, _, random) => {
    const edge = pick(proof.edges, random);
    [edge.from, edge.to] = [edge.to, edge.from];
    return true;
  },
  'an edge twice': (proof, _, random) => {
    proof.edges.push({ ...pick(proof.edges, random) });
    return true;
  },
  'a missing node': (proof, _, random) => {
    proof.nodes.splice(random.below(proof.nodes.length), 1);
    return true;
  },
  'an additional node': (proof) => {
    proof.nodes.push({ id: 'more', kind: 'guard', compare: [1, '<', 2_000_000] });
    return true;
  },
  'a node twice': (proof, _, random) => {
    proof.nodes.push({ ...pick(proof.nodes, random), id: 'again' });
    return true;
  },
  'an id twice': (proof, _, random) => {
    proof.nodes.push(pick(proof.nodes, random));
    return true;
  },
  'a claim instead of its proof': (proof, _, random) => {
    const { id, fact, predicate, args, confidence } = conclusionOf(proof, random);
    const claim: ProofNode = { id, kind: 'evidence', fact, predicate, args, confidence };
    proof.nodes = fact === proof.goal ? [claim] : proof.nodes.map((node) => (node.id === id ? claim : node));
    if (fact === proof.goal) Object.assign(proof, { edges: [], depth: 0 });
    else proof.edges = proof.edges.filter(({ to }) => to !== id);
    return true;
  },
  'another edge': (proof, _, random) => {
    const evidence = proof.nodes.filter((one) => one.kind === 'evidence' && one.edge_id !== undefined);
    if (evidence.length === 0) return false;
    const node = pick(evidence, random);
    const field = pick(['hedge_tag', 'edge_id', 'event_ts'], random);
    Object.assign(node, { [field]: { hedge_tag: 'HEDGE-99999', edge_id: 99999, event_ts: 99999 }[field] });
    return true;
  },
};

function pick<T>(items: readonly T[], random: Random): T {
  return items[random.below(items.length)]!;
}

function isFact(node: ProofNode) {
  return node.kind === 'evidence' || node.kind === 'conclusion';
}

function conclusionOf(proof: Proof, random: Random): ConclusionNode {
  return pick(
    proof.nodes.filter((node) => node.kind === 'conclusion'),
    random,
  );
}

function other(confidence: number): number {
  return confidence > 0.5 ? confidence - 0.25 : confidence + 0.25;
}

/**
 * Returns the kind and the predicate of a premise. If two premises differ in this, no rule accepts
 * one in place of the other.
 */
function signOf(node: ProofNode): string {
  return node.kind === 'guard' ? 'guard' : `${node.kind === 'absence' ? 'not ' : ''}${node.predicate}`;
}
