// Writes a rule as a line of text: `head if condition, condition`.

import type { Rule, WireAtom, WireCondition } from './rule.ts';

/** Writes variables with their `?`, and texts as JSON strings. */
export function ruleText({ if: body, then }: Pick<Rule, 'if' | 'then'>): string {
  return `${atomText(then)} if ${body.map(conditionText).join(', ')}`;
}

function conditionText(condition: WireCondition): string {
  if ('compare' in condition) {
    const [left, op, right] = condition.compare;
    return `${termText(left)} ${op} ${termText(right)}`;
  }
  return 'not' in condition ? `not ${atomText(condition.not)}` : atomText(condition);
}

function atomText({ pred, args }: WireAtom): string {
  return `${pred}(${args.map(termText).join(', ')})`;
}

function termText(term: unknown): string {
  return typeof term === 'string' && term.startsWith('?') ? term : JSON.stringify(term);
}
