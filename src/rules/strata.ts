// Finds an order in which predicates can be evaluated so that each negation refers to finished
// facts, or the cycles that make this impossible.
//
// The graph has an edge from the head of a rule to each predicate in its body; the edge is negative
// if the predicate is negated. Tarjan's algorithm finds the strongly connected components; a
// component comes after all components that it needs (R. Tarjan, Depth-first search and linear
// graph algorithms, SIAM J. Comput. 1(2), 1972). A negative edge inside a component closes a cycle
// through a negation, so there is no order (Apt, Blair, Walker, Towards a theory of declarative
// knowledge, 1988). If there is no such edge, each component gets the least stratum that is not
// below the strata of its positive premises and is above those of its negated ones. Base predicates
// and predicates without rules have stratum 0. For example:
//
//   linked(X, Y) if member(E, X), member(E, Y)                       stratum 0
//   apart(X, Y) if member(E, X), member(F, Y), not linked(X, Y)      stratum 1
//   p(X) if member(E, X), not q(X); q(X) if member(E, X), not p(X)   a cycle

import type { Steps } from '../schedule/steps.ts';
import type { ParsedRule } from './rule.ts';

export interface Cycle {
  /** For example `p -> not q -> p (rule:a, rule:b)`. */
  readonly text: string;
  /** Indexes of the rules that make the cycle. */
  readonly rules: readonly number[];
}

interface Edge {
  readonly to: string;
  readonly negative: boolean;
  /** Index of the first rule that has this edge. */
  readonly rule: number;
}

/** Edges by head predicate. Predicates that no rule derives have no edges of their own. */
type Graph = ReadonlyMap<string, readonly Edge[]>;

/**
 * Maximum number of negative edges from which cycles are searched. Each search visits a whole
 * component.
 */
const MAX_SEARCHES = 16;
/** Maximum number of steps of a cycle that are reported. */
const MAX_STEPS = 16;

/** The stratum of every head predicate, or the cycles. */
export type Strata = { strata: ReadonlyMap<string, number> } | { cycles: Cycle[] };

/**
 * The recursion can be as deep as there are head predicates, so the caller must limit the number of
 * rules first.
 */
export function* stratify(rules: readonly ParsedRule[]): Steps<Strata> {
  const graph = graphOf(rules);
  yield;
  const components = componentsOf(graph);
  yield;
  const componentOf = new Map(components.flatMap((preds, index) => preds.map((pred) => [pred, index] as const)));
  const inside = (from: string, edge: Edge) => componentOf.get(from) === componentOf.get(edge.to);
  const cycles = cyclesOf(graph, inside, rules);
  if (cycles.length > 0) return { cycles };
  const strata = new Map<string, number>();
  for (const preds of components) {
    let least = 0;
    for (const pred of preds) {
      for (const edge of graph.get(pred)!)
        if (!inside(pred, edge)) least = Math.max(least, (strata.get(edge.to) ?? 0) + (edge.negative ? 1 : 0));
    }
    for (const pred of preds) strata.set(pred, least);
  }
  return { strata };
}

function graphOf(rules: readonly ParsedRule[]): Graph {
  const graph = new Map<string, Map<string, Edge>>();
  for (const [rule, { head, body }] of rules.entries()) {
    const edges = graph.get(head.pred) ?? new Map<string, Edge>();
    graph.set(head.pred, edges);
    for (const condition of body) {
      if (condition.kind === 'compare') continue;
      const negative = condition.kind === 'not';
      const to = condition.atom.pred;
      const key = negative ? `not ${to}` : to;
      if (!edges.has(key)) edges.set(key, { to, negative, rule });
    }
  }
  return new Map([...graph].map(([pred, edges]) => [pred, [...edges.values()]]));
}

/**
 * Returns the strongly connected components of head predicates. A component comes after those it
 * needs.
 */
function componentsOf(graph: Graph): string[][] {
  const components: string[][] = [];
  const indexes = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const visit = (pred: string): void => {
    const index = indexes.size;
    indexes.set(pred, index);
    low.set(pred, index);
    stack.push(pred);
    onStack.add(pred);
    for (const { to } of graph.get(pred)!) {
      if (!graph.has(to)) continue;
      if (!indexes.has(to)) {
        visit(to);
        low.set(pred, Math.min(low.get(pred)!, low.get(to)!));
      } else if (onStack.has(to)) low.set(pred, Math.min(low.get(pred)!, indexes.get(to)!));
    }
    if (low.get(pred) !== index) return;
    const component = stack.splice(stack.lastIndexOf(pred));
    for (const member of component) onStack.delete(member);
    components.push(component);
  };
  for (const pred of graph.keys()) if (!indexes.has(pred)) visit(pred);
  return components;
}

type Inside = (from: string, edge: Edge) => boolean;

/**
 * For each negative edge that is on a cycle, but at most `MAX_SEARCHES` of them, returns a shortest
 * cycle through it. No cycle is returned twice.
 */
function cyclesOf(graph: Graph, inside: Inside, rules: readonly ParsedRule[]): Cycle[] {
  const cycles = new Map<string, Cycle>();
  let searches = 0;
  for (const [pred, edges] of graph) {
    for (const edge of edges) {
      if (!edge.negative || !graph.has(edge.to) || !inside(pred, edge)) continue;
      if (++searches > MAX_SEARCHES) return [...cycles.values()];
      const path = [edge, ...shortestPath(graph, inside, edge.to, pred)];
      const key = path.map(({ to, negative }) => `${negative}${to}`).sort();
      if (!cycles.has(key.join())) cycles.set(key.join(), cycleOf(pred, path, rules));
    }
  }
  return [...cycles.values()];
}

/** Returns the edges of a shortest path inside a component; the path is empty if `from` is `to`. */
function shortestPath(graph: Graph, inside: Inside, from: string, to: string): Edge[] {
  const reachedBy = new Map<string, { from: string; edge: Edge }>();
  const queue = [from];
  for (let at = queue[0]!, next = 1; at !== to; at = queue[next++]!) {
    for (const edge of graph.get(at)!) {
      if (edge.to === from || reachedBy.has(edge.to) || !graph.has(edge.to) || !inside(at, edge)) continue;
      reachedBy.set(edge.to, { from: at, edge });
      queue.push(edge.to);
    }
  }
  const path: Edge[] = [];
  for (let at = to; at !== from; ) {
    const step = reachedBy.get(at)!;
    path.unshift(step.edge);
    at = step.from;
  }
  return path;
}

function cycleOf(pred: string, path: readonly Edge[], rules: readonly ParsedRule[]): Cycle {
  const steps = path.map(({ to, negative }) => (negative ? `not ${to}` : to));
  const indexes = [...new Set(path.map(({ rule }) => rule))];
  const ids = indexes.map((index) => rules[index]!.rule.id);
  return { text: `${[pred, ...shortened(steps)].join(' -> ')} (${shortened(ids).join(', ')})`, rules: indexes };
}

function shortened(items: readonly string[]): readonly string[] {
  if (items.length <= MAX_STEPS) return items;
  const half = MAX_STEPS / 2;
  return [...items.slice(0, half), `(${items.length - MAX_STEPS} more)`, ...items.slice(-half)];
}
