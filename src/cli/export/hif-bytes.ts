// Writes edges as a HIF document (v0.1). Incidences are written as the rows arrive. The edges with
// their attributes must follow all incidences, so they wait in a temporary file.

import type { Row } from '../run/runner.ts';
import { AsideFile } from './aside-file.ts';
import { checkEdgeColumns, type Edges, membersOf } from './edge-rows.ts';

/** The nodes of a node table. */
export interface NodeRows {
  readonly name: string;
  /** Name of the column with the key. */
  readonly key: string;
  readonly rows: () => AsyncIterable<readonly Row[]>;
}

interface Document extends Edges {
  readonly roles: readonly string[];
  readonly nodes?: readonly NodeRows[] | undefined;
}

type NodeId = string | number;

/**
 * Yields the document. It lists the nodes of a named table, with their attributes; other nodes are
 * those that the incidences name.
 */
export async function* hifBytes({
  columns,
  batches,
  areEdges,
  roles,
  nodes = [],
}: Document): AsyncGenerator<Uint8Array> {
  checkEdgeColumns(columns, 'HIF');
  const edges = await AsideFile.create();
  try {
    const type = roles.some(isDirection) ? 'directed' : 'undirected';
    yield Buffer.from(`{"network-type":"${type}","metadata":{"written-by":"Hedgerow"},\n"incidences":[`);
    yield* incidences(batches, areEdges, roles, edges);
    yield Buffer.from('\n],\n"edges":[');
    yield* edges.read();
    if (nodes.length > 0) {
      yield Buffer.from('\n],\n"nodes":[');
      yield* nodeList(nodes);
    }
    yield Buffer.from('\n]}\n');
  } finally {
    await edges.remove();
  }
}

async function* nodeList(tables: readonly NodeRows[]): AsyncGenerator<Uint8Array> {
  let before = '\n';
  for (const { name, key, rows } of tables) {
    for await (const batch of rows()) {
      let text = '';
      for (const { [key]: own, ...others } of batch) {
        const id = tables.length > 1 ? idOf({ kind: name, key: own as NodeId }) : own;
        text += `${before}${elementText('node', id as NodeId, others)}`;
        before = ',\n';
      }
      if (text !== '') yield Buffer.from(text);
    }
  }
}

/** Returns the id of a member: its number, its key, or `Kind:key` in a table with several kinds. */
function idOf(member: unknown): NodeId {
  if (typeof member !== 'object' || member === null) return member as NodeId;
  const { kind, key } = member as { kind: string; key: NodeId };
  return `${kind}:${key}`;
}

/** Returns the ids of the members. Throws an Error for a row that is not an edge. */
function idsOf(row: Row, index: number): readonly NodeId[] {
  const { event_ts: time, members } = row;
  const isKey = (id: unknown) => typeof id === 'string' || Number.isSafeInteger(id);
  const ids = Array.isArray(members) ? members.map(idOf) : [];
  if (ids.length > 0 && ids.every(isKey) && Number.isSafeInteger(time)) return ids;
  return membersOf(row, index, 'HIF');
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
      const members = areEdges ? idsOf(row, number) : membersOf(row, number, 'HIF');
      const { id, ...all } = row;
      const others = roles.length === 0 ? all : withoutKeys(all, roles);
      const edge = areEdges ? Number(id) : number;
      attributes += `${number === 0 ? '\n' : ',\n'}${elementText('edge', edge, withoutKeys(areEdges ? others : row, ['members']))}`;
      number++;
      for (const node of members) {
        nodes += `${before}{"edge":${edge},"node":${JSON.stringify(node)}${roleText(row, node, roles)}}`;
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
function roleText(row: Row, node: NodeId, roles: readonly string[]): string {
  const own = roles.filter((role) => (row[role] as readonly unknown[]).map(idOf).includes(node));
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

function elementText(what: 'edge' | 'node', id: NodeId, { weight, ...others }: Row): string {
  // Null values are left out, because in HIF a missing attribute means the same.
  const attrs = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  const named = `{"${what}":${JSON.stringify(id)}`;
  if (typeof weight === 'number')
    return `${named},"weight":${JSON.stringify(weight)},"attrs":${JSON.stringify(attrs)}}`;
  const all = weight === null || weight === undefined ? attrs : { ...attrs, weight };
  return `${named},"attrs":${JSON.stringify(all)}}`;
}
