// The values of the variables of one rule in one derivation.

import type { Atom, Constant, Term } from './rule.ts';

export type Bindings = Map<string, Constant>;

/**
 * Binds the variables of `atom` so that its arguments are equal to `args`. Returns false if this is
 * impossible; the bindings must then not be used.
 */
export function matchAtom(atom: Atom, args: readonly Constant[], bindings: Bindings): boolean {
  return (
    atom.args.length === args.length &&
    atom.args.every((term, at) => {
      const value = args[at]!;
      const known = valueOfTerm(term, bindings);
      if (known !== undefined) return known === value;
      if ('variable' in term) bindings.set(term.variable, value);
      return true;
    })
  );
}

/** Returns the value of a term, or undefined for a variable without a value. */
export function valueOfTerm(term: Term, bindings: Bindings): Constant | undefined {
  return 'constant' in term ? term.constant : bindings.get(term.variable);
}
