// Keeps the best edges found so far in a heap of fixed size, whose root is the worst of them.

import type { EdgeOrder } from '../question/question.ts';

/** The key of an edge and its score. */
export interface Candidate {
  readonly id: number;
  readonly eventTs: number;
  readonly score: number;
}

/**
 * Returns whether `a` ranks before `b`. In the order `score`, edges with equal scores rank by time,
 * newest first. Edges with equal times rank by id.
 */
export function comesBefore(a: Candidate, b: Candidate, order: EdgeOrder): boolean {
  if (order === 'score' && a.score !== b.score) return a.score > b.score;
  if (a.eventTs !== b.eventTs) return order === 'oldest' ? a.eventTs < b.eventTs : a.eventTs > b.eventTs;
  return a.id < b.id;
}

export class BestEdges {
  readonly #order: EdgeOrder;
  readonly #size: number;
  readonly #heap: Candidate[] = [];
  readonly #ids = new Set<number>();
  /** Whether more different edges were offered than are kept. */
  overflowed = false;

  constructor(order: EdgeOrder, size: number) {
    this.#order = order;
    this.#size = size;
  }

  get isFull(): boolean {
    return this.#heap.length === this.#size;
  }

  /** The lowest-ranked edge that is kept. */
  get worst(): Candidate | undefined {
    return this.#heap[0];
  }

  get candidates(): readonly Candidate[] {
    return this.#heap;
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** Offers an edge. Offering the same edge again has no effect. */
  offer(candidate: Candidate): void {
    if (this.#ids.has(candidate.id)) return;
    if (!this.isFull) {
      this.#ids.add(candidate.id);
      this.#heap.push(candidate);
      this.#rise(this.#heap.length - 1);
      return;
    }
    this.overflowed = true;
    const worst = this.#heap[0]!;
    if (!comesBefore(candidate, worst, this.#order)) return;
    this.#ids.delete(worst.id);
    this.#ids.add(candidate.id);
    this.#heap[0] = candidate;
    this.#sink();
  }

  /** Offers an edge that is known to rank after all edges that are kept. */
  turnAway(id: number): void {
    this.overflowed ||= !this.#ids.has(id);
  }

  /** Returns the edges, best first. */
  ranked(order: EdgeOrder = this.#order): Candidate[] {
    return [...this.#heap].sort((a, b) => (comesBefore(a, b, order) ? -1 : 1));
  }

  #rise(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!comesBefore(heap[above]!, heap[at]!, this.#order)) return;
      [heap[above], heap[at]] = [heap[at]!, heap[above]!];
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      let worse = 2 * at + 1;
      if (worse >= heap.length) return;
      if (worse + 1 < heap.length && comesBefore(heap[worse]!, heap[worse + 1]!, this.#order)) worse++;
      if (!comesBefore(heap[at]!, heap[worse]!, this.#order)) return;
      [heap[at], heap[worse]] = [heap[worse]!, heap[at]!];
      at = worse;
    }
  }
}
