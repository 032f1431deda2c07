// The definition of a measure: a name, parameters, and a computation over projections of a table's
// edges.

import type { Graph, Incidence, Steps } from '../core/index.ts';
import type { DirectedKind, DirectedRows, Direction } from './directed.ts';
import type { Parameter, ParameterValues } from './parameters.ts';

/** `events`: every edge counts. `distinct`: edges with equal member sets count once. */
export type Basis = 'events' | 'distinct';

/**
 * The edges of one window in the forms that kernels work on. Each form is built on first use and
 * kept.
 */
export interface Projections {
  /** Width of the table's time buckets, in seconds. */
  readonly bucketSeconds: number;
  incidence(basis: Basis): Steps<Incidence>;
  /**
   * Returns the graph that joins nodes sharing at least `s` edges; the count of an arc is the
   * number of shared edges. With s = 1 this is the co-member graph.
   */
  nodeGraph(s: number, basis: Basis): Steps<Graph>;
  /**
   * Returns the graph that joins edges sharing at least `s` members; the count of an arc is the
   * number of shared members.
   */
  edgeGraph(s: number, basis: Basis): Steps<Graph>;
  /**
   * Returns the graph whose vertices are all nodes, followed by all edges. Each node is joined to
   * the edges that contain it.
   */
  bipartiteGraph(basis: Basis): Steps<Graph>;
  /** Returns the members of every edge that have the roles of a direction. */
  directedRows(direction: Direction): Steps<DirectedRows>;
  /** Returns the directed graph of every edge (directed.ts). */
  directedGraph(kind: DirectedKind, s: number, direction: Direction): Steps<Graph>;
}

export interface MeasureInput {
  readonly projections: Projections;
  /** Set if the parameters `from` and `to` are given. */
  readonly direction: Direction | undefined;
  /**
   * Returns the milliseconds of a clock without a defined epoch. Only for time budgets: no result
   * depends on the clock, except results marked `exact: false`.
   */
  readonly nowMs: () => number;
}

/**
 * Data of a result, which result-text.ts writes as JSON. NaN is written as null. `ofNodes` tells
 * whether the ids are nodes, which named tables show by their keys, or edges.
 */
export type Shape =
  /** A small JSON value. */
  | { kind: 'value'; value: unknown }
  /** {"id": value}, in the order given. */
  | { kind: 'map'; ofNodes: boolean; keys: Float64Array; values: Float64Array | Uint32Array }
  /** {"id": object}. */
  | { kind: 'objects'; ofNodes: boolean; keys: Float64Array; values: readonly Record<string, unknown>[] }
  /** [id, ...] */
  | { kind: 'ids'; ofNodes: boolean; ids: Float64Array }
  /** [[id, ...], ...] */
  | { kind: 'groups'; ofNodes: boolean; groups: readonly ArrayLike<number>[] }
  /** {"value": value, "communities": [[node, ...], ...]} */
  | { kind: 'communities'; value: number | null; groups: readonly ArrayLike<number>[] }
  /** [[a, b, value], ...]: `next` returns further triples as a flat array, and null at the end. */
  | { kind: 'triples'; ofNodes: boolean; next: () => Float64Array | null };

export interface MeasureResult {
  shape: Shape;
  /** The variant of the measure that was used. */
  definition: string;
  /** `distinct` if equal member sets counted once, else `events`; null if both give the same. */
  basis: Basis | null;
}

/** One of the 25 measures. */
export interface Measure {
  readonly name: string;
  /** One sentence that describes the measure. */
  readonly about: string;
  /** Paper or book of the default definition. */
  readonly source: string;
  readonly parameters: readonly Parameter[];
  /** JSON Schema of the answer's field `result`. */
  readonly result: Record<string, unknown>;
  run(input: MeasureInput, params: ParameterValues): Steps<MeasureResult>;
}

/** The time window: two parameters of every measure. */
export const WINDOW: readonly Parameter[] = [
  { name: 'start_ts', type: 'time', about: 'Only edges at this time (epoch seconds or ISO 8601) or later.' },
  { name: 'end_ts', type: 'time', about: 'Only edges at this time (epoch seconds or ISO 8601) or earlier.' },
];

/** Returns the parameter `basis`. Pass its default unless this depends on other parameters. */
export function basisParameter(basis?: Basis): Parameter {
  const about = 'events: every edge counts; distinct: equal member sets count once.';
  const parameter = { name: 'basis', type: 'choice', choices: ['events', 'distinct'], about } as const;
  return basis === undefined ? parameter : { ...parameter, default: basis };
}

/** Returns the requested basis, or `usual`, the measure's default, if none was requested. */
export function basisOf(params: ParameterValues, usual: Basis): Basis {
  return (params.basis as Basis | undefined) ?? usual;
}

export const WEIGHTED: Parameter = {
  name: 'weighted',
  type: 'boolean',
  default: false,
  about: 'Edges count by their weight; a null weight counts as 1.',
};

export const LIMIT: readonly Parameter[] = [
  {
    name: 'limit',
    type: 'integer',
    least: 1,
    about: 'Return at most this many entries, the largest first; ties by least id.',
  },
  { name: 'top', type: 'integer', least: 1, about: 'The same as limit.' },
];

export const NODE_ID: Parameter = {
  name: 'node_id',
  type: 'node',
  about: 'Only this node (in a named table its key): the answer is a map with one entry, or empty.',
};
export const BUDGET: Parameter = {
  name: 'budget_ms',
  type: 'number',
  least: 0,
  about:
    'Milliseconds that the measure may take. After them it fails with 504; clique_number returns its best result, with exact: false.',
};

export const NODE_MAP = {
  type: 'object',
  description: 'By node id; in a named table by key.',
  additionalProperties: { type: ['number', 'null'] },
} as const;
