// Finds which arguments of predicates are nodes: the arguments that rules take from `member(E,
// node)`, `role(E, node, role)`, `node(n, kind)` or `attribute(n, column, value)`, directly or
// through other predicates.
//
// Places count from 0: `member` and `role` have a node in place 1. An argument of a rule's head is
// a node if its variable occurs in a node place of an atom in the body. When a predicate gets a
// place, the rules that have it in the body are read again, until no place is added. So recursion
// and the order of rules do not matter. Example: from `met(A, B) if member(E, A), member(E, B)` and
// `near(A) if met(A, B)` it finds both places of `met` and place 0 of `near`.

import { isAboutNodes, type RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';

type Rule = RuleSet['rules'][number];

/** Number of rules that are read in one step. */
const RULES_A_STEP = 100;

/**
 * Returns for each predicate the argument places that hold nodes according to some rule. Predicates
 * without such places are omitted.
 */
export function* nodePlaces({ rules }: RuleSet): Steps<ReadonlyMap<string, ReadonlySet<number>>> {
  const places = new Map<string, Set<number>>([['member', new Set([1])]]);
  for (const { body } of rules)
    for (const one of body) if (one.kind === 'atom' && isAboutNodes(one.atom)) places.set(one.atom.pred, new Set([0]));
  const readers = new Map<string, Rule[]>();
  for (const [index, rule] of rules.entries()) {
    for (const pred of predicatesOf(rule)) {
      const known = readers.get(pred);
      if (known === undefined) readers.set(pred, [rule]);
      else known.push(rule);
    }
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
  }
  if (readers.has('role')) places.set('role', new Set([1]));
  // A set, so that a rule that already waits is not added again.
  const waiting = new Set([...places.keys()].flatMap((pred) => readers.get(pred) ?? []));
  let read = 0;
  for (const rule of waiting) {
    waiting.delete(rule);
    if (addPlaces(rule, places)) for (const reader of readers.get(rule.head.pred) ?? []) waiting.add(reader);
    if (++read % RULES_A_STEP === 0) yield;
  }
  return places;
}

function predicatesOf({ body }: Rule): Set<string> {
  const predicates = new Set<string>();
  for (const condition of body) if (condition.kind === 'atom') predicates.add(condition.atom.pred);
  return predicates;
}

/** Adds the node places of a rule's head to `places`. Returns whether one of them is new. */
function addPlaces({ head, body }: Rule, places: Map<string, Set<number>>): boolean {
  const nodes = new Set<string>();
  for (const condition of body) {
    if (condition.kind !== 'atom') continue;
    for (const place of places.get(condition.atom.pred) ?? []) {
      const term = condition.atom.args[place];
      if (term !== undefined && 'variable' in term) nodes.add(term.variable);
    }
  }
  let grew = false;
  for (const [place, term] of head.args.entries()) {
    if (!('variable' in term) || !nodes.has(term.variable)) continue;
    const known = places.get(head.pred) ?? new Set();
    grew ||= !known.has(place);
    places.set(head.pred, known.add(place));
  }
  return grew;
}
