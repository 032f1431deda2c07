// Types of the columns of an answer, by name: for descriptions of the API too, so that nothing is imported here.

/** `TIME`: seconds since 1970. `NODES`: the members of an edge. `EDGE`: a whole row. `LIST`: any other list, or nested value. `NULL`: never anything else. */
export const RESULT_TYPES = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN', 'TIME', 'NODES', 'EDGE', 'LIST', 'NULL'] as const;
export type ResultType = (typeof RESULT_TYPES)[number];
