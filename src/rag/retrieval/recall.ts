// Recalls the edges that hold at a time and fit a question best, for memories. Unlike the retrieval
// for an answer, it never abstains: words, names and times of the question only rank, because what
// is remembered in July may be about June. Nodes that are given beside the question restrict the
// edges.

import type { Snapshot, Table } from '../../engine/index.ts';
import { type HedgerowError, refusal } from '../../errors.ts';
import type { Steps } from '../../schedule/steps.ts';
import { joinedWords } from '../question/joined-words.ts';
import { readTextWords } from '../question/keywords.ts';
import { readNodes } from '../question/named-nodes.ts';
import { readWindow } from '../question/time-window.ts';
import { begun } from '../question/understand.ts';
import { wantedAnswer } from '../question/wanted-answer.ts';
import type { Reading } from '../question/words.ts';
import { wholeEdges } from './edge-reads.ts';
import { EdgeReader, type EdgeRows, WEIGHT } from './edge-rows.ts';
import { fuse } from './fuse.ts';
import { nameWords, wordIndexOf } from './fused-edges.ts';
import { askedNodes } from './key-mentions.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import type { RowTest } from './row-test.ts';
import { type TimeEnds, timeEnds } from './time-ends.ts';
import { formsIn, WordScorer, wordQuery } from './word-hits.ts';

export interface RecallRequest {
  /** Text of which words and names of nodes are looked for; it may be empty. */
  readonly question: string;
  /** For each role, numbers of nodes of which an edge must have at least one in this role. */
  readonly roles: readonly { readonly role: string; readonly nodes: readonly number[] }[];
  /** Name of the column with the texts, for the error if it has no text index. */
  readonly texts: string;
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
 * are the newest. Throws `table_not_found`, `table_corrupt`, `overloaded`, `query_too_large`, or
 * `invalid_input` if the question has words and the table no text index.
 */
export function* recallEdges(table: Table, request: RecallRequest, keys: MemberKeys): Steps<Recalled> {
  const named = yield* askedNodes(request.question, keys);
  const snapshot = table.snapshot();
  try {
    const reading = begun(request.question);
    const { nodes } = readNodes(reading, named);
    const edges = yield* recallAt(table, snapshot, request, { nodes, reading }, keys);
    return { edges, lsn: snapshot.lsn };
  } finally {
    snapshot.release();
  }
}

function* recallAt(
  table: Table,
  snapshot: Snapshot,
  { roles, texts, at, topK }: RecallRequest,
  asked: { readonly nodes: readonly number[]; readonly reading: Reading },
  keys: MemberKeys,
): Steps<RetrievedEdge[]> {
  // Readers must be created in the event loop turn in which the snapshot is taken.
  const index = wordIndexOf(table, snapshot);
  // Dates and words for edges are keywords, too: texts may have them.
  const keywords = [...readTextWords(asked.reading), ...joinedWords(asked.reading)];
  if (index === undefined && keywords.length > 0) throw withoutIndex(table, texts);
  const masks = roles.length > 0;
  const light = new EdgeReader(table, snapshot, { members: masks, masks, columns: new Set() });
  const columns = new Set(index?.columns ?? []);
  const reader = new EdgeReader(table, snapshot, { members: true, masks, columns: new Set([...columns, WEIGHT]) });
  const ends = yield* timeEnds(light, undefined, at);
  if (ends === undefined || roles.some(({ nodes }) => nodes.length === 0)) return [];
  const preferred = yield* preferredWindow(light, asked.reading, ends);
  const query = index && wordQuery(keywords, index, formsIn(index));
  const scorer = query && (yield* WordScorer.of(reader, query, index));
  const among = roles[0] && ascending(roles[0].nodes);
  const nodes = ascending([...asked.nodes, ...roles.flatMap((one) => one.nodes)]);
  const filters = { where: [], looked: [], also: masks ? roleTest(roles, snapshot) : undefined };
  const fused = yield* fuse(
    { reader, light },
    {
      search: { ...ends, at, nodes, filters },
      words: scorer && { scorer, index: index! },
      names: index && (yield* nameWords(reader, asked.nodes, keys, index)),
      addsContext: true,
      prefersTelling: true,
      answer: wantedAnswer(asked.reading),
      among,
      preferred,
      fills: nodes.length > 0 || (scorer === undefined && preferred === undefined),
      size: topK,
      ends,
    },
    { nodeName: (node) => String(keys.memberOf(node)), common: [] },
  );
  return yield* wholeEdges(reader, undefined, fused.edges, keys);
}

function withoutIndex({ name }: Table, column: string): HedgerowError {
  const how = `CREATE TEXT INDEX ON ${name} (${column})`;
  return refusal(
    'invalid_input',
    `Table ${name} has no text index, so the words of a question find nothing. Create it with ${how}, or ask without words.`,
    {
      errors: [
        { loc: ['body', 'question'], msg: `has words, but table ${name} has no text index; make one with ${how}` },
      ],
    },
  );
}

function ascending(nodes: readonly number[]): number[] {
  return [...new Set(nodes)].sort((a, b) => a - b);
}

/**
 * Returns the times of the edges in the window that a question names, which counts from the newest
 * edge; undefined if it names none, or if no edge is in it.
 */
function* preferredWindow(reader: EdgeReader, reading: Reading, ends: TimeEnds): Steps<TimeEnds | undefined> {
  const { window } = yield* readWindow(reading, ends.greatest);
  if (window === null) return undefined;
  const [start, end] = [window.start_ts ?? ends.least, window.end_ts ?? ends.greatest];
  return yield* timeEnds(reader, Math.max(start, ends.least), Math.min(end, ends.greatest));
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
