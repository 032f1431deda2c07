// Writes edges as a HIF document (v0.1). Incidences are written as the rows arrive. The edges with
// their attributes must follow all incidences, so they wait in a temporary file.

import { createHash, randomBytes } from 'node:crypto';
import type { ResultColumn } from '../../query/copy/index.ts';
import { EDGE_NAMES, WRITER } from '../hif-names.ts';
import type { Row } from '../run/runner.ts';
import { AsideFile } from './aside-file.ts';
import { checkEdgeColumns, type Edges, membersOf } from './edge-rows.ts';
import { NumberSet } from './number-set.ts';

/** The nodes of a node table. */
export interface NodeRows {
  readonly name: string;
  /** Name of the column with the key. */
  readonly key: string;
  /** The other columns. */
  readonly columns: readonly ResultColumn[];
  readonly rows: () => AsyncIterable<readonly Row[]>;
}

interface Document extends Edges {
  readonly roles: readonly string[];
  /**
   * The column with the ids that the edges had in another document; each row has a different one.
   * Undefined: edges are named by their ids in the database.
   */
  readonly edgeNames?: string | undefined;
  readonly nodes?: readonly NodeRows[] | undefined;
}

type NodeId = string | number;

/**
 * Yields the document. It lists the nodes of a named table, with their attributes; other nodes are
 * those that the incidences name. Throws an Error if a name of an edge occurs twice.
 */
export async function* hifBytes(document: Document): AsyncGenerator<Uint8Array> {
  const { columns, roles, nodes = [], edgeNames } = document;
  checkEdgeColumns(columns, 'HIF');
  const edges = await AsideFile.create();
  try {
    const type = roles.some(isDirection) ? 'directed' : 'undirected';
    const metadata = { 'written-by': WRITER, ...(edgeNames === undefined ? {} : { [EDGE_NAMES]: edgeNames }) };
    yield Buffer.from(`{"network-type":"${type}","metadata":${JSON.stringify(metadata)},\n"incidences":[`);
    yield* incidences(document, edges);
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
  { batches, areEdges, roles, edgeNames }: Document,
  edges: AsideFile,
): AsyncGenerator<Uint8Array> {
  const namer = edgeNames === undefined ? undefined : new EdgeNames(edgeNames);
  const left = areEdges ? ['id', 'members', ...roles, ...(edgeNames === undefined ? [] : [edgeNames])] : ['members'];
  let number = 0;
  let before = '\n';
  for await (const batch of batches) {
    let nodes = '';
    let attributes = '';
    for (const row of batch) {
      const members = areEdges ? idsOf(row, number) : membersOf(row, number, 'HIF');
      const edge = namer?.nameOf(row) ?? (areEdges ? Number(row.id) : number);
      attributes += `${number === 0 ? '\n' : ',\n'}${elementText('edge', edge, withoutKeys(row, left))}`;
      number++;
      const id = JSON.stringify(edge);
      for (const node of members)
        for (const role of roleTexts(row, node, roles)) {
          nodes += `${before}{"edge":${id},"node":${JSON.stringify(node)}${role}}`;
          before = ',\n';
        }
    }
    await edges.append(attributes);
    if (nodes !== '') yield Buffer.from(nodes);
  }
}

/** The ids of edges in a column, of which a check has found that they are different. */
class EdgeNames {
  readonly #column: string;
  readonly #seen = new NumberSet();
  readonly #seed = randomBytes(16);

  constructor(column: string) {
    this.#column = column;
  }

  /**
   * Returns the id. Throws an Error if another row had it, which happens if the table has changed
   * since the check. (So it would be with one chance in 2^53 for each pair of edges.)
   */
  nameOf(row: Row): NodeId {
    const name = row[this.#column];
    const isName = typeof name === 'string' || Number.isSafeInteger(name);
    const hash = createHash('md5').update(this.#seed).update(String(name)).digest();
    if (isName && this.#seen.add(hash.readUIntBE(0, 6) * 32 + (hash[6]! & 31))) return name as NodeId;
    throw new Error(
      `The table was changed during the export: ${this.#column} is ${isName ? 'the same in two edges' : 'missing in an edge'}. Export again.`,
    );
  }
}

/**
 * Returns what the incidences of a node say about its roles: `head` or `tail` is the direction, the
 * others are the attribute `role`. A node with both directions has two incidences.
 */
function roleTexts(row: Row, node: NodeId, roles: readonly string[]): readonly string[] {
  if (roles.length === 0) return NO_ROLE;
  const own = roles.filter((role) => (row[role] as readonly unknown[]).map(idOf).includes(node));
  const others = own.filter((role) => !isDirection(role));
  const attrs =
    others.length === 0 ? '' : `,"attrs":${JSON.stringify({ role: others.length === 1 ? others[0] : others })}`;
  const directions = own.filter(isDirection).map((direction) => `,"direction":"${direction}"`);
  if (directions.length === 0) return [attrs];
  return directions.map((direction, index) => (index === 0 ? `${direction}${attrs}` : direction));
}

const NO_ROLE = [''];

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
