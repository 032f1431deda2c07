// Makes numbers of vertices, and stores which vertex has which number in a companion table.

import { createHash } from 'node:crypto';
import { type Database, type EdgeInput, type Table, WideMap } from '../../engine/index.ts';
import { refusal } from '../../errors.ts';
import { MAX_TEXT_BYTES } from '../../model/text.ts';
import type { Pauses } from '../../schedule/steps.ts';
import type { HydratedMember } from '../hydrate/hydrate.ts';
import { insert, type VertexMembers } from './vertex-members.ts';

/** Suffix of the companion's name. */
export const NODES_SUFFIX = '_nodes';

export class VertexNumbers implements VertexMembers {
  readonly told: VertexMembers['told'];
  readonly #nodes: Table;
  readonly #ids: 'map' | 'hash';
  /** Detects two vertices with the same hash. */
  readonly #hashed = new WideMap<number, string>();
  #count = 0;
  #newNodes: EdgeInput[] = [];

  private constructor(nodes: Table, ids: 'map' | 'hash') {
    this.#nodes = nodes;
    this.#ids = ids;
    this.told = { nodes_table: nodes.name, ids };
  }

  /** Creates the companion of a table. Rejects with `table_exists`. */
  static async open(
    database: Database,
    { table, ids, undo }: { table: string; ids: 'map' | 'hash'; undo: (() => Promise<void>)[] },
  ): Promise<VertexNumbers> {
    const nodes = await database.createTable({
      name: `${table}${NODES_SUFFIX}`,
      columns: [{ name: 'vertex', type: 'TEXT' }],
    });
    undo.unshift(() => database.dropTable(nodes.name));
    return new VertexNumbers(nodes, ids);
  }

  /** The companion gets the time of the edge in which the vertex first appeared. */
  memberOf({ vertex_local_id: vertex }: HydratedMember, event_ts: number): number {
    if (Buffer.byteLength(vertex) > MAX_TEXT_BYTES)
      throw refusal(
        'invalid_input',
        `A vertex of the result is longer than ${MAX_TEXT_BYTES} bytes, which no column holds.`,
      );
    const id = this.#ids === 'map' ? ++this.#count : this.#hashOf(vertex);
    this.#newNodes.push({ event_ts, members: [id], properties: { vertex } });
    return id;
  }

  #hashOf(vertex: string): number {
    const id = Number.parseInt(createHash('sha256').update(vertex).digest('hex').slice(0, 13), 16);
    const other = this.#hashed.get(id);
    if (other !== undefined)
      throw refusal('conflict', `Two vertices have the same hash. Materialize with ids "map" instead.`);
    this.#hashed.set(id, vertex);
    return id;
  }

  async store(pauses: Pauses): Promise<void> {
    await insert(this.#nodes, this.#newNodes, pauses);
    this.#newNodes = [];
  }
}
