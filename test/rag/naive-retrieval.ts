// Implements retrieval naively over plain rows: every row is scored, and all rows are sorted.

import { PART_WEIGHTS } from '../../src/rag/retrieval/score.ts';

export interface PlainRow {
  id: number;
  event_ts: number;
  members: number[];
  [column: string]: unknown;
}

export type Op = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** The meaning of a question. The text of the question is made from this. */
export interface Wish {
  startTs?: number | undefined;
  endTs?: number | undefined;
  nodes: number[];
  filters: { column: string; op: Op; value: number | string | boolean }[];
  top: number | null;
  order: 'score' | 'newest' | 'oldest';
  keywords: string[];
}

export interface NaiveRetrieval {
  /** Ids of the edges, best first. */
  ids: number[];
  scores: number[];
  truncated: boolean;
}

export function naiveRetrieval(rows: readonly PlainRow[], wish: Wish, topK: number): NaiveRetrieval {
  const wanted = Math.min(topK, wish.top ?? topK);
  const matching = rows.filter((row) => matches(row, wish));
  const score = scoring(rows, wish);
  const byTime = (a: PlainRow, b: PlainRow) => b.event_ts - a.event_ts || a.id - b.id;
  const byAge = (a: PlainRow, b: PlainRow) => a.event_ts - b.event_ts || a.id - b.id;
  const byScore = (a: PlainRow, b: PlainRow) => score(b) - score(a) || byTime(a, b);
  const isNamed =
    wish.startTs !== undefined || wish.endTs !== undefined || wish.nodes.length > 0 || wish.filters.length > 0;
  // If a question has only keywords, it selects the edges that contain at least one of them.
  const byWords = !isNamed && wish.keywords.length > 0;
  const holding = byWords ? matching.filter((row) => wish.keywords.some((word) => rowHasWord(row, word))) : matching;
  let pool = holding;
  if (!isNamed && !byWords && wish.order === 'score') pool = [...matching].sort(byTime).slice(0, topK);
  const order = wish.order === 'score' ? byScore : wish.order === 'newest' ? byTime : byAge;
  const best = [...pool].sort(order).slice(0, wanted);
  return { ids: best.map(({ id }) => id), scores: best.map(score), truncated: holding.length > wanted };
}

function matches(row: PlainRow, { startTs = -Infinity, endTs = Infinity, nodes, filters }: Wish): boolean {
  if (row.event_ts < startTs || row.event_ts > endTs) return false;
  if (nodes.length > 0 && !nodes.some((node) => row.members.includes(node))) return false;
  return filters.every(({ column, op, value }) => holds(row[column], op, value));
}

function holds(found: unknown, op: Op, value: number | string | boolean): boolean {
  if (found === null || found === undefined) return false;
  const [a, b] = [plain(found), plain(value)] as [number, number];
  switch (op) {
    case '=':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

function plain(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

/** Returns a function for the score of a row, which is a weighted mean of the documented parts. */
function scoring(rows: readonly PlainRow[], { nodes, keywords }: Wish): (row: PlainRow) => number {
  const times = rows.map(({ event_ts }) => event_ts);
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  const members = nodes.length > 0 ? PART_WEIGHTS.members : 0;
  const words = keywords.length > 0 ? PART_WEIGHTS.keywords : 0;
  const sum = members + words + PART_WEIGHTS.recency + PART_WEIGHTS.weight;
  return (row) => {
    const held = nodes.filter((node) => row.members.includes(node)).length / Math.max(1, nodes.length);
    const found = keywords.filter((word) => rowHasWord(row, word)).length;
    const recency = newest === oldest ? 1 : (row.event_ts - oldest) / (newest - oldest);
    const weight = typeof row.weight === 'number' && row.weight > 0 ? row.weight / (1 + row.weight) : 0;
    return (
      (members / sum) * held +
      (words / sum) * (found / Math.max(1, keywords.length)) +
      (PART_WEIGHTS.recency / sum) * recency +
      (PART_WEIGHTS.weight / sum) * weight
    );
  };
}

function rowHasWord(row: PlainRow, word: string): boolean {
  return Object.values(row).some((value) => typeof value === 'string' && hasWord(value, word));
}

function hasWord(text: string, word: string): boolean {
  const stem = word.length > 3 ? word.replace(/s$/, '') : word;
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .some((part) =>
      ['', 's', 'es', 'ed', 'd', 'ing', 'ly'].includes(part.startsWith(stem) ? part.slice(stem.length) : '-'),
    );
}
