// The predicates whose facts are given by edges and by nodes, each with its number of arguments.
// Rules cannot have them as heads.

import type { Atom } from './rule.ts';

/** The first argument is the id of an edge. */
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
  ['supersedes', 2],
]);

/**
 * The first argument is a node of a named table. With another number of arguments these names are
 * free for rules.
 */
const NODE_PREDICATES: ReadonlyMap<string, number> = new Map([
  ['node', 2],
  ['attribute', 3],
]);

/** Returns whether facts of a predicate with this number of arguments are given by nodes. */
export function isAboutNodes({ pred, args }: Pick<Atom, 'pred'> & { readonly args: readonly unknown[] }): boolean {
  return NODE_PREDICATES.get(pred) === args.length;
}
