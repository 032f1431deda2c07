// Fuses the parts of a question about a table with a text index, and says what of it matched.

import type { Snapshot, Table } from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { Filter, Question } from '../question/question.ts';
import type { Bound } from './bind.ts';
import { lettersOf } from './edge-reads.ts';
import { type FusedEdges, type FuseReaders, fuse } from './fuse.ts';
import type { KeywordMatch } from './keyword-match.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import type { SplitFilters } from './row-test.ts';
import type { TimeEnds } from './time-ends.ts';
import { type WordIndex, WordScorer, wordQuery } from './word-hits.ts';

/**
 * Returns the text index of a table, or undefined if it has none. Call it in the event loop turn in
 * which the snapshot is taken.
 */
export function wordIndexOf({ definition: { text } }: Table, { columns }: Snapshot): WordIndex | undefined {
  return text?.columns.every((id) => columns.withId(id) !== undefined) ? text : undefined;
}

export interface FusedQuestion {
  readonly bound: Bound;
  readonly filters: SplitFilters;
  /** Times of the oldest and the newest edge of the table, and of those in the window. */
  readonly ends: TimeEnds;
  readonly within: TimeEnds;
  readonly index: WordIndex;
  /** Number of wanted edges. */
  readonly size: number;
  readonly keys: MemberKeys | undefined;
}

export interface FusedAnswer extends FusedEdges {
  /** The free words of the question that the index has found. */
  readonly words: ReadonlySet<string>;
}

/** Returns undefined if the question has neither words nor nodes. Throws like `fuse`. */
export function* fusedEdges(
  readers: FuseReaders,
  { bound, filters, ends, within, index, size, keys }: FusedQuestion,
): Steps<FusedAnswer | undefined> {
  const keywords = [...bound.free.keys()];
  const { question } = bound;
  const { nodes } = question;
  const query = wordQuery(keywords, index);
  if (query === undefined && nodes.length === 0) return undefined;
  const scorer = query && (yield* WordScorer.of(readers.reader, query, index));
  const asked = {
    search: { ...within, nodes, filters },
    words: scorer && { scorer, index },
    among: nodes.length > 0 ? nodes : undefined,
    fills: bound.isNamed || nodes.length > 0,
    size,
    ends,
  };
  const nodeName = (node: number) => String(keys?.memberOf(node) ?? node);
  const fused = yield* fuse(readers, asked, { keywords, nodeName, common: conditionsOf(question) });
  return { ...fused, words: new Set([...fused.keywords].map((place) => keywords[place]!)) };
}

/** Returns what all edges of a question match, as texts for `why`. */
export function conditionsOf({ window, filters }: Question): string[] {
  return [...(window === null ? [] : ['time']), ...filters.map((filter) => `condition: ${conditionText(filter)}`)];
}

function conditionText({ column, op, value }: Filter): string {
  return `${column} ${op} ${JSON.stringify(value)}`;
}

/** Characters of texts in which one step looks for words. */
const STEP_LETTERS = 100_000;

/** Sets `why` of edges that were not fused. Returns the keywords that occur in the edges. */
export function* explainEdges(
  edges: readonly RetrievedEdge[],
  question: Question,
  keywords: KeywordMatch,
  keys: MemberKeys | undefined,
): Steps<Set<string>> {
  const nodes = new Set(question.nodes.map((node) => keys?.memberOf(node) ?? node));
  const common = [...conditionsOf(question), 'recency'];
  const all = new Set<string>();
  let letters = 0;
  for (const edge of edges) {
    const words = keywords.wordsIn([edge], question.keywords);
    for (const word of words) all.add(word);
    const held = edge.members.filter((member) => nodes.has(member));
    letters += lettersOf(edge);
    if (letters > STEP_LETTERS) {
      letters = 0;
      yield undefined;
    }
    if (edge.why.length > 0) continue;
    edge.why = [
      ...(words.size === 0 ? [] : [`words: ${[...words].join(', ')}`]),
      ...(held.length === 0 ? [] : [`nodes: ${held.join(', ')}`]),
      ...common,
    ];
  }
  return all;
}
