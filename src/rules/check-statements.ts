// Checks the statements of a proof's nodes: each by itself, against each other, and against what is
// known about facts from other sources.

import { BASE_PREDICATES, isAboutNodes } from './base-predicates.ts';
import { holds } from './compare-values.ts';
import { factText, readFactText } from './fact-text.ts';
import { shown } from './fault.ts';
import type { ConclusionNode, EvidenceNode, Proof, ProofNode } from './proof.ts';
import type { Constant } from './rule.ts';

/**
 * What is known about a fact: it was given, it was derived, or it does not hold. Undefined: nothing
 * is known.
 */
export type Standing = 'given' | 'derived' | 'false' | undefined;

export type KnownFacts = (predicate: string, args: readonly Constant[]) => Standing;

/**
 * Differences between confidences up to this are attributed to rounding.
 */
export const ROUNDING = 1e-12;

export function checkStatements(
  proof: Proof,
  nodes: ReadonlyMap<string, ProofNode>,
  known: KnownFacts | undefined,
  problems: string[],
): void {
  const texts = proof.nodes.map(textOf);
  const facts = checkEachOnce(proof.nodes, texts, problems);
  const names: Names = {
    times: new Map(),
    tables: new Map(),
    ruleTags: new Map(),
    ruleIds: new Map(),
    steps: new Map(),
  };
  for (const [at, node] of proof.nodes.entries()) {
    const say = (problem: string) => problems.push(`${shown(node.id)}: ${problem}`);
    if (node.kind === 'guard') {
      const [left, op, right] = node.compare;
      if (!holds(left, op, right)) say(`${shown(left)} ${op} ${shown(right)} does not hold`);
      continue;
    }
    const fact = texts[at]!;
    const standing = known?.(node.predicate, node.args);
    if (node.kind === 'absence') {
      if (facts.has(fact)) say(`${shown(fact)} is absent, but another node says that it holds`);
      if (standing === 'given' || standing === 'derived') say(`${shown(fact)} is absent, but it holds`);
      continue;
    }
    if (node.fact !== fact) say(`fact is ${shown(node.fact)}, but predicate and args say ${shown(fact)}`);
    if (standing === 'false') say(`${shown(fact)} does not hold`);
    if (node.kind === 'evidence') checkEvidence(node, known, names, say);
    else {
      if (standing === 'given') say(`${shown(fact)} was given and needs no conclusion`);
      checkConclusion(node, nodes, names, say);
    }
  }
}

/** Returns what is wrong with the proof of a goal that could not be proved. */
export function checkUnproved(proof: Proof, known: KnownFacts | undefined): string[] {
  const problems: string[] = [];
  if (proof.nodes.length > 0 || proof.edges.length > 0) problems.push('an unproved goal has neither nodes nor edges');
  if (proof.confidence !== 0) problems.push(`the confidence of an unproved goal is 0, not ${proof.confidence}`);
  if (proof.depth !== 0) problems.push(`the depth of an unproved goal is 0, not ${proof.depth}`);
  const goal = readFactText(proof.goal);
  if (goal === undefined) problems.push(`goal must be a fact like close(1, 2), not ${shown(proof.goal)}`);
  else if (['given', 'derived'].includes(known?.(goal.predicate, goal.args) ?? 'false'))
    problems.push(`${shown(proof.goal)} is unproved, but it holds`);
  return problems;
}

/**
 * Returns the statement of a node as text. Evidence and a conclusion that state the same fact give
 * the same text.
 */
function textOf(node: ProofNode): string {
  return node.kind === 'guard' ? JSON.stringify(node.compare) : factText(node.predicate, node.args);
}

/**
 * Reports statements that occur twice. Returns the facts that hold according to the nodes, as
 * texts.
 */
function checkEachOnce(nodes: readonly ProofNode[], texts: readonly string[], problems: string[]): ReadonlySet<string> {
  const facts = new Set<string>();
  const conditions = new Set<string>();
  for (const [at, node] of nodes.entries()) {
    const text = texts[at]!;
    const seen = node.kind === 'evidence' || node.kind === 'conclusion' ? facts : conditions;
    if (seen.has(text)) problems.push(`${shown(node.id)}: another node says ${shown(text)} already`);
    seen.add(text);
  }
  return facts;
}

/** The meanings of ids and tags, which must be the same in the whole proof. */
interface Names {
  /** Event times by edge id. */
  times: Map<number, number>;
  /** The table of all edges, under the key 'table'. */
  tables: Map<string, string>;
  ruleTags: Map<string, string>;
  ruleIds: Map<string, string>;
  /** Node ids by step tag. */
  steps: Map<string, string>;
}

/**
 * Returns whether the recorded meaning of `name` is `value`. If none is recorded, records `value`
 * and returns true.
 */
function agrees<Name, Value>(meanings: Map<Name, Value>, name: Name, value: Value): boolean {
  const known = meanings.get(name);
  if (known === undefined) meanings.set(name, value);
  return known === undefined || known === value;
}

type Say = (problem: string) => void;

function checkEvidence(node: EvidenceNode, known: KnownFacts | undefined, names: Names, say: Say): void {
  const { predicate, args, edge_id: edgeId, event_ts: eventTs } = node;
  if (node.confidence !== 1) say(`the confidence of evidence is 1, not ${node.confidence}`);
  const arity = BASE_PREDICATES.get(predicate);
  if (arity === undefined) {
    if (edgeId !== undefined) say(`${shown(predicate)} is not a predicate of edges`);
    else if (isAboutNodes({ pred: predicate, args })) return;
    else if (known?.(predicate, args) !== 'given') say(`${shown(node.fact)} is given without a proof`);
    return;
  }
  if (args.length !== arity) say(`${predicate} has ${arity} arguments, not ${args.length}`);
  if (edgeId === undefined) return void say(`${shown(node.fact)} names no edge`);
  if (edgeId !== args[0]) say(`edge_id is ${edgeId}, but the fact is about edge ${shown(args[0])}`);
  if (node.hedge_tag !== `HEDGE-${edgeId}`) say(`hedge_tag is ${shown(node.hedge_tag)}, but edge_id is ${edgeId}`);
  if (predicate === 'at' && args[1] !== eventTs) say(`event_ts is ${eventTs}, but the fact says ${shown(args[1])}`);
  if (known?.('at', [edgeId, eventTs!]) === 'false')
    say(`event_ts is ${eventTs}, but that of edge ${edgeId} is a different one`);
  if (!agrees(names.times, edgeId, eventTs!)) say(`edge ${edgeId} has another event_ts elsewhere in the proof`);
  if (!agrees(names.tables, 'table', node.table!)) say('all edges of a proof must be in one table');
}

function checkConclusion(node: ConclusionNode, nodes: ReadonlyMap<string, ProofNode>, names: Names, say: Say): void {
  const isOfNode = isAboutNodes({ pred: node.predicate, args: node.args });
  if (isOfNode || BASE_PREDICATES.has(node.predicate))
    say(`${node.predicate} is a fact of ${isOfNode ? 'a node' : 'an edge'} and never concluded`);
  if (!agrees(names.ruleTags, node.rule_id, node.rule_tag) || !agrees(names.ruleIds, node.rule_tag, node.rule_id))
    say(`${node.rule_id} and ${node.rule_tag} do not belong together everywhere in the proof`);
  if (!agrees(names.steps, node.step_tag, node.id)) say(`${node.step_tag} is the tag of another conclusion`);
  const least = leastConfidence(node, nodes);
  if (least === undefined) say('it has no fact as a premise');
  else if (node.confidence > least + ROUNDING)
    say(`its confidence is ${node.confidence}, but that of a premise is ${least}`);
}

/** Returns the least confidence of the premises that are facts, or undefined if there are none. */
export function leastConfidence(
  { premises }: ConclusionNode,
  nodes: ReadonlyMap<string, ProofNode>,
): number | undefined {
  let least: number | undefined;
  for (const id of premises) {
    const premise = nodes.get(id);
    if (premise !== undefined && 'confidence' in premise) least = Math.min(least ?? 1, premise.confidence);
  }
  return least;
}
