// Looks up nodes by key for readers, which may have an older snapshot or see their own writes.

import { keyProblem, type NodeKey } from '../../model/node-refs.ts';
import type { Table } from '../table/table.ts';

/**
 * Returns the number of the node of a node table with a key, or 0 if there is none. The number may
 * be of a node that is deleted or that is about to be created: whether its row and its edges are
 * seen depends on the snapshot of the reader.
 */
export function nodeNumber(table: Table, key: unknown): number {
  const { nodes } = table.context;
  const kind = nodes.kindOf(table);
  return keyProblem(key, kind) === undefined ? nodes.keys.find(kind.slot, key === 0 ? 0 : (key as NodeKey)) : 0;
}
