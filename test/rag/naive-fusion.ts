// Ranks rows naively as retrieval from a table with a text index does: every row is looked at.

import {
  CONTEXT_HITS,
  CONTEXT_LEAST,
  CONTEXT_SHARES,
  candidatesFor,
  LIST_WEIGHTS,
  MENTION_SHARE,
} from '../../src/rag/retrieval/fuse.ts';
import { RANK_CONSTANT } from '../../src/rag/retrieval/reciprocal-ranks.ts';
import { analyzerOf, idf, weight } from '../../src/text/index.ts';
import type { PlainRow } from './naive-retrieval.ts';

/** What is asked. */
export interface NaiveFusion {
  readonly words: readonly string[];
  /** Forms of each of these words, which are ranked in the same list; default: none. */
  readonly forms?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Nodes by which rows are ranked. */
  readonly nodes: readonly number[];
  /** Whether a row may be found at all. */
  readonly allowed: (row: PlainRow) => boolean;
  /** Whether a row may be found that is not only a neighbour. */
  readonly qualified: (row: PlainRow) => boolean;
  /** Nodes of which rows without words must have one; default: those by which rows are ranked. */
  readonly among?: readonly number[] | undefined;
  /** Keys by which nodes are named, and the nodes. */
  readonly names?: ReadonlyMap<string, number> | undefined;
  /** Whether neighbours are found of which nothing else matches. */
  readonly addsContext: boolean;
  /** Whether rows without words are found. */
  readonly fills: boolean;
  /** Whether long rows are preferred, and those without a question and without "you". */
  readonly prefersTelling: boolean;
  /** Tests whether a text is preferred. */
  readonly answers?: ((text: string) => boolean) | undefined;
  /** Times that are preferred. */
  readonly preferred?: ((time: number) => boolean) | undefined;
}

export interface NaiveEdge {
  row: PlainRow;
  words: number;
  /** By word of the question. */
  context: number[];
  nodes: number;
  score: number;
}

export const english = analyzerOf('english');

export function termsOf(row: PlainRow): string[] {
  return [row.title, row.body].flatMap((text) => (typeof text === 'string' ? english.terms(text) : []));
}

interface Scores {
  /** BM25 of each row by its formula, one part a word that occurs in some row. */
  readonly parts: ReadonlyMap<PlainRow, readonly number[]>;
  readonly sums: ReadonlyMap<PlainRow, number>;
  /** By word: its idf, the least of its forms, divided by the greatest. */
  readonly shares: readonly number[];
}

function bm25(rows: readonly PlainRow[], words: readonly string[], forms: NaiveFusion['forms'] = {}): Scores {
  const documents = rows.map(termsOf).filter((terms) => terms.length > 0);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const matching = (term: string) => documents.filter((terms) => terms.includes(term)).length;
  const own = new Set(words.flatMap((word) => english.terms(word)));
  const groups = words
    .map((word) => [word, ...(forms[word] ?? [])].flatMap((form) => english.terms(form)))
    .map(([first, ...others]) => [first!, ...others.filter((term) => !own.has(term))].filter(matching))
    .filter(({ length }) => length > 0);
  const idfOf = (term: string) => idf(documents.length, matching(term));
  const idfs = groups.map((terms) => Math.min(...terms.map(idfOf)));
  const greatest = Math.max(...groups.flat().map(idfOf));
  const parts = new Map(
    rows.map((row) => {
      const terms = termsOf(row);
      const scoreOf = (term: string) =>
        weight(idfOf(term), terms.filter((other) => other === term).length, terms.length, average);
      return [row, groups.map((group) => group.reduce((sum, term) => sum + scoreOf(term), 0))] as const;
    }),
  );
  const sums = new Map([...parts].map(([row, some]) => [row, some.reduce((sum, part) => sum + part, 0)] as const));
  return { parts, sums, shares: idfs.map((one) => one / greatest) };
}

const byKey = (a: PlainRow, b: PlainRow) => a.event_ts - b.event_ts || a.id - b.id;

/** The rows around one among those that may be found and share its rarest node of several rows. */
function neighboursOf(row: PlainRow, allowed: readonly PlainRow[]): { row: PlainRow; distance: number }[] {
  let least: PlainRow[] | undefined;
  for (const node of row.members.slice(0, 8)) {
    const others = allowed.filter(({ members }) => members.includes(node));
    if (others.length > 1 && others.length < (least?.length ?? Infinity)) least = others;
  }
  const at = least?.indexOf(row) ?? -1;
  const found = [];
  for (const distance of [1, 2]) {
    for (const other of [least?.[at - distance], least?.[at + distance]])
      if (other !== undefined) found.push({ row: other, distance });
  }
  return found;
}

/** Returns the lists in which edges are ranked: their weights, and the values in them. */
function listsOf(
  wish: NaiveFusion,
  parts: ReadonlyMap<PlainRow, readonly number[]>,
  shares: readonly number[],
  found: readonly NaiveEdge[],
): [number, (edge: NaiveEdge) => number][] {
  const { answers, preferred } = wish;
  const lists: [number, (edge: NaiveEdge) => number][] = [];
  for (const [word, share] of shares.entries()) {
    const own = (edge: NaiveEdge) => parts.get(edge.row)![word]!;
    lists.push([share * LIST_WEIGHTS.words, own]);
    lists.push([share * LIST_WEIGHTS.context, (edge) => edge.context[word]! + own(edge)]);
  }
  if (wish.nodes.length > 0) lists.push([LIST_WEIGHTS.nodes, ({ nodes }) => nodes]);
  const fits = (edge: NaiveEdge) =>
    edge.nodes > 0 || edge.context.some((score) => score > 0) || parts.get(edge.row)!.some((score) => score > 0);
  const someFit = found.some(fits);
  if (preferred !== undefined)
    lists.push([LIST_WEIGHTS.time, (edge) => (preferred(edge.row.event_ts) && (!someFit || fits(edge)) ? 1 : 0)]);
  if (answers !== undefined && wish.words.length > 0)
    lists.push([
      LIST_WEIGHTS.answer,
      ({ row }) => ([row.title, row.body].some((text) => typeof text === 'string' && answers(text)) ? 1 : 0),
    ]);
  if (wish.prefersTelling && wish.words.length > 0) {
    const lacks = (row: PlainRow, what: RegExp) => (what.test(`${row.title} ${row.body}`) ? 0 : 1);
    lists.push([LIST_WEIGHTS.length, ({ row }) => termsOf(row).length]);
    lists.push([LIST_WEIGHTS.tells, ({ row }) => lacks(row, /[?]/)]);
    lists.push([LIST_WEIGHTS.own, ({ row }) => lacks(row, /\b(you|your)\b/i)]);
  }
  lists.push([LIST_WEIGHTS.recency, ({ row }) => row.event_ts]);
  return lists;
}

export function naiveFusion(rows: readonly PlainRow[], wish: NaiveFusion, size: number): NaiveEdge[] {
  const { parts, sums: scores, shares } = bm25(rows, wish.words, wish.forms);
  const allowed = rows.filter(wish.allowed).sort(byKey);
  const qualified = allowed.filter(wish.qualified);
  const edges = new Map<PlainRow, NaiveEdge>();
  const add = (row: PlainRow) => {
    const mentioned = [...(wish.names ?? [])].filter(([name]) => termsOf(row).includes(english.terms(name)[0]!));
    let nodes = 0;
    for (const node of wish.nodes) {
      if (row.members.includes(node)) nodes++;
      else if (mentioned.some(([, other]) => other === node)) nodes += MENTION_SHARE;
    }
    nodes /= Math.max(1, wish.nodes.length);
    const edge = edges.get(row) ?? { row, words: scores.get(row)!, context: shares.map(() => 0), nodes, score: 0 };
    edges.set(row, edge);
    return edge;
  };
  const most = candidatesFor(size);
  const best = (by: ReadonlyMap<PlainRow, number>) =>
    qualified
      .filter((row) => by.get(row)! > 0)
      .sort((a, b) => by.get(b)! - by.get(a)! || b.event_ts - a.event_ts || a.id - b.id)
      .slice(0, most);
  const hits = best(scores);
  for (const row of [...hits, ...(wish.names === undefined ? [] : best(bm25(rows, [...wish.names.keys()]).sums))])
    add(row);
  const among = wish.among ?? wish.nodes;
  const held = ({ members }: PlainRow) => among.filter((node) => members.includes(node)).length;
  const others = qualified
    .filter((row) => among.length === 0 || held(row) > 0)
    .sort((a, b) => held(b) - held(a) || b.event_ts - a.event_ts || a.id - b.id);
  const { preferred } = wish;
  if (wish.fills) for (const row of others.slice(0, most)) add(row);
  if (preferred !== undefined)
    for (const row of others.filter(({ event_ts }) => preferred(event_ts)).slice(0, most)) add(row);
  const near = hits.slice(0, CONTEXT_HITS).filter((hit) => scores.get(hit)! >= CONTEXT_LEAST * scores.get(hits[0]!)!);
  for (const hit of near)
    for (const { row, distance } of neighboursOf(hit, allowed))
      if (wish.addsContext || edges.has(row))
        for (const [word, score] of parts.get(hit)!.entries())
          add(row).context[word]! += score * CONTEXT_SHARES[distance - 1]!;
  const found = [...edges.values()].filter(({ row }) => wish.qualified(row));
  const lists = listsOf(wish, parts, shares, found);
  const whole = lists.reduce((sum, [share]) => sum + share / (RANK_CONSTANT + 1), 0);
  for (const edge of found) {
    for (const [share, of] of lists) {
      if (of(edge) <= 0) continue;
      const rank = 1 + found.filter((other) => of(other) > of(edge)).length;
      edge.score += share / (RANK_CONSTANT + rank);
    }
    edge.score /= whole;
  }
  return found
    .sort((a, b) => b.score - a.score || b.row.event_ts - a.row.event_ts || a.row.id - b.row.id)
    .slice(0, size);
}
