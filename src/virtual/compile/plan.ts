// Describes the plan of a query for answers: its edge, its members, and its conditions by subject.

import type { Condition, Literal, Operator, Query } from '../language/ast.ts';
import type { NamedEdge } from './names.ts';
import { findColumn, findMember } from './names.ts';

export type PlanValue = number | string | boolean;

export interface Predicate {
  readonly op: Operator;
  /** The literal, or the list of literals for IN and BETWEEN. Integers beyond 2^53 are texts. */
  readonly value: PlanValue | readonly PlanValue[];
}

/** A plan as it is sent in an answer. */
export interface QueryPlan {
  readonly edge_label: string;
  readonly members: readonly {
    readonly name: string;
    readonly node_label: string;
    readonly column: string;
    readonly role: string;
  }[];
  readonly edge_predicates: readonly (Predicate & { readonly column: string })[];
  readonly member_predicates: readonly (Predicate & { readonly member: string })[];
  readonly size_predicates: readonly Predicate[];
}

/**
 * Returns the plan of a query. Its conditions must have been compiled before, which checks that all
 * names exist.
 */
export function planOf(query: Query, edge: NamedEdge): QueryPlan {
  const ofEdge = query.conditions.filter((condition) => placeOf(query, condition) === 'edge');
  const ofMembers = query.conditions.filter((condition) => placeOf(query, condition) === 'member');
  const ofSize = query.conditions.filter((condition) => placeOf(query, condition) === 'size');
  return {
    edge_label: edge.spec.label,
    members: edge.members.map(({ spec: { name, node_label, role }, column }) => ({
      name,
      node_label,
      column: column.name,
      role,
    })),
    edge_predicates: ofEdge.map((condition) => ({
      column: columnName(query, condition, edge),
      ...predicate(condition),
    })),
    member_predicates: ofMembers.map((condition) => ({
      member: findMember(query, condition.subject.owner, edge.spec).name,
      ...predicate(condition),
    })),
    size_predicates: ofSize.map(predicate),
  };
}

/** Returns what a condition is about: the edge, a member, or the number of members. */
export function placeOf({ alias }: Query, { subject }: Condition): 'edge' | 'member' | 'size' {
  if (subject.kind === 'size') return 'size';
  return subject.owner.name.toLowerCase() === alias.name.toLowerCase() ? 'edge' : 'member';
}

/** Returns whether a condition on the edge is about its time, `event_ts`, not about a column. */
export function isTime({ subject }: Condition): boolean {
  return subject.field?.name.toLowerCase() === 'event_ts';
}

function columnName(query: Query, condition: Condition, edge: NamedEdge): string {
  return isTime(condition) ? 'event_ts' : findColumn(query, condition.subject.field!, edge).name;
}

function predicate({ operator, literals }: Condition): Predicate {
  const values = literals.map(jsonOf);
  return { op: operator, value: operator === 'IN' || operator === 'BETWEEN' ? values : values[0]! };
}

function jsonOf({ value }: Literal): PlanValue {
  return typeof value === 'bigint' ? String(value) : value;
}
