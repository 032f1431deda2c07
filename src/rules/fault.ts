// Describes what is wrong with a rule: faults with their places, and the one error that contains
// them all.

import { type FieldError, type HedgerowError, refusal } from '../errors.ts';

export type Place = readonly (string | number)[];

/**
 * If `whole` is false, `msg` continues the name of the place ("must be ..."). If it is true, `msg`
 * is a complete sentence that names the rule.
 */
export interface Fault {
  readonly loc: Place;
  readonly msg: string;
  readonly whole: boolean;
}

/** Maximum number of sentences in the detail of an error. */
const MAX_SENTENCES = 5;
/** Maximum number of errors in an answer, so that a person can still read it. */
export const MAX_ERRORS = 200;
const MAX_SHOWN = 60;

/** Makes a fault whose `msg` continues the name of the place. */
export function fault(loc: Place, msg: string): Fault {
  return { loc, msg, whole: false };
}

/** Makes a fault whose `msg` is a sentence by itself, without its full stop. */
export function wholeFault(loc: Place, msg: string): Fault {
  return { loc, msg, whole: true };
}

export function fieldErrors(faults: readonly Fault[]): FieldError[] {
  return faults.slice(0, MAX_ERRORS).map(({ loc, msg }) => ({ loc: [...loc], msg }));
}

/** Makes one error from one or more faults. */
export function invalidRule(faults: readonly Fault[]): HedgerowError {
  const sentences = faults.slice(0, MAX_SENTENCES).map(sentenceOf);
  const rest = faults.length > MAX_SENTENCES ? ` (and ${faults.length - MAX_SENTENCES} more)` : '';
  const detail = `${sentences.join('; ')}${rest}`;
  return refusal('invalid_rule', detail.endsWith('?') ? detail : `${detail}.`, { errors: fieldErrors(faults) });
}

function sentenceOf({ loc, msg, whole }: Fault): string {
  if (whole) return msg;
  const inner = loc.slice(1);
  if (inner.length === 0) return `The rule ${msg}`;
  const name = inner.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`));
  return `${name.join('')} ${msg}`;
}

/** Returns a short text for a value of any kind, for messages. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}...` : value);
}
