// Reads the parts of a rule: conditions, atoms and terms. Every fault is reported with its place.

import { didYouMean } from '../model/suggestions.ts';
import { HALF_PAIR, isTooLong, isWellFormed, MAX_TEXT_BYTES } from '../model/text.ts';
import { type Fault, fault, type Place, shown } from './fault.ts';
import {
  type Atom,
  COMPARE_OPS,
  type CompareOp,
  type Condition,
  type Constant,
  type Term,
  type WireAtom,
  type WireCondition,
} from './rule.ts';

export const PREDICATE = /^[a-z_][A-Za-z0-9_]{0,127}$/;
export const VARIABLE = /^\?[A-Za-z_][A-Za-z0-9_]{0,127}$/;
export const MAX_ARGS = 16;
/** Only this many fields are compared with a name that may be misspelt. */
const MAX_HINTED = 32;

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, loc: Place, what: string, faults: Fault[]): Fields | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  faults.push(fault(loc, `must be a JSON object: ${what}, not ${shown(value)}`));
  return undefined;
}

/**
 * Returns `is missing`, followed by what is wanted and by a field that may be a misspelling of
 * `name`.
 */
export function missing(fields: Fields, name: string, wanted: string): string {
  const misspelt = Object.keys(fields)
    .slice(0, MAX_HINTED)
    .find((field) => field !== name && didYouMean(field, [name]) !== '');
  return `is missing: ${wanted}${misspelt === undefined ? '' : `; is ${shown(misspelt)} a misspelling of it?`}`;
}

/** Reads a condition: an atom, a negation or a guard, but only one of them. */
export function readCondition(
  value: unknown,
  loc: Place,
  faults: Fault[],
): { condition: Condition; wire: WireCondition } | undefined {
  const forms = 'an atom {pred, args}, a negation {not: {pred, args}} or a guard {compare: [left, op, right]}';
  const fields = fieldsOf(value, loc, forms, faults);
  if (fields === undefined) return undefined;
  const given = formsOf(fields);
  if (given.length !== 1) {
    const what =
      given.length === 0
        ? `has none of pred, not and compare${misspeltForm(fields)}`
        : `has ${given.join(' and ')} at once`;
    faults.push(fault(loc, `must be exactly one of ${forms}; it ${what}`));
    return undefined;
  }
  if (given[0] === 'compare') return readGuard(fields.compare, [...loc, 'compare'], faults);
  if (given[0] === 'not') return readNegation(fields.not, [...loc, 'not'], faults);
  const atom = readAtom(fields, loc, faults);
  return atom && { condition: { kind: 'atom', atom: atom.atom }, wire: atom.wire };
}

/** Returns the fields that determine the form of a condition. A valid condition has exactly one. */
function formsOf(fields: Fields): string[] {
  const isThere = (name: string) => fields[name] !== undefined && fields[name] !== null;
  const forms: string[] = ['not', 'compare'].filter(isThere);
  if (isThere('pred') || isThere('args')) forms.unshift(isThere('pred') ? 'pred' : 'args');
  return forms;
}

function misspeltForm(fields: Fields): string {
  for (const field of Object.keys(fields).slice(0, MAX_HINTED)) {
    const meant = ['pred', 'not', 'compare'].find((name) => didYouMean(field, [name]) !== '');
    if (meant !== undefined) return ` (is ${shown(field)} a misspelling of ${meant}?)`;
  }
  return '';
}

function readNegation(value: unknown, loc: Place, faults: Fault[]) {
  const fields = fieldsOf(value, loc, 'the atom {pred, args} that must not hold', faults);
  if (fields === undefined) return undefined;
  const [form, ...others] = formsOf(fields);
  if (others.length > 0 || form === 'compare' || form === 'not') {
    const instead = form === 'compare' ? '; write the guard with the opposite operator' : '';
    faults.push(fault(loc, `must be one atom {pred, args}${instead}`));
    return undefined;
  }
  const atom = readAtom(fields, loc, faults);
  if (atom === undefined) return undefined;
  return { condition: { kind: 'not', atom: atom.atom } as const, wire: { not: atom.wire } };
}

const OPS_OF_WIRE: ReadonlyMap<unknown, CompareOp> = new Map<unknown, CompareOp>([
  ['=', '=='],
  ...COMPARE_OPS.map((op) => [op, op] as const),
]);
/** Operators of other languages, each with the operator that an error suggests instead. */
const FOREIGN_OPS: ReadonlyMap<unknown, CompareOp> = new Map<unknown, CompareOp>([
  ['===', '=='],
  ['!==', '!='],
  ['<>', '!='],
  ['=<', '<='],
  ['=>', '>='],
  ['≠', '!='],
  ['≤', '<='],
  ['≥', '>='],
]);

function readGuard(value: unknown, loc: Place, faults: Fault[]) {
  if (!Array.isArray(value) || value.length !== 3) {
    const is = Array.isArray(value) ? `it has ${value.length} items` : `it is ${shown(value)}`;
    faults.push(fault(loc, `must be an array of three: left, operator, right; ${is}`));
    return undefined;
  }
  const left = readTerm(value[0], loc, 0, faults);
  const op = OPS_OF_WIRE.get(value[1]);
  if (op === undefined) {
    const meant = FOREIGN_OPS.get(value[1]);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    faults.push(fault([...loc, 1], `must be one of = ${COMPARE_OPS.join(' ')}, not ${shown(value[1])}${hint}`));
  }
  const right = readTerm(value[2], loc, 2, faults);
  if (left === undefined || op === undefined || right === undefined) return undefined;
  const condition: Condition = { kind: 'compare', left, op, right };
  return { condition, wire: { compare: [wireOf(value[0]), value[1], wireOf(value[2])] } as const };
}

export interface WrittenAtom {
  readonly atom: Atom;
  readonly wire: WireAtom;
}

export function readAtom(fields: Fields, loc: Place, faults: Fault[]): WrittenAtom | undefined {
  const pred = readPredicate(fields, loc, faults);
  const args = readArgs(fields, [...loc, 'args'], faults);
  if (pred === undefined || args === undefined) return undefined;
  return { atom: { pred, args }, wire: { pred, args: (fields.args as Constant[]).map(wireOf) } };
}

function readPredicate(fields: Fields, loc: Place, faults: Fault[]): string | undefined {
  const { pred } = fields;
  if (typeof pred === 'string' && PREDICATE.test(pred)) return pred;
  const place = [...loc, 'pred'];
  if (pred === undefined || pred === null) faults.push(fault(place, missing(fields, 'pred', 'a predicate name')));
  else {
    const wanted = 'a small letter or _ and then letters, digits and _, at most 128';
    faults.push(fault(place, `must be a predicate name: ${wanted}; it is ${shown(pred)}`));
  }
  return undefined;
}

function readArgs(fields: Fields, loc: Place, faults: Fault[]): Term[] | undefined {
  const { args } = fields;
  const wanted = `an array of 0 to ${MAX_ARGS} variables and constants`;
  if (args === undefined || args === null) {
    faults.push(fault(loc, missing(fields, 'args', wanted)));
    return undefined;
  }
  if (!Array.isArray(args) || args.length > MAX_ARGS) {
    const is = Array.isArray(args) ? `it has ${args.length}` : `it is ${shown(args)}`;
    faults.push(fault(loc, `must be ${wanted}; ${is}`));
    return undefined;
  }
  const terms = args.map((value: unknown, index) => readTerm(value, loc, index, faults));
  return terms.includes(undefined) ? undefined : (terms as Term[]);
}

/**
 * Reads item `index` of the list at `loc`. The place of the item is built only for a fault, because
 * a set may have 160,000 terms.
 */
function readTerm(value: unknown, loc: Place, index: number, faults: Fault[]): Term | undefined {
  if (typeof value === 'boolean') return { constant: value };
  if (typeof value === 'number' && Number.isFinite(value)) return { constant: value === 0 ? 0 : value };
  if (typeof value === 'string' && VARIABLE.test(value)) return { variable: value.slice(1) };
  const place = [...loc, index];
  if (typeof value !== 'string') {
    faults.push(
      fault(place, `must be a variable like ?X, a text, a finite number, true or false, not ${shown(value)}`),
    );
    return undefined;
  }
  if (!value.startsWith('?')) {
    const before = faults.length;
    const constant = readText(value, place, faults);
    return faults.length > before ? undefined : { constant };
  }
  const wanted = '? and a letter or _, then letters, digits and _, at most 128';
  faults.push(fault(place, `begins with ? and must be a variable then: ${wanted}; it is ${shown(value)}`));
  return undefined;
}

export function readText(value: string, loc: Place, faults: Fault[]): string {
  if (isTooLong(value)) faults.push(fault(loc, `must be a text of at most ${MAX_TEXT_BYTES} bytes`));
  else if (!isWellFormed(value)) faults.push(fault(loc, HALF_PAIR));
  return value;
}

/** Returns a constant or variable in the form that is stored: 0 instead of -0. */
function wireOf(value: Constant): Constant {
  return value === 0 ? 0 : value;
}
