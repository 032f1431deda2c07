// Checks the safety of one rule: every variable in its head, in a negation or in a guard must occur
// in a positive atom. Base predicates must have their own number of arguments and cannot be heads.

import { BASE_PREDICATES, isAboutNodes } from './base-predicates.ts';
import { type Fault, type Place, shown, wholeFault } from './fault.ts';
import type { Atom, Condition, ParsedRule, Term } from './rule.ts';

/** Returns everything that is unsafe about a rule. An empty list means that the rule is safe. */
export function safetyFaults({ rule, body, head, loc }: ParsedRule): Fault[] {
  const faults: Fault[] = [];
  const bound = new Set<string>();
  for (const condition of body) if (condition.kind === 'atom') addVariables(condition.atom.args, bound);
  if (!body.some((condition) => condition.kind === 'atom')) {
    const why = 'negations and guards only test values, they give none';
    faults.push(wholeFault([...loc, 'if'], `${rule.id}: the body has no positive atom; ${why}`));
  }
  const requireBound = ({ terms, place, steps, where }: Use) => {
    for (const [variable, index] of unboundIn(terms, bound)) {
      const msg = `${rule.id}: variable ?${variable} of ${where()} is bound by no positive atom of the body`;
      faults.push(wholeFault([...loc, ...place, index * steps], msg));
    }
  };
  requireBound({ terms: head.args, place: ['then', 'args'], steps: 1, where: () => 'the head' });
  for (const [index, condition] of body.entries()) if (condition.kind !== 'atom') requireBound(useOf(condition, index));
  if (BASE_PREDICATES.has(head.pred) || isAboutNodes(head)) {
    const msg = `${rule.id}: ${head.pred} is given by the ${isAboutNodes(head) ? 'nodes' : 'edges'} and cannot be derived; take another name for the head`;
    faults.push(wholeFault([...loc, 'then', 'pred'], msg));
  }
  for (const { atom, place } of atomsOf(body, [...loc, 'if'])) faults.push(...baseArityFaults(rule.id, atom, place));
  return faults;
}

/** Terms whose variables must be bound by a positive atom. */
interface Use {
  readonly terms: readonly Term[];
  /** The place of the list of terms in the rule. */
  readonly place: Place;
  /** Distance from one term to the next in this list. */
  readonly steps: number;
  readonly where: () => string;
}

function useOf(condition: Exclude<Condition, { kind: 'atom' }>, index: number): Use {
  if (condition.kind === 'not') {
    const { pred, args } = condition.atom;
    return { terms: args, place: ['if', index, 'not', 'args'], steps: 1, where: () => `the negation not ${pred}` };
  }
  const where = () => `the guard ${guardText(condition)}`;
  return { terms: [condition.left, condition.right], place: ['if', index, 'compare'], steps: 2, where };
}

function addVariables(terms: readonly Term[], variables: Set<string>): void {
  for (const term of terms) if ('variable' in term) variables.add(term.variable);
}

/** Returns each unbound variable once, with the index of its first occurrence. */
function unboundIn(terms: readonly Term[], bound: ReadonlySet<string>): Map<string, number> {
  const unbound = new Map<string, number>();
  for (const [index, term] of terms.entries()) {
    if ('variable' in term && !bound.has(term.variable) && !unbound.has(term.variable))
      unbound.set(term.variable, index);
  }
  return unbound;
}

function guardText({ left, op, right }: Condition & { kind: 'compare' }): string {
  return `${termText(left)} ${op} ${termText(right)}`;
}

function termText(term: Term): string {
  return 'variable' in term ? `?${term.variable}` : shown(term.constant);
}

/** Returns the atoms of a body with their places, negated ones included. */
export function atomsOf(body: readonly Condition[], loc: Place): { atom: Atom; place: Place }[] {
  return body.flatMap((condition, index) => {
    if (condition.kind === 'compare') return [];
    const place = condition.kind === 'not' ? [...loc, index, 'not'] : [...loc, index];
    return [{ atom: condition.atom, place }];
  });
}

function baseArityFaults(id: string, { pred, args }: Atom, place: Place): Fault[] {
  const arity = BASE_PREDICATES.get(pred);
  if (arity === undefined || arity === args.length) return [];
  return [wholeFault([...place, 'args'], `${id}: ${pred} has ${countText(arity)}, not ${args.length}`)];
}

export function countText(count: number): string {
  return count === 1 ? '1 argument' : `${count} arguments`;
}
