// Texts where a rule speaks of the time of an edge: the second argument of `at`, and what a guard
// compares with a variable that stands there, may be times of ISO 8601. They become epoch seconds,
// as edges have them; the rule is kept as it was written. Any other text stays one: values of two
// types never compare.

import { isoSeconds } from '../iso-time.ts';
import type { Atom, Condition, Term } from './rule.ts';

/** The body with seconds in place of times. */
export function withTimes(body: readonly Condition[]): Condition[] {
  const times = timeVariables(body);
  const isTime = (term: Term) => 'variable' in term && times.has(term.variable);
  return body.map((condition): Condition => {
    if (condition.kind === 'compare') {
      const { left, right } = condition;
      return {
        ...condition,
        left: isTime(right) ? secondsOf(left) : left,
        right: isTime(left) ? secondsOf(right) : right,
      };
    }
    if (!isAt(condition.atom)) return condition;
    const [edge, time] = condition.atom.args as [Term, Term];
    return { ...condition, atom: { ...condition.atom, args: [edge, secondsOf(time)] } };
  });
}

function isAt({ pred, args }: Atom): boolean {
  return pred === 'at' && args.length === 2;
}

function timeVariables(body: readonly Condition[]): Set<string> {
  const names = new Set<string>();
  for (const condition of body) {
    if (condition.kind !== 'atom' || !isAt(condition.atom)) continue;
    const time = condition.atom.args[1]!;
    if ('variable' in time) names.add(time.variable);
  }
  return names;
}

function secondsOf(term: Term): Term {
  const seconds = 'constant' in term && typeof term.constant === 'string' ? isoSeconds(term.constant) : undefined;
  return seconds === undefined ? term : { constant: seconds };
}
