// Recognizes statements that only need to know in how many edges each node is, such as
// `MATCH (p:Person), (c:calls) WHERE p IN c.members RETURN p.city, COUNT(*)`. Instead of making a
// pair for each node of each edge, they count the edges per node, and fold each node once with its
// count.

import type { BoundAggregate, BoundExpression, BoundMatch, BoundPattern } from '../binder/bound.ts';
import { patternsOf } from './patterns-of.ts';
import type { InputPlan, NodeCountPlan } from './plan.ts';

/** Returns the plan if keys and aggregates read nothing of an edge, or undefined. */
export function nodeCountsOf(match: BoundMatch, input: InputPlan): NodeCountPlan | undefined {
  const { grouping, patterns } = match;
  if (grouping === undefined || input.op !== 'join' || input.left.op !== 'scan') return undefined;
  const { left, right, members, band, equal, filter } = input;
  if (members === undefined || members.least !== 1 || band !== undefined || equal.length > 0) return undefined;
  const isLeft = isOfNodes(patterns, left.pattern);
  if (isLeft === isOfNodes(patterns, right.pattern)) return undefined;
  // Few edges are read first, and their nodes are looked up.
  if (!isLeft && members.looksUp === true) return undefined;
  const [nodes, edges] = isLeft ? [left, right] : [right, left];
  const mask = filter.length === 0 ? ALL_ROLES : filter.length === 1 ? maskOf(filter[0]!, edges.pattern) : undefined;
  if (mask === undefined) return undefined;
  const aggregates = countableAggregates(grouping, nodes.pattern, edges.pattern);
  if (aggregates === undefined) return undefined;
  const areOwnGroups = grouping.keys.some((key) => isKeyOf(key, nodes.pattern, patterns));
  return { join: input, nodes, edges, mask: mask === ALL_ROLES ? undefined : mask, areOwnGroups, aggregates };
}

/** Stands for all members, whether they have roles or not. */
const ALL_ROLES = 0;

function isOfNodes(patterns: readonly BoundPattern[], pattern: number): boolean {
  return patterns[pattern]!.table.isOfNodes;
}

/** Returns whether an expression is the key of a node, or its number: both differ in all nodes. */
function isKeyOf(key: BoundExpression, nodes: number, patterns: readonly BoundPattern[]): boolean {
  if (key.kind !== 'field' || key.pattern !== nodes) return false;
  const { field } = key;
  return field.kind === 'id' || (field.kind === 'property' && field.id === patterns[nodes]!.table.definition.key);
}

/** Returns the roles of `p IN c.sender`, as a mask; undefined for any other condition. */
function maskOf(condition: BoundExpression, edges: number): number | undefined {
  if (condition.kind !== 'compare' || condition.operator !== '>=') return undefined;
  const { left, right } = condition;
  if (left.kind !== 'shared' || right.kind !== 'constant' || right.value !== 1) return undefined;
  return left.left === edges ? left.leftMask : left.rightMask;
}

/**
 * Returns the aggregates so that they read the nodes only, or undefined if one of them needs the
 * pairs. A time or an id of an edge is never null, so it counts like the edge.
 */
function countableAggregates(
  { keys, aggregates }: NonNullable<BoundMatch['grouping']>,
  nodes: number,
  edges: number,
): BoundAggregate[] | undefined {
  const ofNodes = 1 << nodes;
  if (keys.some((key) => (patternsOf(key) & ~ofNodes) !== 0)) return undefined;
  const found: BoundAggregate[] = [];
  for (const aggregate of aggregates) {
    const { function: name, operand, distinct } = aggregate;
    if (name === 'COLLECT') return undefined;
    if (operand === undefined || (patternsOf(operand) & ~ofNodes) === 0) found.push(aggregate);
    else if (name === 'COUNT' && !distinct && isNeverNull(operand, edges))
      found.push({ ...aggregate, operand: undefined });
    else return undefined;
  }
  return found;
}

function isNeverNull(operand: BoundExpression, edges: number): boolean {
  return (
    operand.kind === 'field' &&
    operand.pattern === edges &&
    (operand.field.kind === 'event_ts' || operand.field.kind === 'id')
  );
}
