// Looks up nodes by key for readers, which may have an older snapshot or see their own writes.

import { keyProblem, type NodeKey } from '../../model/node-refs.ts';
import type { Table } from '../table/table.ts';

/**
 * Returns the number of the node of a node table that had a key at an LSN; 0 if there is none. If
 * no snapshot is open from that LSN, it may be the number in the newest state. The number may be of
 * a node that is about to be created: whether its row and its edges are seen depends on the
 * snapshot.
 */
export function nodeNumber(table: Table, key: unknown, lsn: number): number {
  const { nodes } = table.context;
  const kind = nodes.kindOf(table);
  if (keyProblem(key, kind) !== undefined) return 0;
  const sought = key === 0 ? 0 : (key as NodeKey);
  return nodes.findAt(kind, sought, lsn) ?? nodes.keys.find(kind.slot, sought);
}
