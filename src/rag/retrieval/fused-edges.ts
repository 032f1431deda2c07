// Fuses the parts of a question about a table with a text index, and says what of it matched.

import type { Snapshot, Table } from '../../engine/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { Filter, Ignored, Question } from '../question/question.ts';
import type { Bound } from './bind.ts';
import { lettersOf } from './edge-reads.ts';
import type { EdgeReader } from './edge-rows.ts';
import { type FusedEdges, type FuseReaders, fuse, type NameWords } from './fuse.ts';
import type { KeywordMatch } from './keyword-match.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import type { SplitFilters } from './row-test.ts';
import type { WordIndex } from './row-texts.ts';
import type { TimeEnds } from './time-ends.ts';
import { formsIn, WordScorer, wordQuery } from './word-hits.ts';

/**
 * Returns the text index of a table, or undefined if it has none. Call it in the event loop turn in
 * which the snapshot is taken.
 */
export function wordIndexOf({ definition: { text } }: Table, { columns }: Snapshot): WordIndex | undefined {
  return text?.columns.every((id) => columns.withId(id) !== undefined) ? text : undefined;
}

export interface FusedQuestion {
  readonly bound: Bound;
  /** Whether it asks for a figure, which only counts edges with the words as they are. */
  readonly isFigure: boolean;
  readonly filters: SplitFilters;
  /** Times of the oldest and the newest edge of the table, and of those in the window. */
  readonly ends: TimeEnds;
  readonly within: TimeEnds;
  readonly index: WordIndex;
  /** Number of wanted edges. */
  readonly size: number;
  readonly keys: MemberKeys | undefined;
}

/** Returns undefined if the question has neither words nor nodes. Throws like `fuse`. */
export function* fusedEdges(
  readers: FuseReaders,
  { bound, isFigure, filters, ends, within, index, size, keys }: FusedQuestion,
): Steps<FusedEdges | undefined> {
  const { question } = bound;
  const { nodes } = question;
  const query = wordQuery(wordsOf(bound, isFigure), index, isFigure ? undefined : formsIn(index));
  if (query === undefined && nodes.length === 0) return undefined;
  const scorer = query && (yield* WordScorer.of(readers.reader, query, index));
  const asked = {
    search: { ...within, nodes, filters },
    words: scorer && { scorer, index },
    names: yield* nameWords(readers.reader, nodes, keys, index),
    among: undefined,
    addsContext: false,
    prefersTelling: false,
    // A question that has only words for edges means any of them.
    fills: bound.isNamed || nodes.length > 0 || (bound.binds && bound.free.size + bound.further.size === 0),
    size,
    ends,
  };
  const nodeName = (node: number) => String(keys?.memberOf(node) ?? node);
  return yield* fuse(readers, asked, { nodeName, common: conditionsOf(question) });
}

/** Returns the words that texts may have. */
function wordsOf({ free, further, soft }: Bound, isFigure: boolean): string[] {
  return isFigure ? [...free.keys()] : [...free.keys(), ...further.keys(), ...soft];
}

const NEGATIONS = new Set(['not', 'no', 'without', 'except', 'never', 'neither', 'nor', 'excluding']);
/** Words between a negation and what it negates. */
const BETWEEN = new Set([
  'about',
  'the',
  'a',
  'an',
  'any',
  'of',
  'in',
  'to',
  'for',
  'on',
  'with',
  'mention',
  'mentioning',
]);

/** Returns the negations of free words, which are not understood: the words rank nevertheless. */
export function negatedWords(words: readonly string[], free: ReadonlyMap<string, string>): Ignored[] {
  const ignored: Ignored[] = [];
  for (const [at, word] of words.entries()) {
    if (!NEGATIONS.has(word.toLowerCase()) && !/n't$/i.test(word)) continue;
    let next = at + 1;
    while (BETWEEN.has(words[next]?.toLowerCase() ?? '')) next++;
    const negated = words[next];
    if (negated === undefined || !free.has(negated.toLowerCase())) continue;
    const reason = `A negation of words is not understood: edges with "${negated}" are not left out.`;
    ignored.push({ text: words.slice(at, next + 1).join(' '), reason });
  }
  return ignored;
}

/** Returns the keys of nodes as words; undefined if none of them is a text with words. */
export function* nameWords(
  reader: EdgeReader,
  nodes: readonly number[],
  keys: MemberKeys | undefined,
  index: WordIndex,
): Steps<NameWords | undefined> {
  const named = new Map<string, number[]>();
  for (const node of keys === undefined ? [] : nodes) {
    const key = keys!.keyOf(node);
    if (typeof key === 'string') named.set(key, [...(named.get(key) ?? []), node]);
  }
  const query = wordQuery([...named.keys()], index);
  return query && { scorer: yield* WordScorer.of(reader, query, index), index, nodes: named };
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
