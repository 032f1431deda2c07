// Finds the memories that hold at a time and fit a question best.

import type { Database, Nodes, Table } from '../engine/index.ts';
import { ABOUT, SOURCE, WHAT, WHO } from '../model/memories.ts';
import { MemberKeys, type RetrievedEdge, recallEdges } from '../rag/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { ShownMemory } from './memory-rows.ts';
import { memoryTable } from './memory-table.ts';

export interface MemoryRequest {
  /** Default: `memories`. */
  readonly table?: string | undefined;
  /** Its words and the names in it rank; it may be empty. */
  readonly question: string;
  /** Only memories with at least one of these keys in the role `who`; absent: no condition. */
  readonly who?: readonly string[] | undefined;
  /** The same for the role `about`. */
  readonly about?: readonly string[] | undefined;
  /** Only memories that hold at this time, in epoch seconds. */
  readonly at: number;
  /** Maximum number of memories, 1 or more. */
  readonly topK: number;
}

export interface RecalledMemory extends ShownMemory {
  /** From 0 to 1; higher is better. */
  readonly score: number;
  /** What has matched, and how well. */
  readonly why: readonly string[];
}

/**
 * Returns the memories, best first, in steps of a few ms. Throws `table_not_found`,
 * `invalid_input`, also if the question has words and the table no text index, `table_corrupt`,
 * `overloaded` or `query_too_large`.
 */
export function* recall(
  database: Database,
  { table: name, question, who, about, at, topK }: MemoryRequest,
): Steps<{ readonly memories: RecalledMemory[]; readonly lsn: number }> {
  const table = memoryTable(database, name);
  const roles = rolesOf(table, database.nodes, { [WHO]: who, [ABOUT]: about });
  const keys = MemberKeys.of(table, database.nodes)!;
  const { edges, lsn } = yield* recallEdges(table, { question, roles, texts: WHAT, at, topK }, keys);
  return { memories: edges.map(memoryOf), lsn };
}

/**
 * Returns the numbers of the nodes that are asked for, by role. Keys that no node has are left out.
 */
export function rolesOf(
  { kinds }: Table,
  nodes: Nodes,
  given: Readonly<Record<string, readonly string[] | undefined>>,
): { role: string; nodes: number[] }[] {
  const { table } = kinds![0]!;
  return Object.entries(given).flatMap(([role, keys = []]) => {
    if (keys.length === 0) return [];
    const numbers = [...new Set(keys)].map((key) => nodes.find(table, key)).filter((number) => number !== 0);
    return [{ role, nodes: numbers }];
  });
}

function memoryOf(edge: RetrievedEdge): RecalledMemory {
  const { edge_id: id, event_ts, end_ts = null, roles = {}, properties, score, why } = edge;
  const [what, source] = [properties[WHAT], properties[SOURCE]] as [string | null, string | null];
  const [who, about] = [roles[WHO], roles[ABOUT]].map((members) => (members ?? []).map(String)) as [string[], string[]];
  return { id, what, who, about, event_ts, end_ts, source, score, why };
}
