// Stores the specs of virtual graphs durably, and changes them one at a time.
//
// Invariants: a spec becomes visible once it is durable. Only checked specs are stored. The
// `spec_version` of an id starts at 1 and grows by one with every replacement. A graph that is
// deleted and created again starts at 1 again. Caches with the version in their keys must therefore
// drop the entries of a graph when it is deleted.

import type { Attach, DocumentChange, Documents } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { Mutex } from '../schedule/locks.ts';
import { hint, shown } from './identifiers.ts';
import type { BackendType, VirtualGraph, VirtualSpec } from './spec/spec.ts';

/** A graph as it appears in the list of graphs. */
export interface GraphSummary {
  readonly id: string;
  readonly name: string;
  readonly backend_type: BackendType;
  readonly edge_labels: readonly string[];
  readonly node_labels: readonly string[];
  readonly spec_version: number;
}

export interface GraphStore {
  /** Throws `graph_not_found`, `corrupt`. */
  get(id: string): VirtualGraph;
  has(id: string): boolean;
  /** Returns the graphs, oldest first. */
  list(): GraphSummary[];
  /**
   * Stores a new graph. In all methods, `attach` makes the answer that is stored together with the
   * change. Rejects with `graph_exists`.
   */
  create(spec: VirtualSpec, attach?: Attach<VirtualGraph>): Promise<VirtualGraph>;
  /**
   * Replaces the graph `id`; the spec must have the same id. Rejects with `graph_not_found`,
   * `invalid_input`.
   */
  replace(id: string, spec: VirtualSpec, attach?: Attach<VirtualGraph>): Promise<VirtualGraph>;
  /** Deletes the graph `id`. Rejects with `graph_not_found`. */
  delete(id: string, attach?: Attach<void>): Promise<void>;
}

const STORE = 'virtual_graphs';

export function graphStore(documents: Pick<Documents, 'get' | 'entries' | 'change'>): GraphStore {
  const changes = new Mutex();
  const find = (id: string): VirtualGraph | undefined => {
    const value = documents.get(STORE, id);
    return value === undefined ? undefined : checkedGraph(id, value);
  };
  const get = (id: string): VirtualGraph => find(id) ?? unknownGraph(id, documents);
  const store = async (graph: VirtualGraph, attach: Attach<VirtualGraph> | undefined): Promise<VirtualGraph> => {
    await documents.change([changeTo(graph.id, graph)], attach && (() => attach(asRead(graph))));
    return get(graph.id);
  };
  return {
    get,
    has: (id) => documents.get(STORE, id) !== undefined,
    list: () => documents.entries(STORE).map(([id, value]) => summaryOf(checkedGraph(id, value))),
    create: (spec, attach) =>
      changes.run(async () => {
        if (documents.get(STORE, spec.id) !== undefined) throw graphExists(spec.id);
        return store({ ...spec, spec_version: 1 }, attach);
      }),
    replace: (id, spec, attach) =>
      changes.run(async () => {
        const { spec_version } = get(id);
        if (spec.id !== id) throw otherId(id, spec.id);
        return store({ ...spec, spec_version: spec_version + 1 }, attach);
      }),
    delete: (id, attach) =>
      changes.run(async () => {
        get(id);
        await documents.change([changeTo(id, null)], attach);
      }),
  };
}

/**
 * Returns the graph as it will be read once it is durable. The answer that is stored with the
 * change must equal the answer that is sent.
 */
function asRead(graph: VirtualGraph): VirtualGraph {
  return checkedGraph(graph.id, graph);
}

function changeTo(id: string, value: VirtualGraph | null): DocumentChange {
  return { store: STORE, id, value };
}

function summaryOf({ id, name, backend, edges, nodes, spec_version }: VirtualGraph): GraphSummary {
  return {
    id,
    name,
    backend_type: backend.type,
    edge_labels: edges.map(({ label }) => label),
    node_labels: nodes.map(({ label }) => label),
    spec_version,
  };
}

/** Checks that a stored value is a graph. Throws `corrupt`. */
function checkedGraph(id: string, value: unknown): VirtualGraph {
  const graph = value as VirtualGraph;
  const isWhole =
    typeof value === 'object' &&
    value !== null &&
    graph.id === id &&
    Number.isSafeInteger(graph.spec_version) &&
    Array.isArray(graph.nodes) &&
    Array.isArray(graph.edges) &&
    typeof graph.backend?.type === 'string';
  if (isWhole) return graph;
  throw new HedgerowError('corrupt', `The stored virtual graph ${shown(id)} cannot be read. Restore a backup.`);
}

function unknownGraph(id: string, documents: Pick<Documents, 'entries'>): never {
  const ids = documents.entries(STORE).map(([known]) => known);
  const advice = ids.length === 0 ? 'create it first' : `list the graphs to see their ids${hint(id, ids)}`;
  throw refusal('graph_not_found', `There is no virtual graph ${shown(id)}; ${advice}.`);
}

export function graphExists(id: string): HedgerowError {
  return refusal('graph_exists', `There is a virtual graph ${shown(id)} already; replace it, or choose another id.`);
}

function otherId(id: string, given: string): HedgerowError {
  const msg = `is ${shown(given)}, but this graph is ${shown(id)}; an id does not change`;
  return refusal('invalid_input', `id ${msg}.`, { errors: [{ loc: ['body', 'id'], msg }] });
}
