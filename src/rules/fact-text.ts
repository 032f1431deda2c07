// Writes and reads facts as texts such as `close(12, 15)`. Constants are written as in JSON.

import { PREDICATE } from './parse-condition.ts';
import type { Constant } from './rule.ts';

export function factText(predicate: string, args: readonly Constant[]): string {
  return `${predicate}(${args.map((value) => JSON.stringify(value)).join(', ')})`;
}

/** Returns the fact that a text denotes, or undefined if `factText` never writes such a text. */
export function readFactText(text: string): { predicate: string; args: Constant[] } | undefined {
  const open = text.indexOf('(');
  if (open < 0 || !text.endsWith(')')) return undefined;
  const predicate = text.slice(0, open);
  const args = constantsOf(text.slice(open + 1, -1));
  return args !== undefined && PREDICATE.test(predicate) && factText(predicate, args) === text
    ? { predicate, args }
    : undefined;
}

function constantsOf(text: string): Constant[] | undefined {
  try {
    const values: unknown[] = JSON.parse(`[${text}]`);
    return values.every(isConstant) ? values : undefined;
  } catch {
    return undefined;
  }
}

export function isConstant(value: unknown): value is Constant {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}
