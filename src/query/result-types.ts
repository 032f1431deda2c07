// Types of result columns, by name. Imports nothing, so that API descriptions can use it too.

/**
 * `TIME`: seconds since 1970. `NODES`: the members of an edge. `EDGE`: a whole row of a hyperedge
 * table. `NODE`: a whole row of a node table. `LIST`: any other list, or a nested value. `NULL`:
 * always null.
 */
export const RESULT_TYPES = [
  'INTEGER',
  'REAL',
  'TEXT',
  'BOOLEAN',
  'TIME',
  'NODES',
  'EDGE',
  'NODE',
  'LIST',
  'NULL',
] as const;
export type ResultType = (typeof RESULT_TYPES)[number];
