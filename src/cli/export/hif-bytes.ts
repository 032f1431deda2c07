// Writes edges as a HIF document (v0.1). Incidences are written as the rows arrive. The edges with
// their attributes must follow all incidences, so they wait in a temporary file.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultColumn } from '../../query/copy/index.ts';
import type { Row } from '../run/runner.ts';

interface Edges {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * True: each row is a different edge and is named by its id. False: the rows of a statement may
   * repeat an edge, so each is named by the number of its row, and a column `id` becomes an
   * attribute.
   */
  readonly areEdges: boolean;
  /** The columns of the rows that are roles. */
  readonly roles: readonly string[];
}

/** Yields the document. It has no list of nodes; the nodes are those that the incidences name. */
export async function* hifBytes({ columns, batches, areEdges, roles }: Edges): AsyncGenerator<Uint8Array> {
  const isEdges = ['event_ts', 'members'].every((wanted) => columns.some(({ name }) => name === wanted));
  if (!isEdges)
    throw new Error(
      'HIF holds edges: the statement must return event_ts and members under these names, as RETURN * does.',
    );
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-hif-'));
  const aside = join(dir, 'edges.json');
  try {
    const file = await open(aside, 'w');
    try {
      const type = roles.some(isDirection) ? 'directed' : 'undirected';
      yield Buffer.from(`{"network-type":"${type}","metadata":{"written-by":"Hedgerow"},\n"incidences":[`);
      yield* incidences(batches, areEdges, roles, file);
    } finally {
      await file.close();
    }
    yield Buffer.from('\n],\n"edges":[');
    for await (const piece of createReadStream(aside)) yield piece as Buffer;
    yield Buffer.from('\n]}\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function* incidences(
  batches: AsyncIterable<readonly Row[]>,
  areEdges: boolean,
  roles: readonly string[],
  edges: FileHandle,
): AsyncGenerator<Uint8Array> {
  let number = 0;
  let before = '\n';
  for await (const batch of batches) {
    let nodes = '';
    let attributes = '';
    for (const row of batch) {
      const members = membersOf(row, number);
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
    await edges.appendFile(attributes);
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

/** Returns the members. Throws an Error for a row that is not an edge. */
function membersOf({ event_ts: time, members }: Row, index: number): readonly number[] {
  const isEdge = Array.isArray(members) && members.length > 0 && members.every(Number.isSafeInteger);
  if (isEdge && Number.isSafeInteger(time)) return members;
  throw new Error(
    `Row ${index + 1} is not an edge, and HIF holds nothing else: event_ts must be an integer and members a list of integers, not ${JSON.stringify(time ?? null).slice(0, 40)} and ${JSON.stringify(members ?? null).slice(0, 60)}.`,
  );
}

function edgeText(edge: number, { members: _members, weight, ...others }: Row): string {
  // Null values are left out, because in HIF a missing attribute means the same.
  const attrs = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  if (typeof weight === 'number')
    return `{"edge":${edge},"weight":${JSON.stringify(weight)},"attrs":${JSON.stringify(attrs)}}`;
  const all = weight === null || weight === undefined ? attrs : { ...attrs, weight };
  return `{"edge":${edge},"attrs":${JSON.stringify(all)}}`;
}
