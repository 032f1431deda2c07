// Determines which patterns an expression reads, and which of their columns.

import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import { partsOf } from '../binder/parts.ts';
import type { ColumnNeeds } from './plan.ts';

/**
 * Returns the patterns that an expression reads, as bits (a MATCH has at most 16 patterns). This
 * function is called many times per plan, so it allocates no lists.
 */
export function patternsOf(node: BoundExpression): number {
  switch (node.kind) {
    case 'field':
    case 'row':
    case 'bucket':
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

export function noNeeds(): ColumnNeeds {
  return { times: false, ids: false, sizes: false, members: false, properties: new Set() };
}

export function copyOfNeeds({ times, ids, sizes, members, properties }: ColumnNeeds): ColumnNeeds {
  return { times, ids, sizes, members, properties: new Set(properties) };
}

/** Adds the columns that an expression reads to the needs of its patterns. */
export function addNeeds(
  node: BoundExpression,
  needs: readonly ColumnNeeds[],
  patterns: readonly BoundPattern[],
): void {
  switch (node.kind) {
    case 'field': {
      const own = needs[node.pattern]!;
      if (node.field.kind === 'event_ts') own.times = true;
      else if (node.field.kind === 'id') own.ids = true;
      else if (node.field.kind === 'members') own.members = true;
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
      for (const column of table.columns.columns) own.properties.add(column.id);
      break;
    }
    case 'size':
      // Only the number of members is read, not the members.
      if (node.operand.kind === 'field') {
        needs[node.operand.pattern]!.sizes = true;
        return;
      }
      break;
    case 'bucket':
      needs[node.pattern]!.times = true;
      break;
    case 'hasNode':
      needs[node.pattern]!.members = true;
      break;
    case 'shared':
      needs[node.left]!.members = true;
      needs[node.right]!.members = true;
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
  for (const part of partsOf(node)) addNeeds(part, needs, patterns);
}
