// Reads and changes one node.

import type { Node, NodeTable } from '../../client/index.ts';
import { Nodes } from '../../client/nodes.ts';
import type { NodePlace } from '../node-link.tsx';
import { client, connection } from '../session.ts';
import { quoted } from '../statement-words.ts';

/** Returns the row of a node; undefined if there is no such node. */
export async function readNode({ table, key }: NodePlace, { key: column }: NodeTable): Promise<Node | undefined> {
  const statement = `MATCH (n:${quoted(table)}) WHERE n.${quoted(column.name)} = $key RETURN *`;
  const { rows } = await client().query.run(statement, { key });
  return rows[0] as Node | undefined;
}

/** Sets the attributes that are named; null clears one. */
export async function changeNode({ table, key }: NodePlace, kind: NodeTable, attributes: Node): Promise<void> {
  if (!isOfDots(key)) {
    await new Nodes(connection()).patch(table, key, attributes);
    return;
  }
  const names = Object.keys(attributes);
  const changes = names.map((name, at) => `${quoted(name)} = $a${at}`).join(', ');
  const values = Object.fromEntries(names.map((name, at) => [`a${at}`, attributes[name]!]));
  const statement = `UPDATE ${quoted(table)} SET ${changes} WHERE ${quoted(kind.key.name)} = $key`;
  await client().query.run(statement, { ...values, key });
}

/** Deletes a node. Throws a HedgerowApiError with the code `node_in_use` if edges have it. */
export async function deleteNode({ table, key }: NodePlace, kind: NodeTable): Promise<void> {
  if (!isOfDots(key)) await new Nodes(connection()).delete(table, key);
  else await client().query.run(`DELETE FROM ${quoted(table)} WHERE ${quoted(kind.key.name)} = $key`, { key });
}

/** Browsers remove the parts `.` and `..` from the path of a URL, so these keys need statements. */
function isOfDots(key: NodePlace['key']): boolean {
  return key === '.' || key === '..';
}
