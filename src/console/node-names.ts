// Names of nodes, as an import leaves them in a table beside: `<table>_nodes`, one edge for each node, its name in `vertex`.

import { signal, useEffect } from './preact.ts';
import { client } from './session.ts';
import { revision, tableName, tables } from './state.ts';
import { quoted } from './statement-words.ts';

/** The same as `hedgerow import` uses. */
export const NODES_SUFFIX = '_nodes';
export const NAME_COLUMN = 'vertex';
/** Further nodes are shown by their numbers. */
const MOST_NAMES = 20_000;
const MOST_CHARACTERS = 60;

/** Names may hold commas. */
export const BETWEEN_MEMBERS = ' · ';

export type NodeNames = ReadonlyMap<number, string>;

const NONE: NodeNames = new Map();
const known = signal<{ readonly of: string; readonly names: NodeNames }>({ of: '', names: NONE });

/** Of the chosen table; empty when it has none, or none yet. */
export function useNodeNames(): NodeNames {
  const of = tables.value.some(isNodesTableOf(tableName.value)) ? `${revision.value} ${tableName.value}` : '';
  useEffect(() => {
    if (of !== '' && known.value.of !== of) void load(of);
  }, [of]);
  // While they are read anew those from before are good enough.
  return of !== '' && known.value.of.replace(/^\d+ /, '') === tableName.value ? known.value.names : NONE;
}

export function nodeText(names: NodeNames, node: number): string {
  const name = names.get(node);
  if (name === undefined) return String(node);
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name;
}

export function membersText(members: readonly number[], names: NodeNames, most = Infinity): string {
  const shown = members.slice(0, most).map((node) => nodeText(names, node));
  return `${shown.join(names.size === 0 ? ', ' : BETWEEN_MEMBERS)}${members.length > most ? ` and ${members.length - most} more` : ''}`;
}

function isNodesTableOf(name: string) {
  const wanted = `${name}${NODES_SUFFIX}`.toLowerCase();
  return (table: { name: string; columns: readonly { name: string; type: string }[] }) =>
    table.name.toLowerCase() === wanted && table.columns.some((column) => column.name === NAME_COLUMN);
}

async function load(of: string): Promise<void> {
  const statement = `MATCH (n:${quoted(tableName.value + NODES_SUFFIX)}) RETURN n.members AS members, n.${NAME_COLUMN} AS name LIMIT ${MOST_NAMES}`;
  const names = new Map<number, string>();
  try {
    const { rows } = await client().query.run(statement);
    for (const { members, name } of rows) {
      if (Array.isArray(members) && members.length === 1 && typeof name === 'string' && name !== '')
        names.set(Number(members[0]), name);
    }
  } catch {
    // Numbers say enough; what is wrong with the service the view itself tells.
  }
  known.value = { of, names };
}

/** Nothing of one who has signed out stays. */
export function forgetNames(): void {
  known.value = { of: '', names: NONE };
}
