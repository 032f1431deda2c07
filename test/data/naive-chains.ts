// Visits pairs and causal chains of edges of a file by brute force: all pairs of edges whose time
// difference is in a given range, in plain arrays.

import type { FileEdges } from './data-file.ts';

export function sharedCount(a: readonly number[], b: readonly number[]): number {
  let count = 0;
  for (const node of a) if (b.includes(node)) count++;
  return count;
}

/**
 * Visits the pairs of indexes (first, second) whose time difference (second - first) is `low` to
 * `high` seconds. `test` selects the first edges.
 */
export function forEachPair(
  { times }: FileEdges,
  [low, high]: readonly [number, number],
  visit: (first: number, second: number) => void,
  test: (first: number) => boolean = () => true,
): void {
  let begin = 0;
  for (let first = 0; first < times.length; first++) {
    if (!test(first)) continue;
    while (begin < times.length && times[begin]! < times[first]! + low) begin++;
    for (let second = begin; second < times.length && times[second]! <= times[first]! + high; second++)
      visit(first, second);
  }
}

/**
 * Returns, for each edge, the edges that follow it within `seconds` and share at least `least`
 * members with it.
 */
export function followers(edges: FileEdges, seconds: number, least: number): number[][] {
  const lists: number[][] = edges.times.map(() => []);
  forEachPair(edges, [1, seconds], (first, second) => {
    if (sharedCount(edges.members[first]!, edges.members[second]!) >= least) lists[first]!.push(second);
  });
  return lists;
}

/** Visits the chains of three edges in which each edge follows the previous one. */
export function forEachChain(lists: readonly (readonly number[])[], visit: (a: number, b: number, c: number) => void) {
  for (const [a, seconds] of lists.entries()) for (const b of seconds) for (const c of lists[b]!) visit(a, b, c);
}
