// When a join between nodes and edges looks its right side up node by node.

/** A lookup of a node takes about as long as reading this many rows of a table in order. */
export const ROWS_A_LOOKUP = 80;
/** A table with fewer rows is always read in order. */
export const FEW_ROWS = 256;
