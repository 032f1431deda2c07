// The edges that a question means, best first, through the indexes of its table at one snapshot.

import type { Snapshot, Table } from '../../engine/index.ts';
import type { QueryPlan, ScanBounds } from '../../engine/types.ts';
import type { Question, QuestionWindow } from '../question/question.ts';
import { understand } from '../question/understand.ts';
import type { BestEdges, Candidate } from './best-edges.ts';
import { EdgeReader, edgeOf, FORMATION, WEIGHT } from './edge-rows.ts';
import { KeywordMatch } from './keyword-match.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import { splitFilters } from './row-test.ts';
import { scaleOf } from './score.ts';
import { findBest, type Search } from './search.ts';
import { timeEnds } from './time-ends.ts';

export interface Retrieval {
  /** Best first, ties by newer then smaller id; by time alone where the text asks for the latest or the oldest. */
  readonly edges: RetrievedEdge[];
  /** More edges matched than are here. */
  readonly truncated: boolean;
  /** As understood, with the window that was used. */
  readonly question: Question;
  readonly strategy: QueryPlan['strategy'];
  readonly lsn: number;
}

export interface RetrieveOptions {
  /** 1 to 10,000; a number in the text makes it less. */
  readonly topK: number;
  /** Each side that is given wins over the text's. */
  readonly override?: { readonly startTs?: number | undefined; readonly endTs?: number | undefined } | undefined;
  /** What "today" counts from. */
  readonly nowMs: number;
}

/** Steps of some ms. Throws `table_not_found`, `table_corrupt`, `overloaded`. */
export function* retrieve(table: Table, text: string, options: RetrieveOptions): Generator<void, Retrieval, void> {
  const snapshot = table.snapshot();
  try {
    return yield* retrieveAt(table, snapshot, text, options);
  } finally {
    snapshot.release();
  }
}

function* retrieveAt(
  table: Table,
  snapshot: Snapshot,
  text: string,
  { topK, override, nowMs }: RetrieveOptions,
): Generator<void, Retrieval, void> {
  const { columns } = snapshot.columns;
  const own = columns.filter(({ id }) => id > FORMATION);
  const understood = understand(text, { name: table.name, columns: own }, nowMs);
  const question = { ...understood, window: overridden(understood.window, override) };
  const lsn = snapshot.lsn;
  const isNamed = question.window !== null || question.nodes.length > 0 || question.filters.length > 0;
  const filters = splitFilters(question.filters, columns);
  const textColumns = columns.filter(({ type }) => type === 'TEXT').map(({ id }) => id);
  const looked = filters.looked.map(({ column }) => column.id);
  const reader = new EdgeReader(table, snapshot, {
    members: question.nodes.length > 1,
    columns: new Set([WEIGHT, ...looked, ...(question.keywords.length > 0 ? textColumns : [])]),
  });
  const wanted = Math.min(topK, question.top ?? topK);
  const ends = yield* timeEnds(reader, undefined, undefined);
  const { window } = question;
  const within =
    window === null ? ends : yield* timeEnds(reader, window.start_ts ?? undefined, window.end_ts ?? undefined);
  if (ends === undefined || within === undefined)
    return { edges: [], truncated: false, question, strategy: strategyOf(question, isNamed, reader), lsn };
  // A text that names nothing means the most recent edges; what else it says ranks those.
  const search: Search = {
    least: within.least,
    greatest: within.greatest,
    nodes: question.nodes,
    filters,
    keywords: new KeywordMatch(question.keywords, textColumns),
    hasKeywords: question.keywords.length > 0 && textColumns.length > 0,
    order: !isNamed && question.order === 'score' ? 'newest' : question.order,
    size: isNamed ? wanted : topK,
    scale: scaleOf(question.nodes.length > 0, question.keywords.length > 0, ends.least, ends.greatest),
  };
  const best = yield* findBest(reader, search);
  const strategy = strategyOf(question, isNamed, reader);
  const ranked = best.ranked(question.order);
  const edges = yield* wholeEdges(reader, question.nodes, ranked.slice(0, wanted));
  return { edges, truncated: isTruncated(best, wanted), question, strategy, lsn };
}

function isTruncated(best: BestEdges, wanted: number): boolean {
  return best.overflowed || best.candidates.length > wanted;
}

function overridden(window: QuestionWindow | null, override: RetrieveOptions['override']): QuestionWindow | null {
  const start_ts = override?.startTs ?? window?.start_ts ?? null;
  const end_ts = override?.endTs ?? window?.end_ts ?? null;
  return start_ts === null && end_ts === null ? null : { start_ts, end_ts };
}

/** What led to the edges. Without nodes and time an order of a column may, else each edge is looked at. */
function strategyOf({ nodes, window, filters }: Question, isNamed: boolean, reader: EdgeReader): QueryPlan['strategy'] {
  if (nodes.length > 0) return 'FMI_LOOKUP';
  if (reader.strategy === 'PSI_RANGE') return 'PSI_RANGE';
  return window !== null || !isNamed || filters.length === 0 ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}

/** Rows between those wanted that are read along, for each: to read one row alone costs as much. */
const MOST_BETWEEN = 48;
/** Rows that are read at once, at most. */
const MOST_AT_ONCE = 8192;

/** The edges with all that they have, in the order given. */
function* wholeEdges(
  reader: EdgeReader,
  nodes: readonly number[],
  candidates: readonly Candidate[],
): Generator<void, RetrievedEdge[], void> {
  const found = new Map<number, RetrievedEdge>();
  const scores = new Map(candidates.map(({ id, score }) => [id, score]));
  const byTime = [...candidates].sort((a, b) => a.eventTs - b.eventTs || a.id - b.id);
  // Every edge holds the node, when there is one.
  const way = nodes.length === 1 ? nodes : undefined;
  for (const bounds of readsOf(reader, way, byTime)) {
    if (bounds === undefined) {
      yield;
      continue;
    }
    for (const rows of reader.readWhole(bounds)) {
      for (let row = 0; row < (rows?.rows ?? 0); row++) {
        const score = scores.get(rows!.ids[row]!);
        if (score !== undefined) found.set(rows!.ids[row]!, edgeOf(rows!, row, score, reader.snapshot));
      }
      if (rows === null || rows.rows > MOST_BETWEEN) yield;
    }
  }
  return candidates.map(({ id }) => found.get(id)!);
}

/** Reads that a step makes: about a millisecond. */
const STEP_READS = 16;

/** Few reads that find all candidates: of stretches where they stand close, else of single rows. Undefined: some reads went by. */
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
