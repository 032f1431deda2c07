// Finds edges that contain at least a given number of the named nodes through the node index.
//
// By the pigeonhole principle an edge with at least k of n nodes lacks at most n - k of them, so it
// contains one of any n - k + 1 nodes and two of any n - k + 2. Looking up the rarest n - k + 1
// nodes therefore finds every such edge, and so does looking up all pairs of the rarest n - k + 2,
// which reads fewer rows at the cost of more lookups. Example: for 3 of 4 nodes a, b, c, d (rarest
// first), look up a and b, or the pairs ab, ac and bc.

/** The nodes of one lookup, which finds the edges that contain all of them. */
export type Way = readonly number[];

/** Maximum number of pairs to look up: those of twenty nodes. */
const MOST_PAIRS = 190;
/** Number of rows that a pair must save to be worth its lookup. */
const ROWS_OF_A_PAIR = 200;

/**
 * Ways that together find every edge with at least `least` of the nodes; without nodes, a single
 * way that finds all edges. `rarest`: the nodes by ascending number of edges. `rows`: the
 * estimated number of edges with any of the nodes.
 */
export function waysTo(rarest: readonly number[], least: number, rows: number): Way[] {
  const count = rarest.length;
  if (count === 0) return [[]];
  if (least >= count) return [rarest];
  const some = rarest.slice(0, count - least + 2);
  const pairs = (some.length * (some.length - 1)) / 2;
  if (least < 2 || pairs > MOST_PAIRS || rows < pairs * ROWS_OF_A_PAIR)
    return rarest.slice(0, count - least + 1).map((node) => [node]);
  return some.flatMap((node, place) => some.slice(place + 1).map((other) => [node, other]));
}
