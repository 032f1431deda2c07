// Which arguments of a predicate are nodes: those that rules take from `member(E, node)`, also over other predicates.

import type { RuleSet } from '../rules/index.ts';

/** By predicate, the places of its arguments that are nodes in some rule; predicates without one are left out. */
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
