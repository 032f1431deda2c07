// Turns edges into the base facts that rules can use. In these facts `e` is the edge's id:
//
//   hyperedge(e)    at(e, seconds)      until(e, seconds)   member(e, node)  weight(e, w)
//   size(e, count)  bucket(e, number)   formation(e, text)  mean_dist(e, metres)
//   property(e, column, value)          role(e, node, role)  supersedes(e, e1)
//
// Only edges of tables with intervals that have an end give `until`, and only memories that have
// replaced another one give `supersedes`. In a named table a node is its
// key (`Kind:key` if there are several kinds), and has facts too:
//
//   node(n, kind)   attribute(n, column, value)

import { supersededBy } from '../model/memories.ts';
import { BaseFacts, isAboutNodes, type RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { NodeFacts } from './retrieval/node-facts.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

/** Number of members processed in one step, which takes about a millisecond. */
const STEP_MEMBERS = 5000;

/** Returns facts for the predicates that the rules use. A null value gives no fact. */
export function* edgeFacts(
  edges: readonly RetrievedEdge[],
  rules: RuleSet,
  bucketSeconds: number,
  nodes?: NodeFacts,
): Steps<BaseFacts> {
  const facts = new BaseFacts();
  const wanted = Object.fromEntries(PREDICATES.map((pred) => [pred, isNamed(rules, pred)])) as Record<
    Predicate,
    boolean
  >;
  let members = 0;
  for (const edge of edges) {
    const { edge_id: id, event_ts: ts } = edge;
    if (wanted.hyperedge) facts.add('hyperedge', id);
    if (wanted.at) facts.add('at', id, ts);
    if (wanted.until && edge.end_ts !== undefined && edge.end_ts !== null) facts.add('until', id, edge.end_ts);
    if (wanted.member) for (const node of edge.members) facts.add('member', id, node);
    if (wanted.role)
      for (const [role, nodes] of Object.entries(edge.roles ?? {}))
        for (const node of nodes) facts.add('role', id, node, role);
    if (wanted.weight && edge.weight !== null) facts.add('weight', id, edge.weight);
    if (wanted.mean_dist && edge.mean_dist_m !== null) facts.add('mean_dist', id, edge.mean_dist_m);
    if (wanted.formation && edge.formation !== null) facts.add('formation', id, edge.formation);
    if (wanted.size) facts.add('size', id, edge.members.length);
    if (wanted.bucket) facts.add('bucket', id, Math.floor(ts / bucketSeconds));
    const superseded = wanted.supersedes ? supersededBy(edge) : undefined;
    if (superseded !== undefined) facts.add('supersedes', id, superseded);
    if (wanted.property) {
      for (const [column, value] of Object.entries(edge.properties))
        if (value !== null) facts.add('property', id, column, value);
    }
    members += edge.members.length + 4;
    if (members > STEP_MEMBERS) {
      members = 0;
      yield;
    }
  }
  for (const [node, { kind, attributes }] of nodes ?? []) {
    if (wanted.node) facts.add('node', node, kind);
    if (wanted.attribute) for (const [column, value] of attributes) facts.add('attribute', node, column, value);
    members += attributes.length + 1;
    if (members > STEP_MEMBERS) {
      members = 0;
      yield;
    }
  }
  return facts;
}

const PREDICATES = [
  'hyperedge',
  'at',
  'until',
  'member',
  'role',
  'weight',
  'mean_dist',
  'formation',
  'size',
  'bucket',
  'property',
  'supersedes',
  'node',
  'attribute',
] as const;
type Predicate = (typeof PREDICATES)[number];

function isNamed({ rules }: RuleSet, pred: string): boolean {
  const isOfNodes = pred === 'node' || pred === 'attribute';
  return rules.some(({ body }) =>
    body.some((one) => one.kind !== 'compare' && one.atom.pred === pred && (!isOfNodes || isAboutNodes(one.atom))),
  );
}
