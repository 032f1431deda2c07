// Reads the node in the address of its page.

import type { NodeTable, Table } from '../../client/index.ts';
import type { NodePlace } from '../node-link.tsx';

/**
 * Returns the node of `node/Person/Ada`, whose parts are percent-encoded; the first part is a node
 * table or a table of numbers. If it is no node, returns a sentence that says why.
 */
export function nodeAt(
  address: string,
  nodeTables: readonly NodeTable[],
  tables: readonly Table[],
): NodePlace | string {
  const [, table, ...parts] = address.split('/').map(decoded);
  // A slash that was not encoded is part of the key.
  const key = parts.includes(undefined) ? undefined : parts.join('/');
  if (table === undefined || table === '' || key === undefined || key === '')
    return 'The address of a node is #node/TABLE/KEY, where both parts are percent-encoded. Follow a link to a node instead.';
  const isWanted = ({ name }: { name: string }) => name.toLowerCase() === table.toLowerCase();
  const kind = nodeTables.find(isWanted);
  if (kind?.key.type === 'TEXT') return { table: kind.name, key };
  const numbered = kind ?? tables.find((item) => isWanted(item) && item.nodes === 'numbers');
  if (numbered === undefined)
    return tables.some(isWanted)
      ? `The members of ${table} have names; the address of a node begins with the table of the nodes.`
      : `There is no table ${table}; it may have been dropped.`;
  if (/^-?\d+$/.test(key) && Number.isSafeInteger(Number(key))) return { table: numbered.name, key: Number(key) };
  return `The nodes of ${numbered.name} are integers, and ${JSON.stringify(key)} is none.`;
}

/** Returns undefined if the percent-encoding is invalid. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
