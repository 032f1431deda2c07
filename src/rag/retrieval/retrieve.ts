// Retrieves the edges that a question means, best first. Reads one snapshot of the table through
// its indexes.

import type { QueryPlan, ScanBounds, Snapshot, Table } from '../../engine/index.ts';
import { type HedgerowError, refusal } from '../../errors.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { AnsweredQuestion, AskedNodes, AskedTable, Question, QuestionWindow } from '../question/question.ts';
import { type Understood, understanding, understood } from '../question/understand.ts';
import type { BestEdges, Candidate } from './best-edges.ts';
import { type Bound, bind, ignoredWords, missesName, type NameReader, nameReaderOf, wordsInRows } from './bind.ts';
import { EdgeReader, edgeOf, FORMATION, WEIGHT } from './edge-rows.ts';
import { askedNodes } from './key-mentions.ts';
import { KeywordMatch } from './keyword-match.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import { heldSince, splitFilters } from './row-test.ts';
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

/** `first` is the text as understood before the reference time was known. */
function* retrieveAt(
  table: Table,
  snapshot: Snapshot,
  text: string,
  first: Understood,
  { topK, override, nowMs, predicates = new Set(), keys, named }: RetrieveOptions & { named: AskedNodes | undefined },
  names: NameReader | undefined,
): Steps<Retrieval> {
  const { columns } = snapshot.columns;
  // Readers must be created in the event loop turn in which the snapshot is taken. The reference
  // time is not known yet, but the columns that the readers need do not depend on it.
  const { filters, keywords: words, nodes } = first.question;
  const namedFilters = splitFilters(filters, columns);
  const textColumns = columns.filter(({ type }) => kindOfType(type) === 'text').map(({ id }) => id);
  const looked = namedFilters.looked.map(({ column }) => column.id);
  const { end } = snapshot.columns;
  const hasTexts = words.length > 0 && textColumns.length > 0;
  const bare = new EdgeReader(table, snapshot, { members: false, columns: new Set() });
  const reader = new EdgeReader(table, snapshot, {
    members: nodes.length > 1 || names !== undefined,
    columns: new Set([WEIGHT, ...looked, ...(hasTexts ? textColumns : []), ...(end === undefined ? [] : [end.id])]),
  });
  const ends = yield* timeEnds(bare, undefined, undefined);
  const asked = askedOf(table, snapshot.columns, named);
  const said = yield* understanding(text, asked, ends === undefined ? nowMs : ends.greatest * 1000);
  const hasOverride = override?.startTs !== undefined || override?.endTs !== undefined;
  const bindOptions = { reader: bare, names, predicates, hasOverride, keys };
  const { bound, hasOr, isUnclear } = yield* resolveWords(said, yield* bind(said, bindOptions), reader);
  const question = { ...bound.question, window: overridden(bound.question.window, override) };
  const boundFilters = {
    ...splitFilters(bound.question.filters, columns),
    heldSince: heldSince(question.window, snapshot.columns),
  };
  const hasKeywords = hasTexts && question.keywords.length > 0;
  const keywords = new KeywordMatch(question.keywords, textColumns);
  const boundAt = { ...bound, question };
  const foundWords =
    hasKeywords && bound.free.size > 0 && needsWords(bound, said)
      ? yield* wordsInRows(reader, boundAt, keywords, question.keywords)
      : new Set<string>();
  const binds = (bound.binds || foundWords.size > 0) && !isUnclear && !missesName(said, bound, foundWords);
  const isNamed = bound.isNamed || question.nodes.length > 0;
  const state = { said, bound, question, binds, foundWords, keywords, hasOr, lsn: snapshot.lsn };
  const wanted = Math.min(topK, question.top ?? topK);
  const { window } = question;
  const within = window === null ? ends : yield* windowEnds(bare, window);
  if (ends === undefined || within === undefined || !binds)
    return answered(state, [], false, strategyOf(question, isNamed, reader));
  const needsKeyword = !isNamed && foundWords.size > 0;
  const byTime = !isNamed && !needsKeyword;
  // A text that names nothing means the most recent edges. Its other words rank these edges.
  const search: Search = {
    least: within.least,
    greatest: within.greatest,
    nodes: question.nodes,
    filters: boundFilters,
    keywords,
    hasKeywords,
    needsKeyword,
    order: byTime && question.order === 'score' ? 'newest' : question.order,
    size: byTime ? topK : wanted,
    scale: scaleOf(question.nodes.length > 0, question.keywords.length > 0, ends.least, ends.greatest),
  };
  const best = yield* findBest(reader, search);
  const strategy = strategyOf(question, isNamed, reader);
  const edges = yield* wholeEdges(reader, question.nodes, best.ranked(question.order).slice(0, wanted), keys);
  return answered(state, edges, isTruncated(best, wanted), strategy);
}

interface State extends Pick<Retrieval, 'said' | 'question' | 'binds' | 'foundWords' | 'hasOr' | 'lsn'> {
  readonly bound: Bound;
  readonly keywords: KeywordMatch;
}

function answered(
  { said, bound, question, binds, foundWords, keywords, hasOr, lsn }: State,
  edges: RetrievedEdge[],
  truncated: boolean,
  strategy: Retrieval['strategy'],
): Retrieval {
  const found = needsWords(bound, said) ? foundWords : keywords.wordsIn(edges, question.keywords);
  const ignored = [...question.ignored, ...ignoredWords(said, bound, found, binds)];
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
      if (rows !== null && rows.rows > 0 && rows.ids[0] === id) return edgeOf(rows, 0, 1, snapshot, keys);
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

/**
 * Maximum number of unwanted rows that are read per wanted row. Reading one row separately takes as
 * long as reading this number of rows in a range.
 */
const MOST_BETWEEN = 48;
/** Maximum number of rows read at once. */
const MOST_AT_ONCE = 8192;

/** Reads the edges with all columns. Returns them in the given order. */
function* wholeEdges(
  reader: EdgeReader,
  nodes: readonly number[],
  candidates: readonly Candidate[],
  keys: MemberKeys | undefined,
): Steps<RetrievedEdge[]> {
  const found = new Map<number, RetrievedEdge>();
  const scores = new Map(candidates.map(({ id, score }) => [id, score]));
  const byTime = [...candidates].sort((a, b) => a.eventTs - b.eventTs || a.id - b.id);
  // If a single node is named, every candidate contains it.
  const way = nodes.length === 1 ? nodes : undefined;
  let letters = 0;
  for (const bounds of readsOf(reader, way, byTime)) {
    if (bounds === undefined) {
      yield;
      continue;
    }
    for (const rows of reader.readWhole(bounds)) {
      for (let row = 0; row < (rows?.rows ?? 0); row++) {
        const score = scores.get(rows!.ids[row]!);
        if (score === undefined) continue;
        const edge = edgeOf(rows!, row, score, reader.snapshot, keys);
        letters += lettersOf(edge);
        if (letters > MOST_LETTERS) throw tooLong(candidates.length);
        found.set(edge.edge_id, edge);
      }
      if (rows === null || rows.rows > MOST_BETWEEN) yield;
    }
  }
  return candidates.map(({ id }) => found.get(id)!);
}

/**
 * Maximum number of characters in the texts of all edges of a question. These texts are in memory
 * several times, for example as part of the answer.
 */
const MOST_LETTERS = 8 * 2 ** 20;

function lettersOf({ formation, properties }: RetrievedEdge): number {
  let letters = formation?.length ?? 0;
  for (const name in properties) {
    const value = properties[name];
    if (typeof value === 'string') letters += value.length;
  }
  return letters;
}

function tooLong(edges: number): HedgerowError {
  return refusal(
    'query_too_large',
    `The texts of the ${edges} edges that the question means hold more than ${MOST_LETTERS / 2 ** 20} million letters. Ask for fewer edges (top_k), or narrow the window.`,
  );
}

/** Number of reads in one step, which takes about a millisecond. */
const STEP_READS = 16;

/**
 * Yields a small number of reads that cover all candidates, and undefined after a few reads. Where
 * candidates are dense, a read covers a range of rows, otherwise a single row. Ranges are halved
 * until the estimated number of rows per candidate is small enough.
 */
function* readsOf(
  { table, snapshot }: EdgeReader,
  nodes: readonly number[] | undefined,
  byTime: readonly Candidate[],
): Generator<ScanBounds | undefined, void, void> {
  const parts = byTime.length === 0 ? [] : [byTime];
  for (let looks = 1; parts.length > 0; looks++) {
    const part = parts.pop()!;
    const [first, last] = [part[0]!, part.at(-1)!];
    const bounds = { startTs: first.eventTs, endTs: last.eventTs, nodes };
    if (part.length === 1) yield { ...bounds, after: { eventTs: first.eventTs, id: first.id - 1 }, limit: 1 };
    else if (table.estimate(bounds, snapshot).rows <= Math.min(MOST_AT_ONCE, MOST_BETWEEN * part.length)) yield bounds;
    else parts.push(part.slice(part.length >> 1), part.slice(0, part.length >> 1));
    if (looks % STEP_READS === 0) yield undefined;
  }
}
