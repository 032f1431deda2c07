// Recalls the edges that hold at a time and fit a question best, for memories. Unlike the retrieval
// for an answer, it never abstains: names and words of the question only rank. Nodes that are given
// beside the question restrict the edges.

import type { Snapshot, Table } from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import { readKeywords } from '../question/keywords.ts';
import { readNodes } from '../question/named-nodes.ts';
import { begun } from '../question/understand.ts';
import { wholeEdges } from './edge-reads.ts';
import { EdgeReader, type EdgeRows, WEIGHT } from './edge-rows.ts';
import { fuse } from './fuse.ts';
import { wordIndexOf } from './fused-edges.ts';
import { askedNodes } from './key-mentions.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import type { RowTest } from './row-test.ts';
import { timeEnds } from './time-ends.ts';
import { WordScorer, wordQuery } from './word-hits.ts';

export interface RecallRequest {
  /** Text of which words and names of nodes are looked for; it may be empty. */
  readonly question: string;
  /** For each role, numbers of nodes of which an edge must have at least one in this role. */
  readonly roles: readonly { readonly role: string; readonly nodes: readonly number[] }[];
  /** Epoch seconds. Only edges that hold at this time are recalled. */
  readonly at: number;
  /** Maximum number of edges. */
  readonly topK: number;
}

export interface Recalled {
  /** Best first. */
  readonly edges: readonly RetrievedEdge[];
  readonly lsn: number;
}

/**
 * Recalls edges of a named table with intervals, at one snapshot. Without words and nodes, these
 * are the newest. Throws `table_not_found`, `table_corrupt`, `overloaded` or `query_too_large`.
 */
export function* recallEdges(table: Table, request: RecallRequest, keys: MemberKeys): Steps<Recalled> {
  const named = yield* askedNodes(request.question, keys);
  const snapshot = table.snapshot();
  try {
    const reading = begun(request.question);
    const { nodes } = readNodes(reading, named);
    const keywords = [...readKeywords(reading).keys()];
    const edges = yield* recallAt(table, snapshot, request, { nodes, keywords }, keys);
    return { edges, lsn: snapshot.lsn };
  } finally {
    snapshot.release();
  }
}

function* recallAt(
  table: Table,
  snapshot: Snapshot,
  { roles, at, topK }: RecallRequest,
  asked: { readonly nodes: readonly number[]; readonly keywords: readonly string[] },
  keys: MemberKeys,
): Steps<RetrievedEdge[]> {
  // Readers must be created in the event loop turn in which the snapshot is taken.
  const index = wordIndexOf(table, snapshot);
  const masks = roles.length > 0;
  const light = new EdgeReader(table, snapshot, { members: masks, masks, columns: new Set() });
  const columns = new Set(index?.columns ?? []);
  const reader = new EdgeReader(table, snapshot, { members: true, masks, columns: new Set([...columns, WEIGHT]) });
  const ends = yield* timeEnds(light, undefined, at);
  if (ends === undefined || roles.some(({ nodes }) => nodes.length === 0)) return [];
  const query = index && wordQuery(asked.keywords, index);
  const scorer = query && (yield* WordScorer.of(reader, query, index));
  const among = roles[0]?.nodes;
  const nodes = [...new Set([...asked.nodes, ...roles.flatMap((one) => one.nodes)])].sort((a, b) => a - b);
  const filters = { where: [], looked: [], also: masks ? roleTest(roles, snapshot) : undefined };
  const fused = yield* fuse(
    { reader, light },
    {
      search: { ...ends, at, nodes, filters },
      words: scorer && { scorer, index: index! },
      among,
      fills: nodes.length > 0 || scorer === undefined,
      size: topK,
      ends,
    },
    { keywords: asked.keywords, nodeName: (node) => String(keys.memberOf(node)), common: ['time'] },
  );
  return yield* wholeEdges(reader, undefined, fused.edges, keys);
}

/** Tests whether, for each role, a row has one of the nodes in it. */
function roleTest(roles: RecallRequest['roles'], snapshot: Snapshot): (rows: EdgeRows) => RowTest {
  const wanted = roles.map(({ role, nodes }) => ({ mask: snapshot.roles.maskOf(role), nodes: new Set(nodes) }));
  return ({ members, masks, offsets }) =>
    (row) =>
      wanted.every(({ mask, nodes }) => {
        for (let at = offsets[row]!; at < offsets[row + 1]!; at++)
          if ((masks[at]! & mask) !== 0 && nodes.has(members[at]!)) return true;
        return false;
      });
}
