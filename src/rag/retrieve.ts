// The edges that a question means, best first, through the indexes of its table at one snapshot.

import type { Snapshot, Table } from '../engine/index.ts';
import type { QueryPlan } from '../engine/types.ts';
import type { BestEdges, Candidate } from './best-edges.ts';
import { EdgeReader, edgeOf, FORMATION, WEIGHT } from './edge-rows.ts';
import { KeywordMatch } from './keyword-match.ts';
import type { Question, QuestionWindow } from './question.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';
import { splitFilters } from './row-test.ts';
import { scaleOf } from './score.ts';
import { findBest, type Search } from './search.ts';
import { timeEnds } from './time-ends.ts';
import { understand } from './understand.ts';

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
  const edges = yield* wholeEdges(reader, ranked.slice(0, wanted));
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

/** Edges that are read at once, when few others lie between them. */
const READ_AT_ONCE = 64;
const MOST_BETWEEN = 8;
/** Edges read one by one in a step: about a millisecond. */
const STEP_EDGES = 32;

/** The edges with all that they have, in the order given. */
function* wholeEdges(reader: EdgeReader, candidates: readonly Candidate[]): Generator<void, RetrievedEdge[], void> {
  const found = new Map<number, RetrievedEdge>();
  const byTime = [...candidates].sort((a, b) => a.eventTs - b.eventTs || a.id - b.id);
  for (let at = 0; at < byTime.length; at += READ_AT_ONCE) {
    const some = byTime.slice(at, at + READ_AT_ONCE);
    const [startTs, endTs] = [some[0]!.eventTs, some.at(-1)!.eventTs];
    const between = reader.table.estimate({ startTs, endTs }, reader.snapshot).rows;
    const isDense = between <= MOST_BETWEEN * some.length;
    const reads = isDense ? [{ startTs, endTs }] : some.map(oneRow);
    const scores = new Map(some.map(({ id, score }) => [id, score]));
    for (const [place, bounds] of reads.entries()) {
      for (const rows of reader.readWhole(bounds)) {
        for (let row = 0; row < (rows?.rows ?? 0); row++) {
          const score = scores.get(rows!.ids[row]!);
          if (score !== undefined) found.set(rows!.ids[row]!, edgeOf(rows!, row, score, reader.snapshot));
        }
        if (isDense || rows === null) yield;
      }
      if (place % STEP_EDGES === STEP_EDGES - 1) yield;
    }
    yield;
  }
  return candidates.map(({ id }) => found.get(id)!);
}

function oneRow({ eventTs, id }: Candidate) {
  return { startTs: eventTs, endTs: eventTs, after: { eventTs, id: id - 1 }, limit: 1 };
}
