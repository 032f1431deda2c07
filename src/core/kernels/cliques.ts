// Computes the clique number of a graph by branch and bound with a colouring bound, with one search
// per vertex (Tomita and Kameda 2007; Eppstein et al. 2010).
//
// A degeneracy order is the order in which vertices are removed if a vertex of least degree is
// always removed next. Every clique has a first vertex v in this order. The other vertices of the
// clique are later neighbours of v, and v has at most as many of these as its core number. So there
// is one search per vertex, in its small set of later neighbours. The searches begin with the
// vertices removed last, which are in the densest core. Vertices whose core number is below the
// best size are skipped. Within a search (assembly/kernels/cliques.ts), the number of colours of a
// greedy colouring of the candidates bounds the clique: a branch is cut when the size of its clique
// plus this number cannot beat the best.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import { Scratch } from '../scratch.ts';
import { coreNumbers } from './cores.ts';

export interface CliqueNumber {
  /** Size of the largest clique found; 0 if the graph has no vertices. */
  value: number;
  /** Whether no larger clique exists. */
  exact: boolean;
}

export interface CliqueLimits {
  /** Size of a clique known to exist; 0 if none is known. */
  atLeast: number;
  /** Returns whether to stop with the result so far; called between steps. */
  isOver: () => boolean;
}

/** Number of words of adjacency rows examined per step, which takes about 5 ms. */
const STEP_WORDS = 3_000_000;
/** Number of vertices scanned per step if there is no branching. */
const STEP_VERTICES = 20_000;
/** Upper bound on the memory of the search from one vertex, in bytes. */
const MOST_SEARCH_BYTES = 512 * 2 ** 20;
const UNFINISHED = 0x8000_0000;

/**
 * Returns the size of the largest clique, at least `atLeast`. It is not exact if the search was
 * stopped, or if the search from a vertex needs too much memory.
 */
export function* cliqueNumber(graph: Graph, { atLeast, isOver }: CliqueLimits): Steps<CliqueNumber> {
  const { vertices } = graph;
  if (vertices === 0) return { value: 0, exact: true };
  const { numbers, order } = coreNumbers(graph);
  const places = new Uint32Array(vertices);
  for (const [place, v] of order.entries()) places[v] = place;
  const search = new CliqueSearch(graph);
  try {
    let best = Math.max(1, atLeast);
    let exact = true;
    for (let place = vertices - 1; place >= 0; place--) {
      const v = order[place]!;
      if (place % STEP_VERTICES === 0) yield 1 - place / vertices;
      if (numbers[v]! < best) continue;
      const candidates = laterNeighbours(graph, v, places).filter((w) => numbers[w]! >= best);
      if (candidates.length < best) continue;
      candidates.sort((a, b) => places[b]! - places[a]!);
      const found = yield* search.among(candidates, best, 1 - place / vertices, isOver);
      best = Math.max(best, found.value);
      if (!found.exact) exact = false;
      if (isOver()) return { value: best, exact: exact && place === 0 };
    }
    return { value: best, exact };
  } finally {
    search.free();
  }
}

function laterNeighbours(graph: Graph, v: number, places: Uint32Array): Uint32Array {
  const { words } = graph.core.memory;
  const begin = words[graph.starts / 4 + v]!;
  const end = words[graph.starts / 4 + v + 1]!;
  const at = graph.neighbours / 4;
  return words.subarray(at + begin, at + end).filter((w) => places[w]! > places[v]!);
}

class CliqueSearch {
  readonly #graph: Graph;
  readonly #scratch: Scratch;
  readonly #marks: number;
  #region = 0;
  #bytes = 0;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#scratch = new Scratch(graph.core);
    this.#marks = this.#scratch.zeroed(graph.vertices * 4);
  }

  /**
   * Returns the size of the largest clique formed by one vertex and some of `candidates`, which are
   * neighbours of this vertex; returns `best` if none is larger.
   */
  *among(candidates: Uint32Array, best: number, done: number, isOver: () => boolean): Steps<CliqueNumber> {
    const { core, starts, neighbours } = this.#graph;
    const k = candidates.length;
    const bytes = searchBytes(core.exports.hg_clique_bytes(k) >>> 0, k);
    if (bytes > MOST_SEARCH_BYTES) return { value: best, exact: false };
    this.#ensure(bytes + k * 4);
    const list = this.#region + bytes;
    core.memory.words.set(candidates, list / 4);
    core.exports.hg_clique_begin(starts, neighbours, list, k, this.#marks, this.#region);
    const branches = Math.ceil(STEP_WORDS / (k * Math.ceil(k / 64) + 300));
    for (;;) {
      const answer = core.exports.hg_clique_go_on(this.#region, bytes, best, branches) >>> 0;
      if (answer === 0) return { value: best, exact: false };
      best = (answer & ~UNFINISHED) >>> 0;
      if (answer < UNFINISHED) return { value: best, exact: true };
      yield done;
      if (isOver()) return { value: best, exact: false };
    }
  }

  #ensure(bytes: number): void {
    if (bytes <= this.#bytes) return;
    if (this.#region !== 0) this.#scratch.drop(this.#region);
    this.#bytes = bytes;
    this.#region = this.#scratch.take(bytes);
  }

  free(): void {
    this.#scratch.free();
  }
}

/**
 * Returns the size in bytes of the bit matrix, of one stack frame per level (for at most k, k - 1,
 * ... candidates), and of one frame under construction.
 */
function searchBytes(matrix: number, k: number): number {
  const words = Math.ceil(k / 64);
  const frames = (k + 2) * (8 + 8 * words) + 4 * (k + 2) * (k + 3) + 8 * k;
  return Math.ceil((matrix + frames + 8 * words) / 16) * 16;
}
