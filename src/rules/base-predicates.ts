// The predicates whose facts are given by edges, each with its number of arguments. Rules cannot
// have them as heads.

export const BASE_PREDICATES: ReadonlyMap<string, number> = new Map([
  ['hyperedge', 1],
  ['at', 2],
  ['until', 2],
  ['member', 2],
  ['role', 3],
  ['weight', 2],
  ['mean_dist', 2],
  ['formation', 2],
  ['size', 2],
  ['bucket', 2],
  ['property', 3],
]);
