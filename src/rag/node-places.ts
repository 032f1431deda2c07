// Finds which arguments of predicates are nodes: the arguments that rules take from
// `member(E, node)`, directly or through other predicates.
//
// Places count from 0: `member` has a node in place 1. An argument of a rule's head is a node if
// its variable occurs in a node place of an atom in the body. The rules are scanned until no place
// is added, so recursion and the order of rules do not matter. Example: from `met(A, B) if
// member(E, A), member(E, B)` and `near(A) if met(A, B)` it finds both places of `met` and place 0
// of `near`.

import type { RuleSet } from '../rules/index.ts';

/**
 * Returns for each predicate the argument places that hold nodes according to some rule. Predicates
 * without such places are omitted.
 */
export function nodePlaces({ rules }: RuleSet): ReadonlyMap<string, ReadonlySet<number>> {
  const places = new Map<string, Set<number>>([['member', new Set([1])]]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { head, body } of rules) {
      const nodes = new Set<string>();
      for (const condition of body) {
        if (condition.kind !== 'atom') continue;
        for (const place of places.get(condition.atom.pred) ?? []) {
          const term = condition.atom.args[place];
          if (term !== undefined && 'variable' in term) nodes.add(term.variable);
        }
      }
      for (const [place, term] of head.args.entries()) {
        if (!('variable' in term) || !nodes.has(term.variable)) continue;
        const known = places.get(head.pred) ?? new Set();
        grew ||= !known.has(place);
        places.set(head.pred, known.add(place));
      }
    }
  }
  return places;
}
