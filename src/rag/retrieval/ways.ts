// Chooses the lookups in the node index that find all edges with at least k of the n named nodes.
//
// An edge with at least k of n nodes lacks at most n - k of them. By the pigeonhole principle it
// therefore contains at least one of any n - k + 1 nodes, and at least two of any n - k + 2 nodes.
// So there are two ways to find every such edge:
//
// - look up each of the rarest n - k + 1 nodes
// - look up each pair of the rarest n - k + 2 nodes, which reads fewer rows with more lookups
//
// Example: to find edges with 3 of the nodes a, b, c, d (rarest first), look up a and b, or the
// pairs ab, ac and bc.

/** The nodes of one lookup, which finds the edges that contain all of them. */
export type Way = readonly number[];

/** Maximum number of pairs to look up. Twenty nodes have this number of pairs. */
const MOST_PAIRS = 190;
/** Minimum number of rows per pair at which it is worth looking up pairs. */
const ROWS_OF_A_PAIR = 200;

/**
 * Returns lookups that together find every edge with at least `least` of the nodes. If there are no
 * nodes, returns a single lookup that finds all edges. `rarest` are the nodes by ascending number
 * of edges. `rows` is the estimated number of edges with any of the nodes.
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
