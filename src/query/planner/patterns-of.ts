// Which patterns an expression reads, and which of their columns.

import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import { partsOf } from '../binder/parts.ts';
import type { ColumnNeeds } from './plan.ts';

/** Patterns that an expression reads, as bits (a MATCH has at most 16). */
export function patternsOf(node: BoundExpression): number {
  let bits = 0;
  switch (node.kind) {
    case 'field':
    case 'row':
    case 'bucket':
    case 'hasNode':
      bits = 1 << node.pattern;
      break;
    case 'shared':
    case 'overlaps':
      bits = (1 << node.left) | (1 << node.right);
      break;
    case 'follows':
      bits = (1 << node.later) | (1 << node.earlier);
      break;
    default:
  }
  for (const part of partsOf(node)) bits |= patternsOf(part);
  return bits;
}

export function noNeeds(): ColumnNeeds {
  return { times: false, ids: false, sizes: false, members: false, properties: new Set() };
}

/** Adds what an expression reads to the needs of its patterns. */
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
      own.times = true;
      own.ids = true;
      own.members = true;
      for (const column of patterns[node.pattern]!.table.columns.columns) own.properties.add(column.id);
      break;
    }
    case 'size':
      // The members themselves are not read.
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
