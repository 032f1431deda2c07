// Statements about the edges that have one node.

import type { QueryRow, Table } from '../../client/index.ts';
import { named } from '../named.ts';
import type { NodePlace } from '../node-link.tsx';
import { client } from '../session.ts';
import { nodeTables, type TimeWindow } from '../state.ts';
import { quoted } from '../statement-words.ts';

/** What a node has in one table. */
export interface Presence {
  readonly place: NodePlace;
  readonly table: Table;
  readonly edges: number;
  /** Times of its first and last edge, in seconds; 0 if it has none. */
  readonly first: number;
  readonly last: number;
}

/** Returns what the node has in each of the tables, the ones with the most edges first. */
export async function edgesAt(place: NodePlace, tables: readonly Table[]): Promise<Presence[]> {
  const found: Presence[] = [];
  for (const table of tables) {
    const [row] = await rowsAt(
      { place, table },
      'RETURN COUNT(*) AS edges, MIN(e.event_ts) AS first, MAX(e.event_ts) AS last',
    );
    const { edges, first, last } = row as { edges: number; first: number | null; last: number | null };
    found.push({ place, table, edges, first: first ?? 0, last: last ?? 0 });
  }
  return found.sort((a, b) => b.edges - a.edges);
}

/** Approximate number of bars over the time of a node. */
const BARS = 120;
const LEAST_SPAN_S = 60;

/** Counts the edges of a node in stretches of equal width, in seconds. */
export async function activityAt(presence: Presence) {
  const { first, last } = presence;
  const from = first - Math.max(0, Math.floor((LEAST_SPAN_S - (last - first + 1)) / 2));
  const width = Math.max(1, Math.ceil((last - from + 1) / BARS));
  const length = Math.floor((Math.max(last, from + LEAST_SPAN_S) - from) / width) + 1;
  const counts = new Array<number>(length).fill(0);
  const rows = await rowsAt(presence, 'RETURN (e.event_ts - $from) / $width AS bar, COUNT(*) AS edges', {
    from,
    width,
  });
  // An edge that was written meanwhile may be outside the bars.
  for (const { bar, edges } of rows as { bar: number; edges: number }[]) if (bar in counts) counts[bar] = edges;
  return { from, width, starts: counts.map((_, at) => from + at * width), counts };
}

/** An edge of a node. */
export interface NodeEdge {
  readonly id: number;
  readonly ts: number;
  /** Null: it still holds. Undefined: edges of the table have no end. */
  readonly until: number | null | undefined;
  readonly members: readonly unknown[];
  /** Names of the roles that the node has in the edge. */
  readonly roles: readonly string[];
}

/** Returns edges of a node, the newest first. */
export async function newestEdges(
  presence: Presence,
  window: TimeWindow | undefined,
  skip: number,
  limit: number,
): Promise<NodeEdge[]> {
  const { place, table } = presence;
  const bounds = window === undefined ? '' : ` AND e.event_ts BETWEEN ${window.start} AND ${window.end}`;
  const roles = table.roles.map((role, at) => `, ${nodeIn(presence, quoted(role))} AS r${at}`).join('');
  const end = table.intervals ? ', e.end_ts AS until' : '';
  const rows = await rowsAt(
    { place, table, bounds },
    `RETURN e.id AS id, e.event_ts AS ts, e.members AS members${end}${roles} ORDER BY e.event_ts DESC, e.id DESC LIMIT ${limit} SKIP ${skip}`,
  );
  return rows.map((row) => ({
    id: row.id as number,
    ts: row.ts as number,
    until: row.until as number | null | undefined,
    members: row.members as readonly unknown[],
    roles: table.roles.filter((_, at) => row[`r${at}`] === true),
  }));
}

export interface Neighbour {
  readonly place: NodePlace;
  /** Number of edges that it shares with the node. */
  readonly edges: number;
}

/** Edges of a node that are read to count its neighbours in a table of numbers. */
export const MOST_COUNTED = 1000;

/** Returns the nodes that share the most edges of a table with the node, the first `most` ones. */
export async function neighboursOf({ place, table }: Presence, most: number): Promise<Neighbour[]> {
  const found = table.nodes === 'named' ? await namedNeighbours(place, table, most + 1) : await numbered(place, table);
  return found
    .filter((other) => other.place.table !== place.table || other.place.key !== place.key)
    .sort((a, b) => b.edges - a.edges)
    .slice(0, most);
}

async function namedNeighbours(place: NodePlace, table: Table, most: number): Promise<Neighbour[]> {
  const found: Neighbour[] = [];
  for (const name of table.member_tables) {
    const kind = named(nodeTables.value, name);
    if (kind === undefined) continue;
    const key = `n.${quoted(kind.key.name)}`;
    const rows = await rowsAt(
      { place, table, pattern: `, (n:${quoted(kind.name)})`, bounds: ' AND n IN e.members' },
      `RETURN ${key} AS neighbour, COUNT(*) AS edges ORDER BY edges DESC, neighbour LIMIT ${most}`,
    );
    for (const row of rows)
      found.push({
        place: { table: kind.name, key: row.neighbour as NodePlace['key'] },
        edges: row.edges as number,
      });
  }
  return found;
}

async function numbered(place: NodePlace, table: Table): Promise<Neighbour[]> {
  const rows = await rowsAt(
    { place, table },
    `RETURN e.members AS members ORDER BY e.event_ts DESC LIMIT ${MOST_COUNTED}`,
  );
  const counts = new Map<number, number>();
  for (const { members } of rows) for (const node of members as number[]) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].map(([key, edges]) => ({ place: { table: table.name, key }, edges }));
}

interface Wanted {
  readonly place: NodePlace;
  readonly table: Table;
  /** Further patterns. */
  readonly pattern?: string;
  /** Further conditions. */
  readonly bounds?: string;
}

/** Reads rows of the edges `e` that have the node. */
async function rowsAt(
  { place, table, pattern = '', bounds = '' }: Wanted,
  end: string,
  parameters: Readonly<Record<string, number>> = {},
): Promise<readonly QueryRow[]> {
  const condition = nodeIn({ place, table }, 'members');
  const statement = `MATCH (e:${quoted(table.name)})${pattern} WHERE ${condition}${bounds} ${end}`;
  return (await client().query.run(statement, { ...parameters, key: place.key })).rows;
}

/** Returns the condition that the node is in a list of nodes of the edge `e`. */
function nodeIn({ place, table }: Pick<Presence, 'place' | 'table'>, column: string): string {
  const node = table.nodes === 'named' ? `node(${quoted(place.table)}, $key)` : '$key';
  return `${node} IN e.${column}`;
}
