// Writes planned edges: creates the table, its node tables and columns, then sends the edges.

import { Hyperedges } from '../../client/hyperedges.ts';
import type { NewHyperedge } from '../../client/index.ts';
import { client, connection } from '../session.ts';
import { quoted } from '../statement-words.ts';
import { lineOf, type PlannedEdge } from './edge-plan.ts';
import { openNodes, storeNodes } from './node-table.ts';
import type { Target } from './target.ts';
import type { Job } from './write-parts.ts';

export function edgeJob(edges: readonly PlannedEdge[], target: Target): Job {
  const { name } = target;
  return {
    table: name,
    noun: 'edge',
    rows: edges,
    open: async (goesOn) => {
      if (!goesOn) await prepare(target);
      return target.members === 'companion' ? numbered(name) : async (part) => (part as PlannedEdge[]).map(lineOf);
    },
    send: (lines, idempotencyKey) =>
      new Hyperedges(connection()).insertMany(lines as NewHyperedge[], name, { idempotencyKey }),
  };
}

async function prepare({ name, create, addColumns, nodeTables }: Target): Promise<void> {
  for (const table of nodeTables) await connection().json('createNodeTable', { body: table });
  if (create !== undefined) await connection().json('createTable', { body: create });
  for (const column of addColumns)
    await client().query.run(`ALTER TABLE ${quoted(name)} ADD COLUMN ${quoted(column.name)} ${column.type}`);
}

/**
 * Makes the lines of edges for a table of numbers whose names are in its companion. Stores the
 * names first, so that no edge contains a number without a name.
 */
async function numbered(table: string): Promise<(part: readonly object[]) => Promise<readonly object[]>> {
  const numbers = await openNodes(table);
  return async (part) => {
    const lines = (part as PlannedEdge[]).map((edge) => {
      const members = edge.members.map((node) => numbers.numberOf(String(node), edge.event_ts));
      return lineOf({ ...edge, members });
    });
    await storeNodes(table, numbers.take());
    return lines;
  };
}
