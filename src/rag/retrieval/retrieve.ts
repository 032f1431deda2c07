// Retrieves the edges that a question means, best first, through the indexes of its table at one
// snapshot.

import type { QueryPlan, ScanBounds, Snapshot, Table } from '../../engine/index.ts';
import { type HedgerowError, refusal } from '../../errors.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { Question, QuestionWindow } from '../question/question.ts';
import { type Understood, understand, understood } from '../question/understand.ts';
import type { BestEdges, Candidate } from './best-edges.ts';
import { type Bound, bind, ignoredWords, missesName, type NameReader, nameReaderOf, wordsInRows } from './bind.ts';
import { EdgeReader, edgeOf, FORMATION, WEIGHT } from './edge-rows.ts';
import { KeywordMatch } from './keyword-match.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import { splitFilters } from './row-test.ts';
import { scaleOf } from './score.ts';
import { findBest, type Search } from './search.ts';
import { timeEnds } from './time-ends.ts';

export interface Retrieval {
  /**
   * Best first, ties by newer time, then smaller id; by time alone if the text asks for the latest
   * or the oldest.
   */
  readonly edges: RetrievedEdge[];
  /** Whether more edges matched than are returned. */
  readonly truncated: boolean;
  /**
   * The question as understood, with the window that was used and everything that bound to nothing.
   */
  readonly question: Question;
  /** False if nothing in the text binds to data, so nothing was searched. */
  readonly binds: boolean;
  readonly said: Understood;
  /** Keywords that occur in rows of the table. */
  readonly foundWords: ReadonlySet<string>;
  readonly strategy: QueryPlan['strategy'];
  readonly lsn: number;
}

export interface RetrieveOptions {
  /** 1 to 10,000; a number in the text can only lower it. */
  readonly topK: number;
  /** Each side that is given overrides that of the text. */
  readonly override?: { readonly startTs?: number | undefined; readonly endTs?: number | undefined } | undefined;
  /** The reference for "today" in a table without edges; otherwise that is the newest edge. */
  readonly nowMs: number;
  /** The table that names the nodes. */
  readonly names?: Table | undefined;
  /** Stems of the predicates and names of the rules in use. */
  readonly predicates?: ReadonlySet<string> | undefined;
}

/** Runs in steps of a few ms. Throws `table_not_found`, `table_corrupt`, `overloaded`. */
export function* retrieve(table: Table, text: string, options: RetrieveOptions): Steps<Retrieval> {
  const snapshot = table.snapshot();
  const { names } = options;
  const nameSnapshot = names?.snapshot();
  try {
    const nameReader = nameSnapshot && nameReaderOf(names!, nameSnapshot);
    return yield* retrieveAt(table, snapshot, text, options, nameReader);
  } finally {
    nameSnapshot?.release();
    snapshot.release();
  }
}

function* retrieveAt(
  table: Table,
  snapshot: Snapshot,
  text: string,
  { topK, override, nowMs, predicates = new Set() }: RetrieveOptions,
  names: NameReader | undefined,
): Steps<Retrieval> {
  const { columns } = snapshot.columns;
  const own = columns.filter(({ id }) => id > FORMATION);
  const asked = { name: table.name, columns: own };
  // Readers are created in the same event loop turn as the snapshot. What they read does not depend
  // on the reference time, which is not known yet.
  const { filters: named, keywords: words, nodes } = understand(text, asked, nowMs);
  const filters = splitFilters(named, columns);
  const textColumns = columns.filter(({ type }) => kindOfType(type) === 'text').map(({ id }) => id);
  const looked = filters.looked.map(({ column }) => column.id);
  const hasTexts = words.length > 0 && textColumns.length > 0;
  const bare = new EdgeReader(table, snapshot, { members: false, columns: new Set() });
  const reader = new EdgeReader(table, snapshot, {
    members: nodes.length > 1 || names !== undefined,
    columns: new Set([WEIGHT, ...looked, ...(hasTexts ? textColumns : [])]),
  });
  const ends = yield* timeEnds(bare, undefined, undefined);
  const said = understood(text, asked, ends === undefined ? nowMs : ends.greatest * 1000);
  const hasOverride = override?.startTs !== undefined || override?.endTs !== undefined;
  const bound = yield* bind(said, { reader: bare, names, predicates, hasOverride });
  const question = { ...bound.question, window: overridden(bound.question.window, override) };
  const hasKeywords = hasTexts && question.keywords.length > 0;
  const keywords = new KeywordMatch(question.keywords, textColumns);
  const boundAt = { ...bound, question };
  const foundWords =
    hasKeywords && bound.free.size > 0 && needsWords(bound, said)
      ? yield* wordsInRows(reader, boundAt, keywords, question.keywords)
      : new Set<string>();
  const binds = (bound.binds || foundWords.size > 0) && !missesName(said, bound, foundWords);
  const isNamed = bound.isNamed || question.nodes.length > 0;
  const state = { said, bound, question, binds, foundWords, keywords, lsn: snapshot.lsn };
  const wanted = Math.min(topK, question.top ?? topK);
  const { window } = question;
  const within =
    window === null ? ends : yield* timeEnds(bare, window.start_ts ?? undefined, window.end_ts ?? undefined);
  if (ends === undefined || within === undefined || !binds)
    return answered(state, [], false, strategyOf(question, isNamed, reader));
  const needsKeyword = !isNamed && foundWords.size > 0;
  const byTime = !isNamed && !needsKeyword;
  // A text that names nothing means the most recent edges; the rest of it ranks those.
  const search: Search = {
    least: within.least,
    greatest: within.greatest,
    nodes: question.nodes,
    filters,
    keywords,
    hasKeywords,
    needsKeyword,
    order: byTime && question.order === 'score' ? 'newest' : question.order,
    size: byTime ? topK : wanted,
    scale: scaleOf(question.nodes.length > 0, question.keywords.length > 0, ends.least, ends.greatest),
  };
  const best = yield* findBest(reader, search);
  const strategy = strategyOf(question, isNamed, reader);
  const edges = yield* wholeEdges(reader, question.nodes, best.ranked(question.order).slice(0, wanted));
  return answered(state, edges, isTruncated(best, wanted), strategy);
}

interface State extends Pick<Retrieval, 'said' | 'question' | 'binds' | 'foundWords' | 'lsn'> {
  readonly bound: Bound;
  readonly keywords: KeywordMatch;
}

function answered(
  { said, bound, question, binds, foundWords, keywords, lsn }: State,
  edges: RetrievedEdge[],
  truncated: boolean,
  strategy: Retrieval['strategy'],
): Retrieval {
  const found = needsWords(bound, said) ? foundWords : keywords.wordsIn(edges, question.keywords);
  const ignored = [...question.ignored, ...ignoredWords(said, bound, found, binds)];
  return { edges, truncated, question: { ...question, ignored }, binds, said, foundWords: found, strategy, lsn };
}

/**
 * Whether rows are searched for words beforehand: if nothing else says which edges are meant, if a
 * figure is asked for, or if a word is part of a name.
 */
function needsWords({ isNamed, near, question }: Bound, { figure }: Understood): boolean {
  return (!isNamed && question.nodes.length === 0) || figure !== null || near.size > 0;
}

/** One edge by its key, with all columns; undefined if it no longer exists. */
export function* retrieveOne(
  table: Table,
  { id, eventTs }: { id: number; eventTs: number },
): Steps<RetrievedEdge | undefined> {
  const snapshot = table.snapshot();
  try {
    const reader = new EdgeReader(table, snapshot, { members: true, columns: new Set() });
    const bounds = { startTs: eventTs, endTs: eventTs, after: { eventTs, id: id - 1 }, limit: 1 };
    for (const rows of reader.readWhole(bounds)) {
      yield;
      if (rows !== null && rows.rows > 0 && rows.ids[0] === id) return edgeOf(rows, 0, 1, snapshot);
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
 * How the edges were found. Without nodes and a window the order of a column may be used; otherwise
 * every edge is read.
 */
function strategyOf({ nodes, window, filters }: Question, isNamed: boolean, reader: EdgeReader): QueryPlan['strategy'] {
  if (nodes.length > 0) return 'FMI_LOOKUP';
  if (reader.strategy === 'PSI_RANGE') return 'PSI_RANGE';
  return window !== null || !isNamed || filters.length === 0 ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}

/**
 * Unwanted rows per wanted row that may be read along: reading one row on its own costs as much.
 */
const MOST_BETWEEN = 48;
/** Maximum number of rows read at once. */
const MOST_AT_ONCE = 8192;

/** The edges with all columns, in the given order. */
function* wholeEdges(
  reader: EdgeReader,
  nodes: readonly number[],
  candidates: readonly Candidate[],
): Steps<RetrievedEdge[]> {
  const found = new Map<number, RetrievedEdge>();
  const scores = new Map(candidates.map(({ id, score }) => [id, score]));
  const byTime = [...candidates].sort((a, b) => a.eventTs - b.eventTs || a.id - b.id);
  // A single named node is in every edge.
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
        const edge = edgeOf(rows!, row, score, reader.snapshot);
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
 * Maximum number of characters in the texts of all edges of a question, which are held several
 * times, including as text of the answer.
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

/** Reads per step: about a millisecond. */
const STEP_READS = 16;

/**
 * A small set of reads that covers all candidates: of ranges where they are dense, otherwise of
 * single rows. Ranges are halved until the estimated rows per candidate are few enough. Yields
 * undefined after a few reads.
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
