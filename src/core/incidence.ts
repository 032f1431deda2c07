// A hypergraph as sparse rows both ways, nodes of each edge and edges of each node, in an instance's memory.

import type { Steps } from '../schedule/steps.ts';
import type { Graph } from './graph.ts';
import { buildIncidence } from './incidence-build.ts';
import { collapse } from './incidence-distinct.ts';
import type { IncidenceColumns, IncidenceParts } from './incidence-parts.ts';
import { componentsByItems } from './kernels/components.ts';
import type { Core } from './load.ts';
import { bipartite, overlapGraph } from './overlap-graph.ts';
import type { Scratch } from './scratch.ts';

/** Immutable; its regions live in `core` until `free()`. Addresses are bytes in core memory. */
export class Incidence {
  readonly core: Core;
  readonly nodes: number;
  readonly edges: number;
  readonly incidences: number;
  /** f64[nodes], ascending. The number of a node here is its ordinal. */
  readonly nodeIds: number;
  /** f64[edges]; edges are in (time, id) order. The number of an edge here is its ordinal. */
  readonly edgeIds: number;
  /** f64[edges], seconds; of a distinct set: of its representative, the edge with the least id. */
  readonly times: number;
  /** f64[edges]: 1 where the columns have no weight; of a distinct set: the sum over its edges. */
  readonly weights: number;
  /** f64[edges]: 1, or how many edges a distinct set stands for. */
  readonly multiplicity: number;
  /** u32[edges + 1]. */
  readonly edgeStarts: number;
  /** u32[incidences]: node ordinals, ascending in each edge. */
  readonly edgeNodes: number;
  /** u32[nodes + 1]. */
  readonly nodeStarts: number;
  /** u32[incidences]: edge ordinals, ascending in each node. */
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

  /** Numbers the nodes and fills both ways. Errors: `query_too_large` when it cannot fit into one instance, `overloaded` without memory. */
  static *build(core: Core, columns: IncidenceColumns): Steps<Incidence> {
    return new Incidence(core, yield* buildIncidence(core, columns));
  }

  /**
   * Equal member sets once. A set's id is the least id of its edges, its time that edge's; sets are in (time, id) order of those edges. The result
   * stands alone: this one may be freed.
   */
  *distinct(): Steps<Incidence> {
    return new Incidence(this.core, yield* collapse(this.core, this.#parts));
  }

  /** u32[edges of the source], the caller's: the set of each edge of what `distinct()` was called on. Only on a result of `distinct()`. */
  eventToSet(): Uint32Array {
    const { setOf, sources } = this.#parts;
    if (setOf === 0 && this.edges > 0) throw new Error('eventToSet of an incidence that is no result of distinct()');
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

  /** Seconds. */
  copyTimes(): Float64Array {
    return this.#numbers(this.times, this.edges);
  }

  copyWeights(): Float64Array {
    return this.#numbers(this.weights, this.edges);
  }

  copyMultiplicity(): Float64Array {
    return this.#numbers(this.multiplicity, this.edges);
  }

  /** Members of each edge. */
  copySizes(): Uint32Array {
    return this.#differences(this.edgeStarts, this.edges);
  }

  /** Edges that hold each node. */
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

  /** Ordinal of a node, -1: not there. log2 nodes. */
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

  /** Ordinal of an edge, -1: not there. Of a distinct set only its own id is found. One pass over the ids. */
  edgeOrdinal(id: number): number {
    return this.core.memory.numbers.subarray(this.edgeIds / 8, this.edgeIds / 8 + this.edges).indexOf(id);
  }

  /**
   * Nodes that lie in at least `s` common edges; counts: how many. s = 1 is the graph of co-members (two-section, clique graph). `query_too_large`
   * when it has more than `most` arcs (an edge is two).
   */
  nodeGraph(s: number, most: number): Steps<Graph> {
    return overlapGraph(this.core, this.#parts, 'nodes', s, most);
  }

  /** Edges that share at least `s` members; counts: how many (s-line graph; Aksoy et al. 2020). Edges smaller than s have no neighbours. */
  edgeGraph(s: number, most: number): Steps<Graph> {
    return overlapGraph(this.core, this.#parts, 'edges', s, most);
  }

  /** The incidence graph: vertices are the nodes, then the edges. No counts. */
  bipartiteGraph(): Steps<Graph> {
    return bipartite(this.core, this.#parts);
  }

  /** u32[nodes]: components of `nodeGraph(s)` as the least ordinal in each, found without building it. */
  nodeComponents(s: number): Steps<Uint32Array> {
    return componentsByItems(this.core, this.#parts, 'nodes', s);
  }

  /** u32[edges]: components of `edgeGraph(s)` as the least ordinal in each, found without building it. */
  edgeComponents(s: number): Steps<Uint32Array> {
    return componentsByItems(this.core, this.#parts, 'edges', s);
  }

  /** Bytes it holds in core memory. */
  get bytes(): number {
    return this.#regions.bytes;
  }

  /** Gives its regions back; it must not be used afterwards. Graphs made from it stay. */
  free(): void {
    this.#regions.free();
  }
}
