// Reads and extends the companion `<table>_nodes` of a table of numbers, which older imports made.

import { Hyperedges } from '../../client/hyperedges.ts';
import { NAME_COLUMN, NODES_SUFFIX } from '../companion.ts';
import { client, connection } from '../session.ts';
import { quoted } from '../statement-words.ts';
import { type NewNode, NodeNumbers } from './node-numbers.ts';

/** Reads the numbers in the companion. */
export async function openNodes(table: string): Promise<NodeNumbers> {
  const numbers = new Map<string, number>();
  const name = table + NODES_SUFFIX;
  const rows = client().query.rows(`MATCH (n:${quoted(name)}) RETURN n.members AS members, n.${NAME_COLUMN} AS name`);
  for await (const row of rows) {
    if (Array.isArray(row.members) && row.members.length === 1 && typeof row.name === 'string')
      numbers.set(row.name, Number(row.members[0]));
  }
  return new NodeNumbers(numbers);
}

export async function storeNodes(table: string, nodes: readonly NewNode[]): Promise<void> {
  if (nodes.length === 0) return;
  const edges = nodes.map(({ id, name, event_ts }) => ({ event_ts, members: [id], [NAME_COLUMN]: name }));
  await new Hyperedges(connection()).insertMany(edges as Parameters<Hyperedges['insertMany']>[0], table + NODES_SUFFIX);
}
