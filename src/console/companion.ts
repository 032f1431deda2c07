// Names of the companion of a table of numbers, where older imports stored the names of nodes.

export const NODES_SUFFIX = '_nodes';
export const NAME_COLUMN = 'vertex';
