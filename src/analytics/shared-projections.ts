// Projections shared by several measures whose steps are interleaved. One measure builds what is
// missing while the others wait.

import type { Core, Graph, Incidence, IncidenceColumns, Steps } from '../core/index.ts';
import type { DirectedKind, DirectedRows, Direction } from './directed.ts';
import type { Basis, Projections } from './measure.ts';
import { WindowProjections } from './projections.ts';

export class SharedProjections implements Projections {
  readonly bucketSeconds: number;
  readonly core: Core;
  readonly #inner: WindowProjections;
  #isMaking = false;

  constructor(core: Core, columns: IncidenceColumns, bucketSeconds: number) {
    this.core = core;
    this.bucketSeconds = bucketSeconds;
    this.#inner = new WindowProjections(core, columns, bucketSeconds);
  }

  incidence(basis: Basis): Steps<Incidence> {
    return this.#alone(() => this.#inner.incidence(basis));
  }

  nodeGraph(s: number, basis: Basis): Steps<Graph> {
    return this.#alone(() => this.#inner.nodeGraph(s, basis));
  }

  edgeGraph(s: number, basis: Basis): Steps<Graph> {
    return this.#alone(() => this.#inner.edgeGraph(s, basis));
  }

  bipartiteGraph(basis: Basis): Steps<Graph> {
    return this.#alone(() => this.#inner.bipartiteGraph(basis));
  }

  directedRows(direction: Direction): Steps<DirectedRows> {
    return this.#alone(() => this.#inner.directedRows(direction));
  }

  directedGraph(kind: DirectedKind, s: number, direction: Direction): Steps<Graph> {
    return this.#alone(() => this.#inner.directedGraph(kind, s, direction));
  }

  *#alone<T>(make: () => Steps<T>): Steps<T> {
    // An empty step, which lets the measure that is building take its next step.
    while (this.#isMaking) yield 0;
    this.#isMaking = true;
    try {
      return yield* make();
    } finally {
      this.#isMaking = false;
    }
  }
}
