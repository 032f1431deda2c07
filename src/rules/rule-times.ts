// Converts times in rules to epoch seconds, the form that edges use. A text may be an ISO 8601 time
// if it is the second argument of `at`. It may also be one if a guard compares it with the variable
// for the time in an `at`. All other texts stay texts, and no guard holds between a text and a
// number. The stored rule keeps the text as it was written.

import { isoSeconds } from '../iso-time.ts';
import type { Atom, Condition, Term } from './rule.ts';

/** Returns the body with epoch seconds in place of times. */
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
