// Loads names of nodes of tables of numbers. Older imports stored them in the table
// `<table>_nodes`: one edge for each node, with the name of the node in the column `vertex`.

import { NAME_COLUMN, NODES_SUFFIX } from './companion.ts';
import type { NodeNames } from './node-text.ts';
import { signal, useEffect } from './preact.ts';
import { client, session } from './session.ts';
import { revision, tableName, tables } from './state.ts';
import { quoted } from './statement-words.ts';

export { BETWEEN_MEMBERS, membersText, type NodeNames, nodeText } from './node-text.ts';

/** Nodes beyond this many are shown by their numbers. */
export const MOST_NAMES = 20_000;
/** Number of tables whose names are kept in memory. */
const MOST_TABLES = 4;

interface Known {
  readonly table: string;
  /** Revision of the data when the names were read. */
  readonly revision: number;
  readonly names: NodeNames;
  /** True when the table of nodes contains more names. */
  readonly isCut: boolean;
}

const NONE: NodeNames = new Map();
/** The loaded names by table, the newest last. */
const known = signal<readonly Known[]>([]);

/**
 * Returns the names for a table, by default the chosen one. Empty when the table has no names or
 * they are not loaded yet.
 */
export function useNodeNames(table = tableName.value): NodeNames {
  return useKnown(table)?.names ?? NONE;
}

/** Returns true when a table has more names than are shown. */
export function useNamesCut(table: string): boolean {
  return useKnown(table)?.isCut === true;
}

function useKnown(table: string): Known | undefined {
  const beside = tables.value.find(isNodesTableOf(table))?.name;
  const now = revision.value;
  const found = known.value.find((item) => item.table === table);
  useEffect(() => {
    if (beside !== undefined && found?.revision !== now) void load(table, beside, now);
  }, [table, beside, now]);
  // While the names are being read again, the previous ones are shown.
  return beside === undefined ? undefined : found;
}

function isNodesTableOf(name: string) {
  const wanted = `${name}${NODES_SUFFIX}`.toLowerCase();
  return (table: { name: string; columns: readonly { name: string; type: string }[] }) =>
    table.name.toLowerCase() === wanted && table.columns.some((column) => column.name === NAME_COLUMN);
}

async function load(table: string, beside: string, now: number): Promise<void> {
  const by = session.value;
  const before = known.value.find((item) => item.table === table);
  if (before?.revision === now) return;
  // Recorded at once, so that no other component requests the same names.
  put({ table, revision: now, names: before?.names ?? NONE, isCut: before?.isCut ?? false });
  const statement = `MATCH (n:${quoted(beside)}) RETURN n.members AS members, n.${NAME_COLUMN} AS name LIMIT ${MOST_NAMES + 1}`;
  const names = new Map<number, string>();
  let isCut = false;
  try {
    const { rows } = await client().query.run(statement);
    isCut = rows.length > MOST_NAMES;
    for (const { members, name } of rows.slice(0, MOST_NAMES)) {
      if (Array.isArray(members) && members.length === 1 && typeof name === 'string' && name !== '')
        names.set(Number(members[0]), name);
    }
  } catch {
    // Numbers are shown instead. If the service cannot be reached, the view itself reports it.
  }
  // The user may have signed out meanwhile; then nothing is stored.
  if (session.value !== by) return;
  put({ table, revision: now, names, isCut });
}

function put(item: Known): void {
  known.value = [...known.value.filter(({ table }) => table !== item.table), item].slice(-MOST_TABLES);
}

/** Called when the user signs out, so that no data of the user remains. */
export function forgetNames(): void {
  known.value = [];
}
