// Produces long lists of [a, b, value]: streamed row by row, or only the largest values.

import { HedgerowError } from '../../errors.ts';
import type { Shape } from '../measure.ts';
import type { SView } from './s-graph.ts';

/**
 * Maximum length of the array of triples, counted in numbers (three per triple): 400 MB. The array
 * grows by doubling, so adding fails at about half of this length.
 */
const MOST_NUMBERS = 50_000_000;

/**
 * Enumerates the pairs of one vertex: for each pair, calls `add` with the other vertex and the
 * value of the pair.
 */
export type RowOf = (vertex: number, add: (other: number, value: number) => void) => void;

/**
 * Returns all pairs of vertices of an s-graph, ordered by ids. The row of a vertex is computed when
 * it is read, so the length of the list is not limited by memory.
 */
export function streamedTriples({ ids, on }: SView, rowOf: RowOf): Shape {
  const order = Uint32Array.from(ids, (_, vertex) => vertex).sort((a, b) => ids[a]! - ids[b]!);
  let place = 0;
  return {
    kind: 'triples',
    ofNodes: on === 'nodes',
    next: () => {
      if (place === order.length) return null;
      const vertex = order[place++]!;
      const id = ids[vertex]!;
      const row: [number, number][] = [];
      rowOf(vertex, (other, value) => {
        if (ids[other]! > id) row.push([ids[other]!, value]);
      });
      row.sort((a, b) => a[0] - b[0]);
      const triples = new Float64Array(row.length * 3);
      for (const [i, [other, value]] of row.entries()) triples.set([id, other, value], i * 3);
      return triples;
    },
  };
}

/**
 * Collects triples. With a limit it keeps only those with the largest values, ties by least ids.
 * The first two numbers of a triple ascend unless the triples are ordered pairs.
 */
export class Triples {
  readonly #limit: number | undefined;
  readonly #isOrdered: boolean;
  #numbers = new Float64Array(3 * 1024);
  #length = 0;

  constructor(limit: number | undefined, isOrdered = false) {
    this.#limit = limit;
    this.#isOrdered = isOrdered;
  }

  add(a: number, b: number, value: number): void {
    if (this.#length + 3 > this.#numbers.length) this.#makeRoom();
    this.#numbers[this.#length++] = this.#isOrdered ? a : Math.min(a, b);
    this.#numbers[this.#length++] = this.#isOrdered ? b : Math.max(a, b);
    this.#numbers[this.#length++] = value;
  }

  #makeRoom(): void {
    const limit = this.#limit;
    if (limit !== undefined && this.#length >= 6 * limit) {
      this.#cut(limit);
      return;
    }
    const wanted = this.#numbers.length * 2;
    if (wanted > MOST_NUMBERS)
      throw new HedgerowError(
        'query_too_large',
        `The answer has more than ${Math.floor(MOST_NUMBERS / 6)} pairs: give a limit, a larger s, a smaller window, or (for distances) a source.`,
      );
    const larger = new Float64Array(wanted);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }

  #cut(limit: number): void {
    const order = this.#order((x, y) => this.#numbers[y + 2]! - this.#numbers[x + 2]! || this.#byIds(x, y));
    this.#take(order.subarray(0, limit));
  }

  #order(compare: (x: number, y: number) => number): Uint32Array {
    return Uint32Array.from({ length: this.#length / 3 }, (_, i) => i * 3).sort(compare);
  }

  #byIds(x: number, y: number): number {
    return this.#numbers[x]! - this.#numbers[y]! || this.#numbers[x + 1]! - this.#numbers[y + 1]!;
  }

  #take(places: Uint32Array): void {
    const taken = new Float64Array(Math.max(this.#numbers.length, places.length * 3));
    for (const [i, at] of places.entries()) taken.set(this.#numbers.subarray(at, at + 3), i * 3);
    this.#numbers = taken;
    this.#length = places.length * 3;
  }

  /** Returns the triples ordered by ids or, with a limit, the largest values first. */
  shape(ofNodes: boolean): Shape {
    if (this.#limit === undefined) this.#take(this.#order((x, y) => this.#byIds(x, y)));
    else this.#cut(this.#limit);
    let all: Float64Array | null = this.#numbers.subarray(0, this.#length);
    return {
      kind: 'triples',
      ofNodes,
      next: () => {
        const part = all;
        all = null;
        return part;
      },
    };
  }
}
