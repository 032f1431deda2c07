// Retrieves the edges that a question means, best first. Reads one snapshot of the table through
// its indexes.

import type { QueryPlan, Snapshot, Table } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { AnsweredQuestion, AskedNodes, AskedTable, Question, QuestionWindow } from '../question/question.ts';
import { type Understood, understanding, understood } from '../question/understand.ts';
import type { BestEdges } from './best-edges.ts';
import { type Bound, bind, ignoredWords, missesName, type NameReader, nameReaderOf, wordsInRows } from './bind.ts';
import { wholeEdges } from './edge-reads.ts';
import { EdgeReader, edgeOf, FORMATION, WEIGHT } from './edge-rows.ts';
import type { FusedEdges, FuseReaders } from './fuse.ts';
import { explainEdges, type FusedQuestion, fusedEdges, negatedWords, wordIndexOf } from './fused-edges.ts';
import { askedNodes } from './key-mentions.ts';
import { KeywordMatch } from './keyword-match.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import { heldSince, splitFilters } from './row-test.ts';
import type { WordIndex } from './row-texts.ts';
import { scaleOf } from './score.ts';
import { findBest, type Search } from './search.ts';
import { timeEnds, windowEnds } from './time-ends.ts';
import { resolveWords } from './word-columns.ts';

export interface Retrieval {
  /**
   * The edges by descending score, then by descending time, then by id. If the text asks for the
   * latest or oldest edges, they are ordered by time instead.
   */
  readonly edges: RetrievedEdge[];
  /** Whether more edges matched than are returned. */
  readonly truncated: boolean;
  /**
   * The question, with the window that was used. `ignored` contains all words that did not bind.
   */
  readonly question: Question;
  /**
   * False if no part of the text binds to data, or if it names something that is not in the data.
   * If false, `edges` is empty.
   */
  readonly binds: boolean;
  readonly said: Understood;
  /** Keywords that occur in the rows that were searched for words, or else in `edges`. */
  readonly foundWords: ReadonlySet<string>;
  /**
   * Ids of the edges that have a named node, or its key in their texts; undefined if that was not
   * looked at, since every edge has one.
   */
  readonly touching?: ReadonlySet<number> | undefined;
  /** Whether a figure is computed from edges with one of the nodes, not with all of them. */
  readonly hasOr: boolean;
  readonly strategy: QueryPlan['strategy'];
  readonly lsn: number;
}

export interface RetrieveOptions {
  /** Maximum number of edges, 1 to 10,000. A number in the text can only lower it. */
  readonly topK: number;
  /** Bounds of the window. Each bound that is given overrides the bound in the text. */
  readonly override?: { readonly startTs?: number | undefined; readonly endTs?: number | undefined } | undefined;
  /**
   * The time to which words such as "today" refer if the table is empty. If it is not, they refer
   * to the time of the newest edge.
   */
  readonly nowMs: number;
  /** The table that contains the names of nodes. */
  readonly names?: Table | undefined;
  /** Stems of the predicates and names of the rules in use. */
  readonly predicates?: ReadonlySet<string> | undefined;
  /** The keys of a named table. */
  readonly keys?: MemberKeys | undefined;
}

/**
 * Retrieves edges, in steps of a few ms. Throws `table_not_found`, `table_corrupt`, `overloaded`,
 * `query_too_large`.
 */
export function* retrieve(table: Table, text: string, options: RetrieveOptions): Steps<Retrieval> {
  const { names, nowMs, keys } = options;
  const named = keys && (yield* askedNodes(text, keys));
  const { columns } = table;
  let said = yield* understanding(text, askedOf(table, columns, named), nowMs);
  const snapshot = table.snapshot();
  if (snapshot.columns !== columns) said = understood(text, askedOf(table, snapshot.columns, named), nowMs);
  const nameSnapshot = names?.snapshot();
  try {
    const nameReader = nameSnapshot && nameReaderOf(names!, nameSnapshot);
    return yield* retrieveAt(table, snapshot, text, said, { ...options, named }, nameReader);
  } finally {
    nameSnapshot?.release();
    snapshot.release();
  }
}

/** Returns the question of a retrieval as answers show it: nodes of a named table by their keys. */
export function answeredQuestion({ question, said }: Retrieval, keys: MemberKeys | undefined): AnsweredQuestion {
  if (keys === undefined) return question;
  const nodes = question.nodes.map((node) => {
    const unknown = said.unknownNodes.get(node);
    if (unknown !== undefined) return unknown;
    return keys.shown(keys.memberOf(node));
  });
  return { ...question, nodes };
}

function askedOf({ name }: Table, { columns }: ColumnSet, named: AskedNodes | undefined): AskedTable {
  return { name, columns: columns.filter(({ id }) => id > FORMATION), named };
}

/** The readers of a snapshot. */
interface Readers extends FuseReaders {
  /** Reads times and ids only. */
  readonly bare: EdgeReader;
  readonly index: WordIndex | undefined;
  /** Ids of the columns with texts. */
  readonly textColumns: readonly number[];
}

/**
 * Makes the readers, in the event loop turn in which the snapshot is taken. The reference time of
 * the question is not known yet, but the columns that the readers need do not depend on it.
 */
function readersOf(table: Table, snapshot: Snapshot, { question }: Understood, hasNames: boolean): Readers {
  const { columns, end } = snapshot.columns;
  const index = wordIndexOf(table, snapshot);
  const textColumns = columns.filter(({ type }) => kindOfType(type) === 'text').map(({ id }) => id);
  const looked = splitFilters(question.filters, columns).looked.map(({ column }) => column.id);
  const hasTexts = question.keywords.length > 0;
  const tested = [WEIGHT, ...looked, ...(end === undefined ? [] : [end.id])];
  return {
    bare: new EdgeReader(table, snapshot, { members: false, columns: new Set() }),
    light: new EdgeReader(table, snapshot, { members: false, columns: new Set(tested) }),
    reader: new EdgeReader(table, snapshot, {
      members: question.nodes.length > 1 || hasNames || index !== undefined,
      columns: new Set([...tested, ...(hasTexts ? textColumns : []), ...(index?.columns ?? [])]),
    }),
    index,
    textColumns,
  };
}

/** `first` is the text as understood before the reference time was known. */
function* retrieveAt(
  table: Table,
  snapshot: Snapshot,
  text: string,
  first: Understood,
  options: RetrieveOptions & { named: AskedNodes | undefined },
  names: NameReader | undefined,
): Steps<Retrieval> {
  const { topK, override, nowMs, predicates = new Set(), keys, named } = options;
  const readers = readersOf(table, snapshot, first, names !== undefined);
  const { bare, reader, index, textColumns } = readers;
  const ends = yield* timeEnds(bare, undefined, undefined);
  const asked = askedOf(table, snapshot.columns, named);
  const said = yield* understanding(text, asked, ends === undefined ? nowMs : ends.greatest * 1000);
  const hasOverride = override?.startTs !== undefined || override?.endTs !== undefined;
  const bindOptions = { reader: bare, names, predicates, hasOverride, keys };
  const resolved = yield* resolveWords(said, yield* bind(said, bindOptions), reader);
  const { hasOr, isUnclear } = resolved;
  const question = { ...resolved.bound.question, window: overridden(resolved.bound.question.window, override) };
  const bound = { ...resolved.bound, question };
  const { window } = question;
  const filters = {
    ...splitFilters(question.filters, snapshot.columns.columns),
    heldSince: heldSince(window, snapshot.columns),
  };
  const within = window === null ? ends : yield* windowEnds(bare, window);
  const size = Math.min(topK, question.top ?? topK);
  const fused =
    index === undefined || ends === undefined || within === undefined || question.order !== 'score' || isUnclear
      ? undefined
      : yield* fusedEdges(readers, { bound, isFigure: said.figure !== null, filters, ends, within, index, size, keys });
  const keywords = new KeywordMatch(question.keywords, textColumns);
  const foundWords =
    textColumns.length > 0 && bound.free.size > 0 && needsWords(bound, said)
      ? yield* wordsFound(reader, bound, said, keywords, fused)
      : new Set<string>();
  // A node in no edge is still a word of texts.
  const isMentioned = said.figure === null && fused !== undefined && fused.touching.size > 0;
  const binds =
    (bound.binds || isMentioned || foundWords.size > 0) && !isUnclear && !missesName(said, bound, foundWords);
  const isIndexed = fused !== undefined;
  const state = { said, bound, question, binds, foundWords, keywords, hasOr, isIndexed, lsn: snapshot.lsn };
  const isNamed = bound.isNamed || question.nodes.length > 0;
  if (ends === undefined || within === undefined || !binds)
    return answered(state, [], new Set(), false, strategyOf(question, isNamed, reader));
  if (fused !== undefined && (isNamed || fused.keywords.size > 0)) {
    const edges = yield* wholeEdges(reader, undefined, fused.edges, keys);
    const strategy = fused.keywords.size > 0 ? 'TEXT_SEARCH' : strategyOf(question, isNamed, reader);
    // Words may also occur in columns that the index does not have.
    const words = yield* explainEdges(edges, question, keywords, keys);
    const ignored = [...question.ignored, ...negatedWords(said.words, bound.free)];
    const told = { ...state, question: { ...question, ignored: said.figure === null ? ignored : question.ignored } };
    const found = answered(told, edges, new Set([...words, ...fused.keywords]), fused.truncated, strategy);
    return question.nodes.length === 0 ? found : { ...found, touching: fused.touching };
  }
  return yield* searched(reader, state, { filters, ends, within, topK, size }, keys);
}

/** Returns the free words that occur in rows: through the text index if it finds some. */
function* wordsFound(
  reader: EdgeReader,
  bound: Bound,
  { figure }: Understood,
  keywords: KeywordMatch,
  fused: FusedEdges | undefined,
): Steps<ReadonlySet<string>> {
  const indexed = [...(fused?.keywords ?? [])].filter((word) => !bound.soft.includes(word));
  // A figure must not miss a word in a column without index, nor a part of a name.
  if (indexed.length > 0 && figure === null && bound.near.size === 0) return new Set(indexed);
  const inRows = yield* wordsInRows(reader, bound, keywords, bound.question.keywords);
  // The index folds words, and finds more.
  return new Set([...inRows, ...indexed]);
}

/**
 * Finds the edges of a question about a table without a text index, or of one that asks for an
 * order by time.
 */
function* searched(
  reader: EdgeReader,
  state: State,
  found: Pick<FusedQuestion, 'filters' | 'ends' | 'within' | 'size'> & { readonly topK: number },
  keys: MemberKeys | undefined,
): Steps<Retrieval> {
  const { bound, question, foundWords, keywords } = state;
  const { filters, ends, within, topK, size } = found;
  const isNamed = bound.isNamed || question.nodes.length > 0;
  const needsKeyword = !isNamed && foundWords.size > 0;
  const byTime = !isNamed && !needsKeyword;
  // A text that names nothing means the most recent edges. Its other words rank these edges.
  const search: Search = {
    ...within,
    nodes: question.nodes,
    filters,
    keywords,
    hasKeywords: keywords.hasColumns && question.keywords.length > 0,
    needsKeyword,
    order: byTime && question.order === 'score' ? 'newest' : question.order,
    size: byTime ? topK : size,
    scale: scaleOf(question.nodes.length > 0, question.keywords.length > 0, ends.least, ends.greatest),
  };
  const best = yield* findBest(reader, search);
  const strategy = strategyOf(question, isNamed, reader);
  const chosen = best.ranked(question.order).slice(0, size);
  // If a single node is named, every candidate contains it.
  const way = question.nodes.length === 1 ? question.nodes : undefined;
  const edges = yield* wholeEdges(reader, way, chosen, keys);
  const words = yield* explainEdges(edges, question, keywords, keys);
  return answered(state, edges, words, isTruncated(best, size), strategy);
}

interface State extends Pick<Retrieval, 'said' | 'question' | 'binds' | 'foundWords' | 'hasOr' | 'lsn'> {
  readonly bound: Bound;
  readonly keywords: KeywordMatch;
  /** Whether the text index was searched for the words. */
  readonly isIndexed: boolean;
}

/** `words` are those that occur in the edges. */
function answered(
  { said, bound, question, binds, foundWords, hasOr, isIndexed, lsn }: State,
  edges: RetrievedEdge[],
  words: ReadonlySet<string>,
  truncated: boolean,
  strategy: Retrieval['strategy'],
): Retrieval {
  const found = needsWords(bound, said) ? foundWords : words;
  const ignored = [...question.ignored, ...ignoredWords(said, bound, found, { binds, isIndexed })];
  return { edges, truncated, question: { ...question, ignored }, binds, said, foundWords: found, hasOr, strategy, lsn };
}

/**
 * Returns whether rows must be searched for words before the edges are retrieved. They must if only
 * words identify the edges, if the question asks for a figure, or if a word is part of a name.
 */
function needsWords({ isNamed, near, question }: Bound, { figure }: Understood): boolean {
  return (!isNamed && question.nodes.length === 0) || figure !== null || near.size > 0;
}

/** Returns one edge by its key, with all columns, or undefined if it no longer exists. */
export function* retrieveOne(
  table: Table,
  { id, eventTs }: { id: number; eventTs: number },
  keys: MemberKeys | undefined,
): Steps<RetrievedEdge | undefined> {
  const snapshot = table.snapshot();
  try {
    const reader = new EdgeReader(table, snapshot, { members: true, columns: new Set() });
    const bounds = { startTs: eventTs, endTs: eventTs, after: { eventTs, id: id - 1 }, limit: 1 };
    for (const rows of reader.readWhole(bounds)) {
      yield;
      if (rows !== null && rows.rows > 0 && rows.ids[0] === id)
        return edgeOf(rows, 0, { score: 1, why: ['figure'] }, snapshot, keys);
    }
    return undefined;
  } finally {
    snapshot.release();
  }
}

function isTruncated(best: BestEdges, wanted: number): boolean {
  return best.overflowed || best.candidates.length > wanted;
}

function overridden(window: QuestionWindow | null, override: RetrieveOptions['override']): QuestionWindow | null {
  const start_ts = override?.startTs ?? window?.start_ts ?? null;
  const end_ts = override?.endTs ?? window?.end_ts ?? null;
  return start_ts === null && end_ts === null ? null : { start_ts, end_ts };
}

/**
 * Returns the name of the way in which the edges were found: by nodes, by the index of a column, by
 * time, or by reading every edge.
 */
function strategyOf({ nodes, window, filters }: Question, isNamed: boolean, reader: EdgeReader): QueryPlan['strategy'] {
  if (nodes.length > 0) return 'FMI_LOOKUP';
  if (reader.strategy === 'PSI_RANGE') return 'PSI_RANGE';
  return window !== null || !isNamed || filters.length === 0 ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}
