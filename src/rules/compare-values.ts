// What comparing two constants means: in a guard, and in the order of answers (contract section 5).

import { compareTexts } from '../model/text-order.ts';
import type { CompareOp, Constant } from './rule.ts';

/**
 * Whether a guard holds. Values of two types never compare, not even as unequal; texts go by code
 * point, false before true.
 */
export function holds(left: Constant, op: CompareOp, right: Constant): boolean {
  return typeof left === typeof right && orderHolds(compareConstants(left, right), op);
}

export function orderHolds(order: number, op: CompareOp): boolean {
  switch (op) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

const RANK_OF_TYPE: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2 };

/** Numbers, then texts, then booleans. */
export function compareConstants(left: Constant, right: Constant): number {
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return RANK_OF_TYPE[typeof left]! - RANK_OF_TYPE[typeof right]!;
}
