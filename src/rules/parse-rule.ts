// Reads one rule from its wire form (JSON): fills in all defaults and reports every fault with its
// place.

import type { FieldError } from '../errors.ts';
import { MAX_INTEGER } from '../limits.ts';
import { type Fault, fault, fieldErrors, type Place, shown } from './fault.ts';
import {
  type Fields,
  fieldsOf,
  missing,
  readAtom,
  readCondition,
  readText,
  type WrittenAtom,
} from './parse-condition.ts';
import type { Atom, Condition, ParsedRule, Rule, Term, WireCondition } from './rule.ts';
import { withTimes } from './rule-times.ts';

export const RULE_ID = /^rule:[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const PREFIX = 'rule:';
/** Stands in for an id that cannot be read. No rule can have this id. */
export const NO_ID = 'rule:?';
export const MAX_CONDITIONS = 64;
const MAX_NAME_LENGTH = 256;
/** Maximum number of characters in all text constants of a rule together. */
const MAX_RULE_CHARACTERS = 256 * 1024;

/** Returns the rule, or everything that is wrong with it. */
export function parseRule(value: unknown, loc: Place): { parsed: ParsedRule } | { errors: FieldError[] } {
  const { parsed, faults } = readRule(value, loc);
  return parsed === undefined || faults.length > 0 ? { errors: fieldErrors(faults) } : { parsed };
}

/**
 * Reads a rule. `parsed` may be set in spite of faults: if body and head could be read, they can be
 * checked further, but the rule must not be stored. Without faults, `parsed` is always set.
 */
export function readRule(value: unknown, loc: Place): { parsed: ParsedRule | undefined; faults: Fault[] } {
  const faults: Fault[] = [];
  const fields = fieldsOf(value, loc, 'a rule', faults);
  if (fields === undefined) return { parsed: undefined, faults };
  const id = readId(fields, loc, faults);
  const name = readName(fields, loc, id, faults);
  const enabled = readEnabled(fields, loc, faults);
  const priority = readInteger(fields, 'priority', 0, loc, faults);
  const version = Math.max(1, readInteger(fields, 'version', 1, loc, faults));
  const conditions = readBody(fields, loc, faults);
  const then = readHead(fields, loc, faults);
  if (conditions === undefined || then === undefined) return { parsed: undefined, faults };
  const rule: Rule = {
    id,
    name,
    enabled,
    priority,
    version,
    if: conditions.map((one) => one.wire),
    then: { ...then.head.wire, confidence: then.confidence },
  };
  const body = withTimes(conditions.map((one) => one.condition));
  if (textLength(body, then.head.atom) > MAX_RULE_CHARACTERS)
    faults.push(fault(loc, `must not hold more than ${MAX_RULE_CHARACTERS} characters of text`));
  return { parsed: { rule, body, head: then.head.atom, confidence: then.confidence, loc }, faults };
}

function readId(fields: Fields, loc: Place, faults: Fault[]): string {
  const { id } = fields;
  const place = [...loc, 'id'];
  if (typeof id === 'string' && RULE_ID.test(id)) return id;
  if (id === undefined || id === null) {
    faults.push(fault(place, missing(fields, 'id', 'an id like rule:close')));
    return NO_ID;
  }
  const prefixed = typeof id === 'string' && RULE_ID.test(`${PREFIX}${id}`) ? ` Did you mean ${PREFIX}${id}?` : '';
  const wanted = 'rule: and a name of 1 to 128 letters, digits, _ . or -, the first a letter or _';
  faults.push(fault(place, `must be ${wanted}; it is ${shown(id)}.${prefixed}`.replace(/\.$/, '')));
  return NO_ID;
}

function readName(fields: Fields, loc: Place, id: string, faults: Fault[]): string {
  const { name } = fields;
  if (name === undefined || name === null) return id.slice(PREFIX.length);
  const place = [...loc, 'name'];
  if (typeof name === 'string' && name.length <= MAX_NAME_LENGTH) return readText(name, place, faults);
  const wrong = typeof name === 'string' ? `it has ${name.length}` : `it is ${shown(name)}`;
  faults.push(fault(place, `must be a text of at most ${MAX_NAME_LENGTH} characters; ${wrong}`));
  return '';
}

function readEnabled(fields: Fields, loc: Place, faults: Fault[]): boolean {
  const { enabled } = fields;
  if (enabled === undefined || enabled === null) return true;
  if (typeof enabled !== 'boolean')
    faults.push(fault([...loc, 'enabled'], `must be true or false, not ${shown(enabled)}`));
  return enabled === true;
}

function readInteger(fields: Fields, field: string, absent: number, loc: Place, faults: Fault[]): number {
  const value = fields[field];
  if (value === undefined || value === null) return absent;
  if (Number.isSafeInteger(value)) return (value as number) + 0;
  faults.push(fault([...loc, field], `must be an integer of at most ${MAX_INTEGER}, not ${shown(value)}`));
  return absent;
}

interface ReadCondition {
  readonly condition: Condition;
  readonly wire: WireCondition;
}

/** Returns the conditions, or undefined if one of them cannot be read. */
function readBody(fields: Fields, loc: Place, faults: Fault[]): ReadCondition[] | undefined {
  const body = fields.if;
  const place = [...loc, 'if'];
  if (body === undefined || body === null) {
    faults.push(fault(place, missing(fields, 'if', `an array of 1 to ${MAX_CONDITIONS} conditions`)));
    return undefined;
  }
  if (!Array.isArray(body) || body.length < 1 || body.length > MAX_CONDITIONS) {
    const is = Array.isArray(body) ? `it has ${body.length}` : `it is ${shown(body)}`;
    faults.push(fault(place, `must be an array of 1 to ${MAX_CONDITIONS} conditions; ${is}`));
    return undefined;
  }
  const read = body.map((value: unknown, index) => readCondition(value, [...place, index], faults));
  return read.includes(undefined) ? undefined : (read as ReadCondition[]);
}

interface ReadHead {
  readonly head: WrittenAtom;
  readonly confidence: number;
}

function readHead(fields: Fields, loc: Place, faults: Fault[]): ReadHead | undefined {
  const place = [...loc, 'then'];
  const { then } = fields;
  if (then === undefined || then === null) {
    faults.push(fault(place, missing(fields, 'then', 'an object {pred, args, confidence}')));
    return undefined;
  }
  const inner = fieldsOf(then, place, 'the head {pred, args, confidence}', faults);
  if (inner === undefined) return undefined;
  const head = readAtom(inner, place, faults);
  const confidence = readConfidence(inner, place, faults);
  return head && { head, confidence };
}

function readConfidence({ confidence }: Fields, place: Place, faults: Fault[]): number {
  if (confidence === undefined || confidence === null) return 1;
  if (typeof confidence === 'number' && confidence >= 0 && confidence <= 1) return confidence + 0;
  faults.push(fault([...place, 'confidence'], `must be a number from 0 to 1, not ${shown(confidence)}`));
  return 1;
}

/** Returns the number of characters in all text constants. */
function textLength(body: readonly Condition[], head: Atom): number {
  let length = 0;
  const count = (term: Term) => {
    if ('constant' in term && typeof term.constant === 'string') length += term.constant.length;
  };
  for (const condition of body) {
    if (condition.kind !== 'compare') condition.atom.args.forEach(count);
    else [condition.left, condition.right].forEach(count);
  }
  head.args.forEach(count);
  return length;
}
