// Determines which patterns an expression reads, and which of their columns.

import type { BoundExists, BoundExpression, BoundPattern } from '../binder/bound.ts';
import { partsOf } from '../binder/parts.ts';
import type { ColumnNeeds } from './plan.ts';

/**
 * Returns the patterns that an expression reads, as bits (a statement has at most 30 patterns). The
 * patterns of an EXISTS itself are not among them. This function is called many times per plan, so
 * it allocates no lists.
 */
export function patternsOf(node: BoundExpression): number {
  switch (node.kind) {
    case 'field':
    case 'row':
    case 'bucket':
    case 'search':
    case 'score':
      return 1 << node.pattern;
    case 'hasNode':
      return (1 << node.pattern) | patternsOf(node.node);
    case 'shared':
      return (1 << node.left) | (1 << node.right);
    case 'overlaps':
      return (1 << node.left) | (1 << node.right) | patternsOf(node.width);
    case 'follows':
      return (1 << node.later) | (1 << node.earlier) | patternsOf(node.width);
    case 'node':
      return patternsOf(node.key);
    case 'compare':
    case 'arithmetic':
    case 'textMatch':
      return patternsOf(node.left) | patternsOf(node.right);
    case 'negate':
    case 'not':
    case 'isNull':
    case 'size':
    case 'time':
    case 'day':
    case 'date':
      return patternsOf(node.operand);
    case 'and':
    case 'or':
    case 'list':
      return patternsOfAll(node.items);
    case 'in':
      return patternsOf(node.operand) | ('kind' in node.items ? 0 : patternsOfAll(node.items));
    case 'exists':
      return patternsOfAll(node.where) & ~ownPatterns(node);
    case 'constant':
    case 'parameter':
    case 'aggregateValue':
    case 'keyValue':
    case 'itemValue':
      return 0;
  }
}

function patternsOfAll(nodes: readonly BoundExpression[]): number {
  let bits = 0;
  for (const node of nodes) bits |= patternsOf(node);
  return bits;
}

/** Returns the patterns of an EXISTS, as bits. */
export function ownPatterns({ first, patterns }: BoundExists): number {
  return ((1 << patterns.length) - 1) << first;
}

/** Returns whether an expression is an EXISTS or contains one. */
export function hasExists(node: BoundExpression): boolean {
  return node.kind === 'exists' || partsOf(node).some(hasExists);
}

/** Adds every EXISTS of an expression to a list, except those that are inside another EXISTS. */
export function addExists(node: BoundExpression, into: BoundExists[]): void {
  if (node.kind === 'exists') into.push(node);
  else for (const part of partsOf(node)) addExists(part, into);
}

export function noNeeds(): ColumnNeeds {
  return { times: false, ids: false, sizes: false, members: false, masks: false, properties: new Set() };
}

export function copyOfNeeds({ times, ids, sizes, members, masks, properties }: ColumnNeeds): ColumnNeeds {
  return { times, ids, sizes, members, masks, properties: new Set(properties) };
}

function addRoles(needs: ColumnNeeds): void {
  needs.members = true;
  needs.masks = true;
}

/**
 * Adds the columns that an expression reads to the needs of its patterns. The conditions inside an
 * EXISTS are left out, because they are planned separately. With `areScoresKnown`, a score is
 * looked up by the row's id.
 */
export function addNeeds(
  node: BoundExpression,
  needs: readonly ColumnNeeds[],
  patterns: readonly BoundPattern[],
  areScoresKnown = false,
): void {
  switch (node.kind) {
    case 'field': {
      const own = needs[node.pattern]!;
      if (node.field.kind === 'event_ts') own.times = true;
      else if (node.field.kind === 'id') own.ids = true;
      else if (node.field.kind === 'members') own.members = true;
      else if (node.field.kind === 'role') addRoles(own);
      else own.properties.add(node.field.id);
      break;
    }
    case 'row': {
      const own = needs[node.pattern]!;
      const { table } = patterns[node.pattern]!;
      if (!table.isOfNodes) {
        own.times = true;
        own.ids = true;
        own.members = true;
      }
      if (!table.roles.isEmpty) own.masks = true;
      for (const column of table.columns.columns) own.properties.add(column.id);
      break;
    }
    case 'exists':
      return;
    // The rows that match may be found by their ids, after some texts were read.
    case 'search':
      needs[node.pattern]!.ids = true;
      break;
    case 'score':
      needs[node.pattern]!.ids = true;
      if (!areScoresKnown) break;
      return;
    case 'size':
      // Only the number of members is read, not the members.
      if (node.operand.kind === 'field' && node.operand.field.kind !== 'role') {
        needs[node.operand.pattern]!.sizes = true;
        return;
      }
      break;
    case 'bucket':
      needs[node.pattern]!.times = true;
      break;
    case 'hasNode':
      needs[node.pattern]!.members = true;
      if (node.mask !== undefined) addRoles(needs[node.pattern]!);
      break;
    case 'shared':
      needs[node.left]!.members = true;
      needs[node.right]!.members = true;
      if (node.leftMask !== undefined) addRoles(needs[node.left]!);
      if (node.rightMask !== undefined) addRoles(needs[node.right]!);
      break;
    case 'overlaps':
      needs[node.left]!.times = true;
      needs[node.right]!.times = true;
      break;
    case 'follows':
      needs[node.later]!.times = true;
      needs[node.earlier]!.times = true;
      break;
    default:
  }
  for (const part of partsOf(node)) addNeeds(part, needs, patterns, areScoresKnown);
}
