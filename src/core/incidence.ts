// A hypergraph as sparse rows in both directions, in an instance's memory: the nodes of each edge,
// and the edges of each node.

import type { Steps } from '../schedule/steps.ts';
import type { Graph } from './graph.ts';
import { buildIncidence } from './incidence-build.ts';
import { collapse } from './incidence-distinct.ts';
import type { IncidenceColumns, IncidenceParts } from './incidence-parts.ts';
import { componentsByItems } from './kernels/components.ts';
import type { Core } from './load.ts';
import { bipartite, overlapGraph } from './overlap-graph.ts';
import type { Scratch } from './scratch.ts';

/**
 * An immutable hypergraph. Its arrays stay in `core` until `free()`. Addresses are byte offsets in
 * core memory.
 */
export class Incidence {
  readonly core: Core;
  readonly nodes: number;
  readonly edges: number;
  readonly incidences: number;
  /** f64[nodes], ascending. The position of a node in this array is its ordinal. */
  readonly nodeIds: number;
  /** f64[edges], in (time, id) order. The position of an edge in this array is its ordinal. */
  readonly edgeIds: number;
  /**
   * f64[edges], in seconds. The time of a distinct set is the time of its edge with the least id.
   */
  readonly times: number;
  /**
   * f64[edges], 1 where the columns have no weight. The weight of a distinct set is the sum over
   * its edges.
   */
  readonly weights: number;
  /** f64[edges]: 1 for an edge; for a distinct set, the number of edges that it represents. */
  readonly multiplicity: number;
  /** u32[edges + 1]. */
  readonly edgeStarts: number;
  /** u32[incidences]: node ordinals, ascending within each edge. */
  readonly edgeNodes: number;
  /** u32[nodes + 1]. */
  readonly nodeStarts: number;
  /** u32[incidences]: edge ordinals, ascending within each node. */
  readonly nodeEdges: number;
  readonly #parts: IncidenceParts;
  readonly #regions: Scratch;

  private constructor(core: Core, parts: IncidenceParts) {
    this.core = core;
    this.nodes = parts.nodes;
    this.edges = parts.edges;
    this.incidences = parts.incidences;
    this.nodeIds = parts.nodeIds;
    this.edgeIds = parts.edgeIds;
    this.times = parts.times;
    this.weights = parts.weights;
    this.multiplicity = parts.multiplicity;
    this.edgeStarts = parts.edgeStarts;
    this.edgeNodes = parts.edgeNodes;
    this.nodeStarts = parts.nodeStarts;
    this.nodeEdges = parts.nodeEdges;
    this.#parts = parts;
    this.#regions = parts.regions;
  }

  /**
   * Gives ordinals to the nodes and builds the CSR in both directions. Throws `query_too_large` if
   * the hypergraph cannot fit into one instance, and `overloaded` if there is no memory.
   */
  static *build(core: Core, columns: IncidenceColumns): Steps<Incidence> {
    return new Incidence(core, yield* buildIncidence(core, columns));
  }

  /**
   * Merges edges with equal member sets into one. A set has the least id of its edges, and the time
   * of the edge with that id; sets are in (time, id) order. The result is independent of this
   * incidence, which may be freed.
   */
  *distinct(): Steps<Incidence> {
    return new Incidence(this.core, yield* collapse(this.core, this.#parts));
  }

  /**
   * Returns u32[edges of the source], owned by the caller: the set of each edge of the incidence on
   * which `distinct()` was called. May be called only on a result of `distinct()`.
   */
  eventToSet(): Uint32Array {
    const { setOf, sources } = this.#parts;
    if (setOf === 0 && this.edges > 0) throw new Error('eventToSet() of an incidence that distinct() did not return');
    return this.#words(setOf, sources);
  }

  #words(address: number, count: number): Uint32Array {
    return this.core.memory.words.slice(address / 4, address / 4 + count);
  }

  #numbers(address: number, count: number): Float64Array {
    return this.core.memory.numbers.slice(address / 8, address / 8 + count);
  }

  copyNodeIds(): Float64Array {
    return this.#numbers(this.nodeIds, this.nodes);
  }

  copyEdgeIds(): Float64Array {
    return this.#numbers(this.edgeIds, this.edges);
  }

  /** Returns the times, f64[edges], in seconds. */
  copyTimes(): Float64Array {
    return this.#numbers(this.times, this.edges);
  }

  copyWeights(): Float64Array {
    return this.#numbers(this.weights, this.edges);
  }

  copyMultiplicity(): Float64Array {
    return this.#numbers(this.multiplicity, this.edges);
  }

  /** Returns the number of members of each edge. */
  copySizes(): Uint32Array {
    return this.#differences(this.edgeStarts, this.edges);
  }

  /** Returns the number of edges that contain each node. */
  copyNodeDegrees(): Uint32Array {
    return this.#differences(this.nodeStarts, this.nodes);
  }

  #differences(starts: number, count: number): Uint32Array {
    const words = this.core.memory.words;
    const at = starts / 4;
    const sizes = new Uint32Array(count);
    for (let i = 0; i < count; i++) sizes[i] = words[at + i + 1]! - words[at + i]!;
    return sizes;
  }

  /** Returns the ordinal of a node, or -1 if there is no such node. Cost: log2 nodes. */
  nodeOrdinal(id: number): number {
    const numbers = this.core.memory.numbers;
    const at = this.nodeIds / 8;
    let low = 0;
    let high = this.nodes;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[at + middle]! < id) low = middle + 1;
      else high = middle;
    }
    return low < this.nodes && numbers[at + low] === id ? low : -1;
  }

  /**
   * Returns the ordinal of an edge, or -1 if there is no such edge. A distinct set is found only by
   * its own id. Cost: scans all ids.
   */
  edgeOrdinal(id: number): number {
    return this.core.memory.numbers.subarray(this.edgeIds / 8, this.edgeIds / 8 + this.edges).indexOf(id);
  }

  /**
   * Builds the graph that joins nodes with at least `s` common edges; the counts are the numbers of
   * common edges. With s = 1 this is the co-member graph (two-section, clique graph). Throws
   * `query_too_large` if the graph has more than `most` arcs (two per pair of neighbours).
   */
  nodeGraph(s: number, most: number): Steps<Graph> {
    return overlapGraph(this.core, this.#parts, 'nodes', s, most);
  }

  /**
   * Builds the graph that joins edges with at least `s` common members (s-line graph; Aksoy et al.
   * 2020); the counts are the numbers of common members. Edges with fewer than s members have no
   * neighbours.
   */
  edgeGraph(s: number, most: number): Steps<Graph> {
    return overlapGraph(this.core, this.#parts, 'edges', s, most);
  }

  /**
   * Builds the incidence graph, without counts: its vertices are the nodes, followed by the edges.
   */
  bipartiteGraph(): Steps<Graph> {
    return bipartite(this.core, this.#parts);
  }

  /**
   * Returns u32[nodes], the components of `nodeGraph(s)`: for each node the least ordinal in its
   * component. Does not build the graph.
   */
  nodeComponents(s: number): Steps<Uint32Array> {
    return componentsByItems(this.core, this.#parts, 'nodes', s);
  }

  /**
   * Returns u32[edges], the components of `edgeGraph(s)`: for each edge the least ordinal in its
   * component. Does not build the graph.
   */
  edgeComponents(s: number): Steps<Uint32Array> {
    return componentsByItems(this.core, this.#parts, 'edges', s);
  }

  /** Size in bytes of the incidence's arrays in core memory. */
  get bytes(): number {
    return this.#regions.bytes;
  }

  /**
   * Frees the incidence's arrays; the incidence must not be used afterwards. Graphs built from it
   * stay valid.
   */
  free(): void {
    this.#regions.free();
  }
}
