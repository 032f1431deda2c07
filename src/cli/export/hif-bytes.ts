// Writes edges as a HIF document (v0.1). Incidences are written as the rows arrive. The edges with
// their attributes must follow all incidences, so they wait in a temporary file.

import type { Row } from '../run/runner.ts';
import { AsideFile } from './aside-file.ts';
import { checkEdgeColumns, type Edges, membersOf } from './edge-rows.ts';

/** Yields the document. It has no list of nodes; the nodes are those that the incidences name. */
export async function* hifBytes({
  columns,
  batches,
  areEdges,
  roles,
}: Edges & { roles: readonly string[] }): AsyncGenerator<Uint8Array> {
  checkEdgeColumns(columns, 'HIF');
  const edges = await AsideFile.create();
  try {
    const type = roles.some(isDirection) ? 'directed' : 'undirected';
    yield Buffer.from(`{"network-type":"${type}","metadata":{"written-by":"Hedgerow"},\n"incidences":[`);
    yield* incidences(batches, areEdges, roles, edges);
    yield Buffer.from('\n],\n"edges":[');
    yield* edges.read();
    yield Buffer.from('\n]}\n');
  } finally {
    await edges.remove();
  }
}

async function* incidences(
  batches: AsyncIterable<readonly Row[]>,
  areEdges: boolean,
  roles: readonly string[],
  edges: AsideFile,
): AsyncGenerator<Uint8Array> {
  let number = 0;
  let before = '\n';
  for await (const batch of batches) {
    let nodes = '';
    let attributes = '';
    for (const row of batch) {
      const members = membersOf(row, number, 'HIF');
      const { id, ...all } = row;
      const others = roles.length === 0 ? all : withoutKeys(all, roles);
      const edge = areEdges ? Number(id) : number;
      attributes += `${number === 0 ? '\n' : ',\n'}${edgeText(edge, areEdges ? others : row)}`;
      number++;
      for (const node of members) {
        nodes += `${before}{"edge":${edge},"node":${node}${roleText(row, node, roles)}}`;
        before = ',\n';
      }
    }
    await edges.append(attributes);
    if (nodes !== '') yield Buffer.from(nodes);
  }
}

/**
 * Returns the fields with the roles of a node: `head` or `tail` is its direction, the others are
 * the attribute `role`. Of a node with both directions, the second one is an attribute too.
 */
function roleText(row: Row, node: number, roles: readonly string[]): string {
  const own = roles.filter((role) => (row[role] as readonly number[]).includes(node));
  if (own.length === 0) return '';
  const direction = own.find(isDirection);
  const others = own.filter((role) => role !== direction);
  const attrs =
    others.length === 0 ? '' : `,"attrs":${JSON.stringify({ role: others.length === 1 ? others[0] : others })}`;
  return `${direction === undefined ? '' : `,"direction":"${direction}"`}${attrs}`;
}

function withoutKeys(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function isDirection(role: string): boolean {
  return role === 'head' || role === 'tail';
}

function edgeText(edge: number, { members: _members, weight, ...others }: Row): string {
  // Null values are left out, because in HIF a missing attribute means the same.
  const attrs = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  if (typeof weight === 'number')
    return `{"edge":${edge},"weight":${JSON.stringify(weight)},"attrs":${JSON.stringify(attrs)}}`;
  const all = weight === null || weight === undefined ? attrs : { ...attrs, weight };
  return `{"edge":${edge},"attrs":${JSON.stringify(all)}}`;
}
