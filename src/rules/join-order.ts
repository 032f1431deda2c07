// Chooses the order in which the conditions of a rule are evaluated. The next positive atom is
// always the one that is expected to match the fewest rows, given the variables that are bound
// already. Guards and negations follow as soon as all their variables are bound.

import type { Condition, Term } from './rule.ts';

/** The size of a positive atom's relation. */
export interface AtomSize {
  count: number;
  /** Returns the number of different values in a column, at least 1. */
  distinct(column: number): number;
}

/**
 * Returns the places of the conditions in `body` in the order of evaluation. `first` is the place
 * of the positive atom that must come first; -1: any positive atom may. Every variable must occur
 * in a positive atom (safety.ts).
 */
export function joinOrder(body: readonly Condition[], first: number, sizeOf: (place: number) => AtomSize): number[] {
  const bound = new Set<string>();
  const left = new Set(body.keys());
  const order: number[] = [];
  const take = (place: number) => {
    order.push(place);
    left.delete(place);
    const condition = body[place]!;
    if (condition.kind === 'atom')
      for (const term of condition.atom.args) if ('variable' in term) bound.add(term.variable);
    for (const other of [...left]) {
      const test = body[other]!;
      if (test.kind !== 'atom' && termsOf(test).every((term) => isBound(term, bound))) {
        order.push(other);
        left.delete(other);
      }
    }
  };
  if (first >= 0) take(first);
  while (left.size > 0) {
    let best = -1;
    let bestCost = Infinity;
    for (const place of left) {
      const condition = body[place]!;
      if (condition.kind !== 'atom') continue;
      const cost = costOf(condition.atom.args, bound, sizeOf(place));
      if (cost < bestCost) {
        best = place;
        bestCost = cost;
      }
    }
    if (best < 0) throw new RangeError('a negation or guard has a variable that no positive atom binds');
    take(best);
  }
  return order;
}

export function termsOf(condition: Condition): readonly Term[] {
  return condition.kind === 'compare' ? [condition.left, condition.right] : condition.atom.args;
}

export function isBound(term: Term, bound: ReadonlySet<string>): boolean {
  return 'constant' in term || bound.has(term.variable);
}

/** Returns the number of rows that an atom is expected to match if its columns are independent. */
function costOf(args: readonly Term[], bound: ReadonlySet<string>, size: AtomSize): number {
  let rows = size.count;
  let free = 0;
  for (const [column, term] of args.entries()) {
    if (isBound(term, bound)) rows /= size.distinct(column);
    else free++;
  }
  return free === 0 ? Math.min(rows, 1) : rows;
}
