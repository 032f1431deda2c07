// Finds live edges that a node is a member of, so that such a node is not deleted.

import { buildRowPlan } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { Scan } from '../scan/scan.ts';
import type { Table } from '../table/table.ts';
import type { RowKey } from '../types.ts';

const NO_COLUMNS = buildRowPlan([]);

/**
 * Yields the keys of the live edges of a hyperedge table, in its newest state, that a node is a
 * member of. Edges that are logged but not yet visible to readers are included. A lookup takes some
 * tens of microseconds, and as much for each edge. Throws `table_corrupt`.
 */
export function* edgesOf(table: Table, number: number): Generator<RowKey, void, void> {
  const view = { version: table.version, lsn: table.context.committer.headLsn, overlay: undefined };
  let after: RowKey | undefined;
  do {
    view.version.references++;
    const request = { format: 'json', rows: NO_COLUMNS, nodes: [number], limit: 1, after } as const;
    const scan = new Scan(table, view, request);
    try {
      while (scan.borrowNext() !== null);
    } finally {
      scan.close();
    }
    after = scan.lastKey;
    if (after !== undefined) yield after;
  } while (after !== undefined);
}

/** The error of a deletion of a node that edges of a table hold. */
export function nodeInUse(nodeTable: Table, number: number, user: Table): HedgerowError {
  const key = JSON.stringify(nodeTable.context.nodes.shown(number, false));
  return new HedgerowError(
    'node_in_use',
    `The node ${key} of ${nodeTable.name} is a member of edges of table ${user.name}; delete these edges first.`,
  );
}
