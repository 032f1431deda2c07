// The predicates that edges give (contract section 5): reserved as heads, each with its number of
// arguments.

export const BASE_PREDICATES: ReadonlyMap<string, number> = new Map([
  ['hyperedge', 1],
  ['at', 2],
  ['member', 2],
  ['weight', 2],
  ['mean_dist', 2],
  ['formation', 2],
  ['size', 2],
  ['bucket', 2],
  ['property', 3],
]);
