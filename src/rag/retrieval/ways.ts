// Through which nodes the edges are found that hold at least so many of the named ones.

/** Edges that hold all nodes of one way. */
export type Way = readonly number[];

/** Pairs looked for, at most: those of twenty nodes. */
const MOST_PAIRS = 190;
/** A pair is worth its look-up when it saves reading so many rows. */
const ROWS_OF_A_PAIR = 200;

/**
 * Ways that together find every edge that holds at least `least` of the nodes. `rarest`: the nodes, those with the fewest edges first; without nodes
 * there is one way, all edges. An edge that lacks at most n - least nodes holds one of any n - least + 1 of them, and two of any n - least + 2. `rows`: that hold
 * any node, about.
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
