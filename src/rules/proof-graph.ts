// Checks the graph of a proof: its nodes and edges match, no conclusion rests on itself, and
// everything leads to the goal.

import { shown } from './fault.ts';
import type { Proof, ProofNode } from './proof.ts';

/** Returns the nodes by id. If several nodes have the same id, the first one is returned. */
export function nodesById(proof: Proof): Map<string, ProofNode> {
  const nodes = new Map<string, ProofNode>();
  for (const node of proof.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
  return nodes;
}

export function checkGraph(proof: Proof, nodes: ReadonlyMap<string, ProofNode>, problems: string[]): void {
  if (nodes.size < proof.nodes.length) problems.push('two nodes have the same id');
  checkEdges(proof, nodes, problems);
  const { depthOf, without, isAcyclic } = walk(nodes);
  if (!isAcyclic) problems.push('a conclusion rests on itself');
  checkGoal(proof, without, problems);
  if (!isAcyclic || without.length !== 1) return;
  const depth = depthOf(without[0]!.id);
  if (depth !== proof.depth) problems.push(`the depth is ${depth}, not ${proof.depth}`);
}

/**
 * Checks that there is one edge for each premise of a conclusion and that there are no other edges.
 */
function checkEdges(proof: Proof, nodes: ReadonlyMap<string, ProofNode>, problems: string[]): void {
  /** By conclusion: premises whose edge has not been found yet. */
  const missing = new Map<string, Set<string>>();
  for (const node of nodes.values()) {
    if (node.kind !== 'conclusion') continue;
    for (const premise of node.premises)
      if (!nodes.has(premise))
        problems.push(`${shown(node.id)} has the premise ${shown(premise)}, but there is no such node`);
    missing.set(node.id, new Set(node.premises));
  }
  for (const { from, to } of proof.edges) {
    if (missing.get(to)?.delete(from) !== true)
      problems.push(`the edge from ${shown(from)} to ${shown(to)} occurs twice or is the edge of no premise`);
  }
  for (const [to, premises] of missing)
    for (const from of premises) problems.push(`the edge from the premise ${shown(from)} to ${shown(to)} is missing`);
}

interface Walk {
  /** Returns the number of rule applications on the longest path from evidence to this node. */
  depthOf(id: string): number;
  /** Nodes that are not premises of any conclusion. */
  without: readonly ProofNode[];
  isAcyclic: boolean;
}

/**
 * Visits the nodes from premises to conclusions. A node is visited when all its premises are done
 * (A. Kahn, Topological sorting of large networks, CACM 5(11), 1962).
 */
function walk(nodes: ReadonlyMap<string, ProofNode>): Walk {
  const list = [...nodes.values()];
  const numberOf = new Map(list.map(({ id }, number) => [id, number]));
  const conclusionsOf: (number[] | undefined)[] = list.map(() => undefined);
  const waitsFor = new Int32Array(list.length);
  const depths = new Int32Array(list.length);
  const ready: number[] = [];
  for (const [number, node] of list.entries()) {
    if (node.kind === 'conclusion') {
      depths[number] = 1;
      for (const id of node.premises) {
        const premise = numberOf.get(id);
        if (premise === undefined) continue;
        const conclusions = conclusionsOf[premise];
        if (conclusions === undefined) conclusionsOf[premise] = [number];
        else conclusions.push(number);
        waitsFor[number]!++;
      }
    }
    if (waitsFor[number] === 0) ready.push(number);
  }
  let left = list.length;
  for (let premise = ready.pop(); premise !== undefined; premise = ready.pop()) {
    left--;
    for (const conclusion of conclusionsOf[premise] ?? []) {
      depths[conclusion] = Math.max(depths[conclusion]!, depths[premise]! + 1);
      if (--waitsFor[conclusion]! === 0) ready.push(conclusion);
    }
  }
  return {
    depthOf: (id) => depths[numberOf.get(id)!]!,
    without: list.filter((_, number) => conclusionsOf[number] === undefined),
    isAcyclic: left === 0,
  };
}

/**
 * Checks that the goal is the only node that is not a premise. In a graph without cycles, every
 * path ends at such a node, so everything then leads to the goal.
 */
function checkGoal(proof: Proof, without: readonly ProofNode[], problems: string[]): void {
  const last = without.filter((node) => 'fact' in node && node.fact === proof.goal);
  const [goal] = last;
  if (goal === undefined) problems.push(`no conclusion is the goal ${shown(proof.goal)}`);
  else if ('confidence' in goal && goal.confidence !== proof.confidence)
    problems.push(`the confidence of the goal is ${goal.confidence}, not ${proof.confidence}`);
  for (const node of without) if (node !== goal) problems.push(`the goal does not rest on ${shown(node.id)}`);
}
