// The schema of HIF, the hypergraph interchange format (v0.1, https://github.com/HIF-org/HIF-standard), element by element.
//
// A document is an object with `incidences` (required), and may have `network-type`, `metadata`, `nodes`, `edges`; nothing else stands in it. Edges and
// nodes are called by texts or integers; `weight` is a number, `attrs` an object, `direction` is `head` or `tail`.

import { HedgerowError } from '../../errors.ts';

export type HifId = string | number;

export interface HifIncidence {
  readonly edge: HifId;
  readonly node: HifId;
}

export interface HifEdge {
  readonly edge: HifId;
  readonly weight?: number | undefined;
  readonly attrs?: Readonly<Record<string, unknown>> | undefined;
}

export const HIF_LISTS: ReadonlySet<string> = new Set(['incidences', 'edges', 'nodes']);
export const NETWORK_TYPES: readonly string[] = ['undirected', 'directed', 'asc'];

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

/** Throws `invalid_input` with what the schema does not allow. */
export function checkElement(list: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('must be an object');
  const element = value as Record<string, unknown>;
  for (const key of REQUIRED[list]!) {
    const id = element[key];
    if (id === undefined) throw fault(`has no ${key}`);
    if (typeof id !== 'string' && !Number.isInteger(id))
      throw fault(`has a ${key} that is neither a text nor an integer`);
  }
  for (const [key, given] of Object.entries(element)) {
    if (REQUIRED[list]!.includes(key)) continue;
    if (!OPTIONAL[list]!.includes(key))
      throw fault(`has a key ${JSON.stringify(key.slice(0, 40))}, which HIF does not know`);
    if (key === 'weight' && typeof given !== 'number') throw fault('has a weight that is no number');
    if (key === 'direction' && given !== 'head' && given !== 'tail')
      throw fault('has a direction other than head and tail');
    if (key === 'attrs' && (typeof given !== 'object' || given === null || Array.isArray(given)))
      throw fault('has attrs that are no object');
  }
  return element;
}

function fault(what: string): HedgerowError {
  return new HedgerowError('invalid_input', `The element ${what}.`);
}
