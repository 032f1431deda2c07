// What the ways to make members of vertices have in common.

import type { EdgeInput, Table } from '../../engine/index.ts';
import type { MemberInput } from '../../model/edge.ts';
import { inSlices, type Pauses, type Steps } from '../../schedule/steps.ts';
import type { HydratedMember } from '../hydrate/hydrate.ts';

/** What an answer says about the nodes of a copy. */
export interface ToldNodes {
  /** The node tables of the vertices, one per node label; the key is the vertex's value. */
  node_tables?: string[] | undefined;
  /**
   * If the request asks for ids: name of a table with one edge per node. The only member of that
   * edge is the node's id, and the column `vertex` contains the node's `vertex_local_id`.
   */
  nodes_table?: string | undefined;
  ids?: 'map' | 'hash' | undefined;
}

/** Number of edges that are inserted in one step, which takes a millisecond or two. */
const EDGES_A_STEP = 100;

/** How vertices become members. */
export interface VertexMembers {
  /** What the answer says about them. */
  readonly told: ToldNodes;
  /**
   * Called once for every vertex, when it first appears in an edge with this time. Returns its
   * member, or undefined if it cannot be one.
   */
  memberOf(member: HydratedMember, eventTs: number): MemberInput | undefined;
  /** Stores what the members that were returned need. */
  store(pauses: Pauses): Promise<void>;
}

/** Inserts the edges as one commit; the work is sliced. */
export async function insert(table: Table, edges: readonly EdgeInput[], pauses: Pauses): Promise<void> {
  if (edges.length === 0) return;
  const bulk = table.bulk();
  try {
    await inSlices(adding(bulk, edges), pauses);
  } catch (error) {
    bulk.discard();
    throw error;
  }
  await bulk.commit();
}

function* adding(bulk: ReturnType<Table['bulk']>, edges: readonly EdgeInput[]): Steps<void> {
  for (let index = 0; index < edges.length; index++) {
    bulk.add(edges[index]!);
    if (index % EDGES_A_STEP === EDGES_A_STEP - 1) yield;
  }
}
