// Checks a document against the schema of HIF, the hypergraph interchange format (v0.1,
// https://github.com/HIF-org/HIF-standard), field by field and element by element.
//
// A document is an object with the field `incidences`, which is required, and the optional fields
// `network-type`, `metadata`, `nodes` and `edges`. No other fields are allowed. Edges and nodes are
// named by texts or integers; `weight` is a number, `attrs` an object, and `direction` is `head` or
// `tail`.

import { HedgerowError } from '../../../errors.ts';
import { END_COLUMN, IDENTIFIER, RESERVED_NAMES } from '../../../model/columns.ts';
import { hasHugeNumber } from './hif-attrs.ts';

export type HifId = string | number;
type Attrs = Readonly<Record<string, unknown>>;

export interface HifIncidence {
  readonly edge: HifId;
  readonly node: HifId;
  readonly weight?: number | undefined;
  readonly direction?: 'head' | 'tail' | undefined;
  readonly attrs?: Attrs | undefined;
}

export interface HifEdge {
  readonly edge: HifId;
  readonly weight?: number | undefined;
  readonly attrs?: Attrs | undefined;
}

export interface HifNode {
  readonly node: HifId;
  readonly weight?: number | undefined;
  readonly attrs?: Attrs | undefined;
}

/**
 * Returns the roles of an incidence: its direction, and those of its attribute `role`, a text or a
 * list of texts.
 */
export function rolesOfIncidence({ direction, attrs }: HifIncidence): string[] {
  const given = attrs?.role;
  const named = (Array.isArray(given) ? given : [given]).filter(isRole);
  return [...new Set(direction === undefined ? named : [direction, ...named])];
}

/** Returns whether the attribute `role` of an incidence is a role, or a list of some roles. */
export function isRoleList(given: unknown): boolean {
  return Array.isArray(given) ? given.length > 0 && given.every(isRole) : isRole(given);
}

function isRole(value: unknown): value is string {
  if (typeof value !== 'string' || !IDENTIFIER.test(value)) return false;
  const lower = value.toLowerCase();
  return !RESERVED_NAMES.has(lower) && lower !== END_COLUMN;
}

export const HIF_LISTS: ReadonlySet<string> = new Set(['incidences', 'edges', 'nodes']);
const NETWORK_TYPES: readonly unknown[] = ['undirected', 'directed', 'asc'];

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  incidences: ['edge', 'node'],
  edges: ['edge'],
  nodes: ['node'],
};
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  incidences: ['weight', 'direction', 'attrs'],
  edges: ['weight', 'attrs'],
  nodes: ['weight', 'attrs'],
};

/** Checks a field of the document that is not a list of elements. Throws `invalid_input`. */
export function checkField(key: string, value: unknown): void {
  const wrong = (what: string) => new HedgerowError('invalid_input', `Not valid HIF: ${key} ${what}.`);
  if (HIF_LISTS.has(key)) throw wrong('must be a list');
  if (key === 'network-type') {
    if (!NETWORK_TYPES.includes(value)) throw wrong(`must be one of ${NETWORK_TYPES.join(', ')}`);
  } else if (key !== 'metadata')
    throw new HedgerowError(
      'invalid_input',
      `Not valid HIF: the document has a field ${JSON.stringify(key.slice(0, 40))}, which HIF does not know. metadata takes what is about the document.`,
    );
  else if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('must be an object');
}

/** Checks an element of a list. Throws `invalid_input` with the violation of the schema. */
export function checkElement(list: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('must be an object');
  const element = value as Record<string, unknown>;
  for (const key of REQUIRED[list]!) {
    const id = element[key];
    if (id === undefined) throw fault(`has no ${key}`);
    if (typeof id !== 'string' && !Number.isInteger(id))
      throw fault(`has a ${key} that is neither a text nor an integer`);
    if (typeof id === 'number' && !Number.isSafeInteger(id))
      throw fault(`has a ${key} beyond 2^53, which would lose digits; as a text it is kept`);
  }
  for (const [key, given] of Object.entries(element)) {
    if (REQUIRED[list]!.includes(key)) continue;
    if (!OPTIONAL[list]!.includes(key))
      throw fault(`has a key ${JSON.stringify(key.slice(0, 40))}, which HIF does not know`);
    if (key === 'weight' && typeof given !== 'number') throw fault('has a weight that is not a number');
    if (key === 'direction' && given !== 'head' && given !== 'tail')
      throw fault('has a direction other than head and tail');
    if (key === 'attrs' && (typeof given !== 'object' || given === null || Array.isArray(given)))
      throw fault('has attrs that are not an object');
    if (hasHugeNumber(given)) throw fault(`has a number in ${key} that is too large; as a text it is kept`);
  }
  return element;
}

function fault(what: string): HedgerowError {
  return new HedgerowError('invalid_input', `The element ${what}.`);
}
