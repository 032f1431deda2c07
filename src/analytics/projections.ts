// The edges of a window as incidences and graphs. Each of these is built on first use.

import { type Core, type Graph, Incidence, type IncidenceColumns, type Steps } from '../core/index.ts';
import { type DirectedKind, type DirectedRows, type Direction, directedGraph, directedRows } from './directed.ts';
import type { Basis, Projections } from './measure.ts';

/** Maximum number of arcs of a graph: 800 MB including counts. */
const MOST_ARCS = 100_000_000;

/** Projections of one window. They are all in one core instance, and are freed with it. */
export class WindowProjections implements Projections {
  readonly bucketSeconds: number;
  readonly #core: Core;
  #columns: IncidenceColumns | undefined;
  readonly #incidences = new Map<Basis, Incidence>();
  readonly #graphs = new Map<string, Graph>();
  /** The role masks of the members, in the order of the edges. */
  #masks: Uint16Array | undefined;
  readonly #directed = new Map<string, DirectedRows>();

  /** `columns`: all edges of the window. They are released once the incidence is built. */
  constructor(core: Core, columns: IncidenceColumns, bucketSeconds: number) {
    this.#core = core;
    this.#columns = columns;
    this.bucketSeconds = bucketSeconds;
  }

  *incidence(basis: Basis): Steps<Incidence> {
    const known = this.#incidences.get(basis);
    if (known !== undefined) return known;
    const made = basis === 'distinct' ? yield* (yield* this.incidence('events')).distinct() : yield* this.#events();
    this.#incidences.set(basis, made);
    return made;
  }

  *#events(): Steps<Incidence> {
    const made = yield* Incidence.build(this.#core, this.#columns!);
    this.#masks = this.#columns!.masks;
    this.#columns = undefined;
    return made;
  }

  *nodeGraph(s: number, basis: Basis): Steps<Graph> {
    const name = `nodes ${s} ${basis}`;
    const known = this.#graphs.get(name);
    if (known !== undefined) return known;
    const made = yield* (yield* this.incidence(basis)).nodeGraph(s, MOST_ARCS);
    this.#graphs.set(name, made);
    return made;
  }

  *edgeGraph(s: number, basis: Basis): Steps<Graph> {
    const name = `edges ${s} ${basis}`;
    const known = this.#graphs.get(name);
    if (known !== undefined) return known;
    const made = yield* (yield* this.incidence(basis)).edgeGraph(s, MOST_ARCS);
    this.#graphs.set(name, made);
    return made;
  }

  *bipartiteGraph(basis: Basis): Steps<Graph> {
    const name = `bipartite ${basis}`;
    const known = this.#graphs.get(name);
    if (known !== undefined) return known;
    const made = yield* (yield* this.incidence(basis)).bipartiteGraph();
    this.#graphs.set(name, made);
    return made;
  }

  *directedRows(direction: Direction): Steps<DirectedRows> {
    const name = `${direction.from} ${direction.to}`;
    const known = this.#directed.get(name);
    if (known !== undefined) return known;
    const made = directedRows(yield* this.incidence('events'), this.#masks, direction);
    this.#directed.set(name, made);
    return made;
  }

  *directedGraph(kind: DirectedKind, s: number, direction: Direction): Steps<Graph> {
    const name = `directed ${kind} ${s} ${direction.from} ${direction.to}`;
    const known = this.#graphs.get(name);
    if (known !== undefined) return known;
    const made = yield* directedGraph(this.#core, yield* this.directedRows(direction), kind, s, MOST_ARCS);
    this.#graphs.set(name, made);
    return made;
  }

  /** Size in bytes of the instance's memory. The memory never shrinks, so this is the peak. */
  get bytes(): number {
    return this.#core.memory.size;
  }
}
