// Derives each conclusion of a proof again: the conditions of its rule must match its premises one
// by one, the head must match its fact, and its confidence must be right.

import { type Bindings, matchAtom, valueOfTerm } from './bindings.ts';
import { leastConfidence, ROUNDING } from './check-statements.ts';
import { factText } from './fact-text.ts';
import { shown } from './fault.ts';
import type { ConclusionNode, Proof, ProofNode } from './proof.ts';
import type { Atom, Condition, Constant, ParsedRule } from './rule.ts';

export function deriveAgain(
  proof: Proof,
  nodes: ReadonlyMap<string, ProofNode>,
  ruleOf: ReadonlyMap<string, ParsedRule>,
  problems: string[],
): void {
  for (const node of proof.nodes) {
    if (node.kind !== 'conclusion') continue;
    const rule = ruleOf.get(node.rule_id);
    const problem = rule === undefined ? `there is no rule ${shown(node.rule_id)}` : problemOf(node, rule, nodes);
    if (problem !== undefined) problems.push(`${shown(node.id)}: ${problem}`);
  }
}

/** Returns why the conclusion does not follow from its premises, or undefined if it follows. */
function problemOf(
  node: ConclusionNode,
  { rule, body, head, confidence }: ParsedRule,
  nodes: ReadonlyMap<string, ProofNode>,
): string | undefined {
  if (node.premises.length !== body.length)
    return `${rule.id} has ${body.length} conditions, but there are ${node.premises.length} premises`;
  const premises = node.premises.map((id) => nodes.get(id));
  const bindings: Bindings = new Map();
  // Facts are matched first, wherever they are in the body: they bind the variables that occur in
  // negations and guards.
  for (const pass of [isFactCondition, (condition: Condition) => !isFactCondition(condition)])
    for (const [at, condition] of body.entries())
      if (pass(condition) && !meets(premises[at], condition, bindings))
        return `premise ${at + 1}, ${shown(node.premises[at])}, is not what ${rule.id} asks for at this position`;
  if (node.predicate !== head.pred || !isInstance(head, node.args, bindings))
    return `${rule.id} concludes ${shown(textOf(head, bindings))} from these premises, not ${shown(node.fact)}`;
  const expected = confidence * (leastConfidence(node, nodes) ?? Number.NaN);
  return Math.abs(node.confidence - expected) <= ROUNDING
    ? undefined
    : `by ${rule.id} its confidence is ${expected}, not ${node.confidence}`;
}

function isFactCondition({ kind }: Condition): boolean {
  return kind === 'atom';
}

function meets(node: ProofNode | undefined, condition: Condition, bindings: Bindings): boolean {
  if (node === undefined) return false;
  switch (condition.kind) {
    case 'atom':
      return (
        (node.kind === 'evidence' || node.kind === 'conclusion') &&
        node.predicate === condition.atom.pred &&
        matchAtom(condition.atom, node.args, bindings)
      );
    case 'not':
      return (
        node.kind === 'absence' &&
        node.predicate === condition.atom.pred &&
        isInstance(condition.atom, node.args, bindings)
      );
    case 'compare':
      // `checkStatements` checks that the guard holds.
      return (
        node.kind === 'guard' &&
        node.compare[1] === condition.op &&
        node.compare[0] === valueOfTerm(condition.left, bindings) &&
        node.compare[2] === valueOfTerm(condition.right, bindings)
      );
  }
}

/** Returns whether the atom has these arguments once its variables are replaced by their values. */
function isInstance({ args: terms }: Atom, args: readonly Constant[], bindings: Bindings): boolean {
  return terms.length === args.length && terms.every((term, at) => valueOfTerm(term, bindings) === args[at]);
}

function textOf({ pred, args }: Atom, bindings: Bindings): string {
  return factText(
    pred,
    args.map((term) => valueOfTerm(term, bindings) ?? '?'),
  );
}
