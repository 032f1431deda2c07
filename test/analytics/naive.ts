// All measures, implemented directly from their definitions on plain arrays, without regard to
// speed. For tests only.

import * as graphs from './naive-graph.ts';
import { type Matrix, zeros } from './naive-graph.ts';
import { modularity } from './naive-modularity.ts';
import { activity, burstiness, hypercores } from './naive-time.ts';
import type { PlainEdge } from './run-measure.ts';

type Params = Record<string, unknown>;

export class Naive {
  readonly events: PlainEdge[];
  /** For each distinct member set, its edge with the smallest id; in (time, id) order. */
  readonly sets: PlainEdge[];
  readonly nodes: number[];
  readonly bucketSeconds: number;

  constructor(edges: readonly PlainEdge[], bucketSeconds: number) {
    const order = (a: PlainEdge, b: PlainEdge) => a.event_ts - b.event_ts || a.id - b.id;
    this.events = edges
      .map((edge) => ({ ...edge, members: [...new Set(edge.members)].sort((a, b) => a - b) }))
      .sort(order);
    const byText = new Map<string, PlainEdge>();
    for (const edge of this.events) {
      const text = String(edge.members);
      const known = byText.get(text);
      if (known === undefined || edge.id < known.id) byText.set(text, edge);
    }
    this.sets = [...byText.values()].sort(order);
    this.nodes = [...new Set(this.events.flatMap(({ members }) => members))].sort((a, b) => a - b);
    this.bucketSeconds = bucketSeconds;
  }

  #edges(params: Params, usual: 'events' | 'distinct'): PlainEdge[] {
    return (params.basis ?? usual) === 'events' ? this.events : this.sets;
  }

  #place(node: number): number {
    return this.nodes.indexOf(node);
  }

  /**
   * Returns, for each pair of nodes, the sum of the weights of the edges that contain both. With
   * `own`, the diagonal is filled too.
   */
  #pairs(edges: readonly PlainEdge[], weight: (edge: PlainEdge) => number, own = false): Matrix {
    const matrix = zeros(this.nodes.length);
    for (const edge of edges)
      for (const a of edge.members)
        for (const b of edge.members) if (own || a !== b) matrix[this.#place(a)]![this.#place(b)]! += weight(edge);
    return matrix;
  }

  get g2(): Matrix {
    return this.#pairs(this.events, () => 1);
  }

  #byNode(values: readonly number[] | readonly (number | null)[]): Record<number, number | null> {
    return Object.fromEntries(this.nodes.map((node, i) => [node, values[i]!]));
  }

  /**
   * Returns the graph in which edges that share at least s members are joined. Edges with fewer
   * than s members are left out.
   */
  #sEdges(edges: readonly PlainEdge[], s: number): { ids: number[]; graph: Matrix } {
    const there = edges.filter(({ members }) => members.length >= s);
    const graph = zeros(there.length);
    for (const [i, a] of there.entries())
      for (const [j, b] of there.entries()) {
        const common = a.members.filter((v) => b.members.includes(v)).length;
        if (i !== j && common >= s) graph[i]![j] = common;
      }
    return { ids: there.map(({ id }) => id), graph };
  }

  #sGraph(params: Params): { ids: number[]; graph: Matrix } {
    const s = (params.s as number) ?? 1;
    if (params.on === 'edges') return this.#sEdges(this.#edges(params, 'distinct'), s);
    const counts = this.#pairs(this.#edges(params, 'events'), () => 1);
    return { ids: this.nodes, graph: counts.map((row) => row.map((count) => (count >= s ? count : 0))) };
  }

  run(name: string, params: Params = {}): unknown {
    return (this as unknown as Record<string, (params: Params) => unknown>)[name]!(params);
  }

  density(params: Params): number {
    const kind = params.kind ?? 'incidence';
    const edges = this.#edges(params, kind === 'edges' || kind === 'uniform' ? 'distinct' : 'events');
    const [n, m] = [this.nodes.length, edges.length];
    const sizes = edges.reduce((sum, { members }) => sum + members.length, 0);
    if (n === 0) return 0;
    if (kind === 'incidence') return sizes / (n * m);
    if (kind === 'overlapness') return sizes / n;
    if (kind === 'edges') return m / (2 ** n - 1);
    const choose = (k: number): number => (k === 0 ? 1 : (choose(k - 1) * (n - k + 1)) / k);
    if (kind === 'uniform') {
      const count = edges.filter(({ members }) => members.length === params.k).length;
      return (params.k as number) > n ? 0 : count / choose(params.k as number);
    }
    const joined = this.g2.flat().filter((count) => count > 0).length / 2;
    return n < 2 ? 0 : joined / choose(2);
  }

  uniformity(params: Params): unknown {
    const sizes = this.#edges(params, 'events').map(({ members }) => members.length);
    const histogram: Record<number, number> = {};
    for (const size of sizes) histogram[size] = (histogram[size] ?? 0) + 1;
    const most = Math.max(0, ...Object.values(histogram));
    const modal =
      Object.keys(histogram)
        .map(Number)
        .find((size) => histogram[size] === most) ?? null;
    const mean = sizes.length === 0 ? 0 : sizes.reduce((a, b) => a + b, 0) / sizes.length;
    const std = Math.sqrt(sizes.reduce((sum, size) => sum + (size - mean) ** 2, 0) / (sizes.length || 1));
    const uniform = Object.keys(histogram).length === 1;
    return {
      value: sizes.length === 0 ? 0 : most / sizes.length,
      is_uniform: uniform,
      k: uniform ? modal : null,
      modal_size: modal,
      mean,
      std,
      cv: mean === 0 ? 0 : std / mean,
      histogram,
    };
  }

  overlapping_coefficient(params: Params): number | null {
    const edges = this.#edges(params, 'distinct');
    let [sum, met, all] = [0, 0, 0];
    for (const [i, { members: a }] of edges.entries())
      for (const { members: b } of edges.slice(i + 1)) {
        const common = a.filter((v) => b.includes(v)).length;
        all++;
        if (common > 0) met++;
        sum += common / (params.kind === 'jaccard' ? a.length + b.length - common : Math.min(a.length, b.length));
      }
    const pairs = params.pairs === 'all' ? all : met;
    return pairs === 0 ? null : sum / pairs;
  }

  node_degree(params: Params): unknown {
    const edges = this.#edges(params, 'events').filter(
      ({ members }) => params.size === undefined || members.length === params.size,
    );
    const weight = (edge: PlainEdge) => (params.weighted === true ? this.#weightOf(edge, params) : 1);
    return this.#byNode(
      this.nodes.map((v) =>
        edges.filter(({ members }) => members.includes(v)).reduce((sum, edge) => sum + weight(edge), 0),
      ),
    );
  }

  /**
   * Returns the weight of an edge, null counting as 1. A distinct set has the total weight of its
   * edges.
   */
  #weightOf(edge: PlainEdge, params: Params): number {
    if (params.basis !== 'distinct') return edge.weight ?? 1;
    const same = this.events.filter(({ members }) => String(members) === String(edge.members));
    return same.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
  }

  edge_size(params: Params): unknown {
    return Object.fromEntries(this.#edges(params, 'events').map(({ id, members }) => [id, members.length]));
  }

  isolated_nodes(): unknown {
    return this.nodes.filter((v) => this.events.every(({ members }) => !members.includes(v) || members.length === 1));
  }

  isolated_edges(params: Params): unknown {
    const edges = this.#edges(params, 'events');
    const alone = edges.filter((edge) =>
      edge.members.every((v) => edges.filter(({ members }) => members.includes(v)).length === 1),
    );
    return alone.map(({ id }) => id).sort((a, b) => a - b);
  }

  redundancy(params: Params): unknown {
    const variant = params.variant ?? 'latapy_nodes';
    const n = this.nodes.length;
    if (variant === 'duplicate_fraction')
      return this.events.length === 0 ? 0 : 1 - this.sets.length / this.events.length;
    if (variant === 'pair_multiplicity') {
      const sum = this.g2.flat().reduce((a, b) => a + b, 0) / 2;
      return n < 2 ? 0 : sum / ((n * (n - 1)) / 2);
    }
    const edges = this.#edges(params, 'distinct');
    const share = (items: number[][], counts: (a: number[], b: number[]) => boolean): number | null => {
      let [good, all] = [0, 0];
      for (const [i, a] of items.entries())
        for (const b of items.slice(i + 1)) {
          all++;
          if (counts(a, b)) good++;
        }
      return all === 0 ? null : good / all;
    };
    if (variant === 'latapy_edges')
      return Object.fromEntries(
        edges.map((e) => [
          e.id,
          share(
            e.members.map((v) => [v]),
            ([u], [w]) => edges.some((f) => f !== e && f.members.includes(u!) && f.members.includes(w!)),
          ),
        ]),
      );
    return this.#byNode(
      this.nodes.map((v) =>
        share(
          edges.filter(({ members }) => members.includes(v)).map(({ members }) => members),
          (a, b) => a.some((u) => u !== v && b.includes(u)),
        ),
      ),
    );
  }

  /**
   * Returns the graph of a projection, and a function that turns values of its vertices into the
   * answer.
   */
  #projection(params: Params): { graph: Matrix; answer: (values: number[]) => unknown } {
    if (params.projection === 'bipartite') {
      const n = this.nodes.length;
      const graph = zeros(n + this.sets.length);
      for (const [e, { members }] of this.sets.entries())
        for (const v of members) graph[this.#place(v)]![n + e] = graph[n + e]![this.#place(v)] = 1;
      return { graph, answer: (values) => this.#byNode(values.slice(0, n)) };
    }
    if (params.projection === 'line') {
      const { ids, graph } = this.#sEdges(this.sets, (params.s as number) ?? 1);
      return { graph, answer: (values) => Object.fromEntries(ids.map((id, i) => [id, values[i]!])) };
    }
    return { graph: this.#sGraph({ s: params.s }).graph, answer: (values) => this.#byNode(values) };
  }

  betweenness(params: Params): unknown {
    const { graph, answer } = this.#projection(params);
    const pairs = ((graph.length - 1) * (graph.length - 2)) / 2;
    const sums = graphs.betweenness(graph);
    return answer(params.normalized === false ? sums : sums.map((sum) => (pairs <= 0 ? 0 : sum / pairs)));
  }

  closeness(params: Params): unknown {
    const { graph, answer } = this.#projection(params);
    return answer(graphs.closeness(graph));
  }

  harmonic_centrality(params: Params): unknown {
    const { graph, answer } = this.#projection(params);
    const sums = graphs.harmonic(graph);
    return answer(
      params.normalized === false ? sums : sums.map((sum) => (graph.length < 2 ? 0 : sum / (graph.length - 1))),
    );
  }

  pagerank(params: Params): unknown {
    const edges = this.#edges(params, 'events');
    const weight = (edge: PlainEdge) => (params.weighted === true ? this.#weightOf(edge, params) : 1);
    const matrices: Record<string, () => Matrix> = {
      hyperedge: () => this.#pairs(edges, (edge) => weight(edge) / edge.members.length, true),
      clique: () => this.g2.map((row) => row.map((count) => Math.min(count, 1))),
      clique_count: () => this.#pairs(edges, weight),
      nonlazy: () => this.#pairs(edges, (edge) => weight(edge) / (edge.members.length - 1)),
    };
    const matrix = matrices[(params.walk as string) ?? 'hyperedge']!();
    return this.#byNode(graphs.pageRank(matrix, (params.alpha as number) ?? 0.85));
  }

  clique_number(): unknown {
    return {
      value: graphs.largestClique(this.g2),
      exact: true,
      max_edge_size: Math.max(0, ...this.events.map(({ members }) => members.length)),
    };
  }

  spectral_gap(params: Params): number | null {
    const edges = this.#edges(params, 'events');
    const weight = (edge: PlainEdge) => (params.weighted === true ? this.#weightOf(edge, params) : 1);
    const weights =
      params.laplacian === 'normalized_clique'
        ? this.g2.map((row) => row.map((count) => Math.min(count, 1)))
        : this.#pairs(edges, (edge) => weight(edge) / edge.members.length, true);
    if (weights.length < 2) return null;
    const sums = weights.map((row) => row.reduce((a, b) => a + b, 0));
    if (graphs.groupsOf(this.g2).length > 1) return 0;
    const laplacian = weights.map((row, a) =>
      row.map((value, b) => (a === b ? 1 : 0) - value / Math.sqrt(sums[a]! * sums[b]!)),
    );
    return graphs.eigenvalues(laplacian)[1]!;
  }

  algebraic_connectivity(params: Params): number | null {
    const counts = this.#pairs(this.#edges(params, 'events'), () => 1);
    const weights = params.weight === 'count' ? counts : counts.map((row) => row.map((count) => Math.min(count, 1)));
    if (weights.length < 2) return null;
    if (graphs.groupsOf(weights).length > 1) return 0;
    const laplacian = weights.map((row, a) =>
      row.map((value, b) => (a === b ? row.reduce((x, y) => x + y, 0) : 0) - value),
    );
    return graphs.eigenvalues(laplacian)[1]!;
  }

  zhou_clustering(params: Params): unknown {
    const edges = this.#edges(params, 'distinct');
    const graph = this.g2;
    const joined = (a: number, b: number) => graph[this.#place(a)]![this.#place(b)]! > 0;
    const ofNode = (v: number): number => {
      const mine = edges.filter(({ members }) => members.includes(v)).map(({ members }) => members);
      if (params.variant === 'size_ratio') {
        const sum = mine.reduce((total, e) => total + e.length, 0);
        const whole = mine.length * (sum - mine.length);
        return whole === 0 || mine.length < 2
          ? 0
          : mine.reduce((total, e) => total + e.length * (e.length - 1), 0) / whole;
      }
      let [sum, pairs] = [0, 0];
      for (const [i, a] of mine.entries())
        for (const b of mine.slice(i + 1)) {
          pairs++;
          const onlyA = a.filter((u) => !b.includes(u));
          const onlyB = b.filter((u) => !a.includes(u));
          const extra =
            onlyB.filter((u) => onlyA.some((w) => joined(u, w))).length +
            onlyA.filter((u) => onlyB.some((w) => joined(u, w))).length;
          if (onlyA.length + onlyB.length > 0) sum += extra / (onlyA.length + onlyB.length);
        }
      return pairs === 0 ? 0 : sum / pairs;
    };
    return this.#byNode(this.nodes.map(ofNode));
  }

  pairwise_clustering(params: Params): unknown {
    if ((params.mode ?? 'two_section') === 'two_section') return this.#byNode(graphs.localClustering(this.g2));
    const edges = this.#edges(params, 'distinct');
    const holding = this.nodes.map((v) => edges.filter(({ members }) => members.includes(v)));
    return this.#byNode(
      holding.map((mine, v) => {
        const values = holding.flatMap((other, w) => {
          const both = mine.filter((edge) => other.includes(edge)).length;
          if (w === v || both === 0) return [];
          if (params.mode === 'dot') return [both / new Set([...mine, ...other]).size];
          const whole =
            params.mode === 'min' ? Math.min(mine.length, other.length) : Math.max(mine.length, other.length);
          return [both / whole];
        });
        return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
      }),
    );
  }

  /** Returns the modularity of the given partition. */
  modularity(params: Params): number {
    return modularity(this.nodes, this.#edges(params, 'events'), params);
  }

  s_adjacency(params: Params): unknown {
    const { ids, graph } = this.#sGraph(params);
    return this.#triples(ids, graph, (value) => value > 0);
  }

  s_distance(params: Params): unknown {
    const { ids, graph } = this.#sGraph(params);
    return this.#triples(ids, graphs.allDistances(graph), (value) => value > 0 && Number.isFinite(value));
  }

  #triples(ids: readonly number[], matrix: Matrix, isMeant: (value: number) => boolean): number[][] {
    const found: number[][] = [];
    for (const [i, row] of matrix.entries())
      for (const [j, value] of row.entries())
        if (ids[i]! < ids[j]! && isMeant(value)) found.push([ids[i]!, ids[j]!, value]);
    return found.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
  }

  s_connected_components(params: Params): number[][] {
    const { ids, graph } = this.#sGraph(params);
    const groups = graphs.groupsOf(graph).map((group) => group.map((v) => ids[v]!).sort((a, b) => a - b));
    return groups.sort((a, b) => b.length - a.length || a[0]! - b[0]!);
  }

  s_diameter(params: Params): unknown {
    const { ids, graph } = this.#sGraph(params);
    const d = graphs.allDistances(graph);
    const groups = this.s_connected_components(params);
    const widths = groups.map((group) =>
      Math.max(...group.flatMap((a) => group.map((b) => d[ids.indexOf(a)]![ids.indexOf(b)]!))),
    );
    return {
      value: widths[0] ?? 0,
      connected: groups.length === 1,
      components: groups.length,
      max_over_components: Math.max(0, ...widths),
    };
  }

  temporal_activity(params: Params): unknown {
    return activity(this.events, (params.bucket_seconds as number) ?? this.bucketSeconds, params.fill === true);
  }

  temporal_burstiness(params: Params): unknown {
    const of = (edges: readonly PlainEdge[]) => burstiness(edges, params.zeros === true);
    if (params.scope === 'node')
      return Object.fromEntries(
        this.nodes.map((v) => [v, of(this.events.filter(({ members }) => members.includes(v)))]),
      );
    if (params.scope === 'edge')
      return Object.fromEntries(
        this.sets.map((set) => [
          set.id,
          of(this.events.filter(({ members }) => String(members) === String(set.members))),
        ]),
      );
    return of(this.events);
  }

  temporal_coreness(params: Params): unknown {
    const width = (params.window as number) ?? this.bucketSeconds;
    const windows = new Map<number, PlainEdge[]>();
    for (const edge of this.events) {
      const window = Math.floor(edge.event_ts / width);
      windows.set(window, [...(windows.get(window) ?? []), edge]);
    }
    const parts = [...windows.values()];
    const graphOf = (edges: readonly PlainEdge[]) => this.#pairs(edges, () => 1);
    if (params.mode === 'hypercore')
      return this.#byNode(this.#most(parts.map((edges) => hypercores(this.nodes, edges, (params.m as number) ?? 2))));
    if (params.mode === 'span') {
      const span = (params.span as number) ?? 1;
      const found = parts.slice(span - 1).map((_, i) => {
        const several = parts.slice(i, i + span).map(graphOf);
        return graphs.cores(several.reduce((a, b) => a.map((row, v) => row.map((x, w) => Math.min(x, b[v]![w]!)))));
      });
      return this.#byNode(this.#most(found));
    }
    const each = parts.map((edges) => graphs.cores(graphOf(edges)));
    if (params.mode !== 'mean') return this.#byNode(this.#most(each));
    return this.#byNode(this.nodes.map((_, v) => each.reduce((sum, values) => sum + values[v]!, 0) / each.length));
  }

  #most(each: number[][]): number[] {
    return this.nodes.map((_, v) => Math.max(0, ...each.map((values) => values[v]!)));
  }
}
