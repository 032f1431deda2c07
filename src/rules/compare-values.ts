// Compares two constants: in guards, and for the order in which answers list facts.

import { compareTexts } from '../model/text-order.ts';
import type { CompareOp, Constant } from './rule.ts';

/**
 * Returns whether a guard holds. If the types differ, no guard holds, not even one with !=. Texts
 * are ordered by code point; false is less than true.
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

/** Orders numbers before texts and texts before booleans. */
export function compareConstants(left: Constant, right: Constant): number {
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return RANK_OF_TYPE[typeof left]! - RANK_OF_TYPE[typeof right]!;
}
