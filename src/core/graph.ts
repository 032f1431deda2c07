// A graph in an instance's memory, as compressed sparse rows (CSR).

import type { Core } from './load.ts';
import { Scratch } from './scratch.ts';

/** Addresses of the arrays of a graph. `regions` owns the memory. */
export interface GraphParts {
  vertices: number;
  arcs: number;
  starts: number;
  neighbours: number;
  counts: number;
  regions: Scratch;
}

/**
 * An immutable graph without loops. The neighbours of a vertex ascend, and every edge is stored
 * twice, as an arc in each direction; only a graph of `fromRows` may be directed. The arrays stay
 * in `core` until `free()`.
 */
export class Graph {
  readonly core: Core;
  readonly vertices: number;
  /** Twice the number of edges. */
  readonly arcs: number;
  /** Address of u32[vertices + 1]: the arcs of v are [starts[v], starts[v + 1]). */
  readonly starts: number;
  /** Address of u32[arcs]. */
  readonly neighbours: number;
  /**
   * Address of u32[arcs]: the number of items that the two ends of an arc share. 0 if the graph has
   * no counts.
   */
  readonly counts: number;
  readonly #regions: Scratch;

  constructor(core: Core, parts: GraphParts) {
    this.core = core;
    this.vertices = parts.vertices;
    this.arcs = parts.arcs;
    this.starts = parts.starts;
    this.neighbours = parts.neighbours;
    this.counts = parts.counts;
    this.#regions = parts.regions;
  }

  /**
   * Builds a graph from a list of edges: pairs [a, b, a, b, ...] of distinct vertices, each edge
   * once, in any order. `counts`: one per pair. The work is not divided into steps, so this is only
   * for small graphs and tests.
   */
  static fromPairs(core: Core, vertices: number, pairs: Uint32Array, counts?: Uint32Array): Graph {
    const rows: [number, number][][] = Array.from({ length: vertices }, () => []);
    for (let i = 0; i < pairs.length; i += 2) {
      const [a, b] = [pairs[i]!, pairs[i + 1]!];
      const count = counts?.[i / 2] ?? 0;
      rows[a]!.push([b, count]);
      rows[b]!.push([a, count]);
    }
    const regions = new Scratch(core);
    try {
      const arcs = pairs.length;
      const starts = regions.take((vertices + 1) * 4);
      const neighbours = regions.take(arcs * 4);
      const countsAt = counts ? regions.take(arcs * 4) : 0;
      const words = core.memory.words;
      let at = 0;
      for (const [vertex, row] of rows.entries()) {
        words[starts / 4 + vertex] = at;
        for (const [neighbour, count] of row.sort((a, b) => a[0] - b[0])) {
          words[neighbours / 4 + at] = neighbour;
          if (counts) words[countsAt / 4 + at] = count;
          at++;
        }
      }
      words[starts / 4 + vertices] = at;
      return new Graph(core, { vertices, arcs, starts, neighbours, counts: countsAt, regions });
    } catch (error) {
      regions.free();
      throw error;
    }
  }

  /**
   * Builds a graph, which may be directed, from its rows: starts u32[vertices + 1], neighbours
   * u32[arcs], ascending in each row and without loops, and counts u32[arcs]. For a directed graph,
   * only kernels that follow arcs from their beginning may be used: `searchFromAll`,
   * `distancesFrom`, `directedBetweenness`.
   */
  static fromRows(core: Core, starts: Uint32Array, neighbours: Uint32Array, counts: Uint32Array): Graph {
    const regions = new Scratch(core);
    try {
      const [startsAt, neighboursAt, countsAt] = [starts, neighbours, counts].map((list) => {
        const address = regions.take(Math.max(4, list.byteLength));
        core.memory.words.set(list, address / 4);
        return address;
      }) as [number, number, number];
      const vertices = starts.length - 1;
      const arcs = neighbours.length;
      return new Graph(core, { vertices, arcs, starts: startsAt, neighbours: neighboursAt, counts: countsAt, regions });
    } catch (error) {
      regions.free();
      throw error;
    }
  }

  /** Returns the starts, u32[vertices + 1], as a copy that the caller owns. */
  copyStarts(): Uint32Array {
    return this.core.memory.words.slice(this.starts / 4, this.starts / 4 + this.vertices + 1);
  }

  /** Returns the neighbours, u32[arcs], as a copy that the caller owns. */
  copyNeighbours(): Uint32Array {
    return this.core.memory.words.slice(this.neighbours / 4, this.neighbours / 4 + this.arcs);
  }

  /**
   * Returns the counts, u32[arcs], as a copy that the caller owns; null if the graph has no counts.
   */
  copyCounts(): Uint32Array | null {
    return this.counts === 0 ? null : this.core.memory.words.slice(this.counts / 4, this.counts / 4 + this.arcs);
  }

  /** Size in bytes of the graph's arrays in core memory. */
  get bytes(): number {
    return this.#regions.bytes;
  }

  /** Frees the graph's arrays; the graph must not be used afterwards. */
  free(): void {
    this.#regions.free();
  }
}
