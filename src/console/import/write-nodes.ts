// Writes planned nodes: creates the node table or its missing columns, then sends the nodes.

import type { Node, NodeTable } from '../../client/index.ts';
import { Nodes } from '../../client/nodes.ts';
import { client, connection } from '../session.ts';
import { quoted } from '../statement-words.ts';
import type { NodePlan } from './node-plan.ts';
import type { Job } from './write-parts.ts';

/** Returns the columns of the plan that the table does not have. */
export function missingColumns({ columns }: NodePlan, table: NodeTable | undefined): NodePlan['columns'] {
  return columns.filter(
    ({ name }) => !(table?.columns ?? []).some((other) => other.name.toLowerCase() === name.toLowerCase()),
  );
}

/** `table` is the node table if it exists; otherwise it is created under `name`. */
export function nodeJob(plan: NodePlan, name: string, table: NodeTable | undefined): Job {
  return {
    table: table?.name ?? name,
    noun: 'node',
    rows: plan.nodes,
    open: async (goesOn) => {
      if (!goesOn && table === undefined)
        await connection().json('createNodeTable', { body: { name, key: plan.key, columns: [...plan.columns] } });
      else if (!goesOn)
        for (const column of missingColumns(plan, table))
          await client().query.run(`ALTER NODE TABLE ${quoted(name)} ADD COLUMN ${quoted(column.name)} ${column.type}`);
      return async (part) => part;
    },
    send: (lines, idempotencyKey) =>
      new Nodes(connection()).writeMany(table?.name ?? name, lines as Node[], { idempotencyKey }),
  };
}
