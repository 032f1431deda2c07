// Fuses what a question gives: the edges with its words, those around them, those with its nodes,
// and recency, by reciprocal rank (reciprocal-ranks.ts).
//
// Candidates are the edges with the best scores of the words (BM25), the neighbours of those of
// these with CONTEXT_LEAST of the best score (neighbours.ts), and the newest edges with most of the
// nodes or, if the question names only a time or conditions, the newest that meet them. Each is
// ranked in these lists:
//
//   words    a list for each word of the question that occurs: by its part of BM25
//   context  a list for each of them: with CONTEXT_SHARES of the same of the neighbours added
//   nodes    by the share of the named nodes that it has; a node whose key is only in its texts
//            counts MENTION_SHARE
//   time     those in a window that is only preferred (recall.ts); if some candidates have words,
//            context or nodes, only these
//   answer   those with a time or number, if the question wants one, only for memories
//   length   by the number of words of its texts, only for memories
//   tells    those without a question, only for memories
//   own      those that do not say "you", only for memories in English
//   recency  by time, the newest first
//
// The lists of a word weigh LIST_WEIGHTS times the idf of the word, divided by the greatest idf of
// all words. (Ranks by the sum of BM25 do not tell by how much an edge is better: with two words of
// the question it may be one rank before an edge with one of them. With a list for each word it
// gains two ranks, and so does an edge that has one word and is beside the other.)

import type { Steps } from '../../schedule/steps.ts';
import type { Document } from '../../text/index.ts';
import { hasQuestion, saysYou } from '../question/telling.ts';
import { hasAnswer, type WantedAnswer } from '../question/wanted-answer.ts';
import { type ChosenEdge, type EdgeKey, visitEdges } from './edge-reads.ts';
import type { EdgeReader, EdgeRows } from './edge-rows.ts';
import { Neighbours } from './neighbours.ts';
import { type Ranked, type RankList, reciprocalRanks } from './reciprocal-ranks.ts';
import { needsNoTest, rowTest } from './row-test.ts';
import { documentOfRow, lettersOf, textsOf, type WordIndex } from './row-texts.ts';
import { findBest, NO_KEYWORDS, type Search } from './search.ts';
import type { TimeEnds } from './time-ends.ts';
import { type WordHits, type WordScorer, wordHits } from './word-hits.ts';

export const LIST_WEIGHTS = {
  words: 0.25,
  context: 0.4,
  nodes: 0.3,
  time: 0.5,
  answer: 0.3,
  length: 0.25,
  tells: 0.2,
  own: 0.1,
  recency: 0.02,
} as const;
/** Shares of the scores of the neighbours of an edge, by distance. */
export const CONTEXT_SHARES = [0.5, 0.25] as const;
/** What the key of a node in the texts of an edge counts, beside 1 for a member. */
export const MENTION_SHARE = 0.5;
/** The best hits of the words, whose neighbours are found. */
export const CONTEXT_HITS = 64;
/** Of these, those with this share of the best score: others give their neighbours little. */
export const CONTEXT_LEAST = 0.25;
const FEWEST_CANDIDATES = 200;
const MORE_CANDIDATES = 2000;

/** Returns the number of candidates of each kind for a number of wanted edges. */
export function candidatesFor(size: number): number {
  return Math.max(FEWEST_CANDIDATES, size + Math.min(3 * size, MORE_CANDIDATES));
}

/** A question for the edges that `search` may find. */
export interface Fused {
  readonly search: Pick<Search, 'least' | 'greatest' | 'at' | 'nodes' | 'filters'>;
  /** Undefined if the question has no words. */
  readonly words: { readonly scorer: WordScorer; readonly index: WordIndex } | undefined;
  /** The keys of named nodes as words, with the nodes of each keyword; undefined without any. */
  readonly names: NameWords | undefined;
  /** Whether neighbours of the best hits are found though nothing of the question matches them. */
  readonly addsContext: boolean;
  /** If present, edges without any of these nodes, which are ascending, are left out. */
  readonly among: readonly number[] | undefined;
  /** Whether edges without words are found, too: those with nodes or, without nodes, the newest. */
  readonly fills: boolean;
  /**
   * Whether texts that tell much are preferred: long ones, without a question, that do not say
   * "you". A prior for turns of conversations, of which the short ones ("Thanks!") and those that
   * ask seldom answer a question (Kraaij, Westerveld, Hiemstra, The Importance of Prior
   * Probabilities for Entry Page Search, SIGIR 2002).
   */
  readonly prefersTelling: boolean;
  /** What the texts of preferred edges have; of no effect without words. */
  readonly answer?: WantedAnswer | undefined;
  /** A window of time whose edges are preferred. */
  readonly preferred?: TimeEnds | undefined;
  /** Number of wanted edges. */
  readonly size: number;
  /** Times of the oldest and the newest edge of the table. */
  readonly ends: TimeEnds;
}

/** The keys of nodes as words of texts. */
export interface NameWords {
  readonly scorer: WordScorer;
  readonly index: WordIndex;
  /** Nodes by key. */
  readonly nodes: ReadonlyMap<string, readonly number[]>;
}

/** The readers of a snapshot. */
export interface FuseReaders {
  /** Reads members, the columns of the text index, and those of the tests. */
  readonly reader: EdgeReader;
  /** Reads only the columns of the tests. */
  readonly light: EdgeReader;
}

/** A candidate and what is known of it. */
interface Candidate extends EdgeKey {
  members: readonly number[];
  /** BM25; 0 if it has no word. */
  words: number;
  /** Places of the parts of the search that it has. */
  parts: readonly number[];
  /** BM25 of each word of the question; empty without any. */
  byWord: Float64Array;
  /** Words of its texts; 0 if the question has none. */
  length: number;
  /** Whether its texts have what the question wants. */
  answers: boolean;
  /** Whether its texts have no question, and whether none says "you". */
  tells: boolean;
  own: boolean;
  /** What its neighbours and it have of each word; undefined if no neighbour is a hit. */
  context: Float64Array | undefined;
  /** The neighbour that gives most of its context. */
  beside: number | undefined;
  /** Named nodes whose keys are in its texts. */
  mentions: readonly number[];
  nodes: number;
}

export interface FusedEdges {
  /** Best first. */
  readonly edges: readonly ChosenEdge[];
  /** Whether more edges match. */
  readonly truncated: boolean;
  /** The keywords that some candidate has. */
  readonly keywords: ReadonlySet<string>;
  /** Ids of the edges that have a named node, or its key in their texts. */
  readonly touching: ReadonlySet<number>;
}

/** Names of what matched, for `why`. */
export interface MatchNames {
  readonly nodeName: (node: number) => string;
  /** Of all edges alike: the window and the conditions. */
  readonly common: readonly string[];
}

/** Returns the best edges. Throws `table_corrupt` or `overloaded`. */
export function* fuse(readers: FuseReaders, asked: Fused, names: MatchNames): Steps<FusedEdges> {
  const { search, words, size } = asked;
  const most = candidatesFor(size);
  const hits = words === undefined ? NO_HITS : yield* hitsOf(readers, asked, words, most);
  const named = asked.names === undefined ? NO_HITS : yield* hitsOf(readers, asked, asked.names, most);
  const candidates = new Candidates();
  for (const key of [...hits.hits, ...named.hits]) candidates.add(key);
  let overflowed = hits.overflowed || named.overflowed;
  const { preferred } = asked;
  for (const window of [...(asked.fills ? [search] : []), ...(preferred === undefined ? [] : [preferred])]) {
    const best = yield* findBest(readers.reader, otherSearch(asked, window, most));
    for (const key of best.candidates) candidates.add(key);
    overflowed ||= best.overflowed;
  }
  yield* read(readers.reader, asked, candidates.taken());
  yield* addContext(readers, asked, hits, candidates);
  const all = candidates.all.filter(({ members }) => asked.among === undefined || hasAny(members, asked.among));
  const lists = listsOf(asked, all.some(fits));
  const ranked = (yield* reciprocalRanks(all, lists)).sort(comesFirst);
  const edges = ranked.slice(0, size).map((one) => chosen(one, lists, asked, names));
  const touching = new Set(ranked.filter(({ one }) => one.nodes > 0).map(({ one }) => one.id));
  return { edges, truncated: overflowed || ranked.length > size, keywords: keywordsIn(all, asked), touching };
}

/** Returns the keywords that some candidate has, and those that were not looked for. */
function keywordsIn(candidates: readonly Candidate[], { words }: Fused): Set<string> {
  const parts = new Set(candidates.flatMap((one) => one.parts));
  const found = [...parts].flatMap((part) => words!.scorer.query.keywords[part] ?? []);
  return new Set([...found, ...(words?.scorer.passedOver ?? [])]);
}

function hasAny(members: readonly number[], nodes: readonly number[]): boolean {
  return nodes.some((node) => members.includes(node));
}

const NO_HITS: WordHits = { hits: [], overflowed: false };

const NO_WORDS = new Float64Array();

/** Returns a candidate of which nothing has been read. */
function unread(id: number, eventTs: number): Candidate {
  return {
    id,
    eventTs,
    members: [],
    words: 0,
    parts: [],
    byWord: NO_WORDS,
    length: 0,
    answers: false,
    tells: false,
    own: false,
    context: undefined,
    beside: undefined,
    mentions: [],
    nodes: 0,
  };
}

/** Candidates by id. */
class Candidates {
  readonly #byId = new Map<number, Candidate>();
  #new: Candidate[] = [];

  get all(): Candidate[] {
    return [...this.#byId.values()];
  }

  of(id: number): Candidate | undefined {
    return this.#byId.get(id);
  }

  add({ id, eventTs }: EdgeKey): Candidate {
    let one = this.#byId.get(id);
    if (one === undefined) {
      one = unread(id, eventTs);
      this.#byId.set(id, one);
      this.#new.push(one);
    }
    return one;
  }

  /** Returns those that were added since the last call. */
  taken(): Candidate[] {
    const taken = this.#new;
    this.#new = [];
    return taken;
  }
}

function hitsOf(
  readers: FuseReaders,
  { search: { least, greatest, at, filters }, among }: Fused,
  { scorer, index }: Pick<NameWords, 'scorer' | 'index'>,
  most: number,
): Steps<WordHits> {
  const where = filters.where.length === 0 ? undefined : filters.where;
  const testOf = needsNoTest(filters) ? undefined : (rows: EdgeRows) => rowTest(filters, rows);
  const way = among === undefined ? {} : among.length === 1 ? { nodes: among } : { anyOf: Float64Array.from(among) };
  const bounds = { startTs: least, endTs: greatest, at, where, ...way };
  return wordHits(readers, scorer, index, { bounds, testOf }, most);
}

/**
 * Finds the edges with most of the nodes, of these the newest: one node more outweighs any
 * difference in time. Without nodes, finds the newest.
 */
function otherSearch({ search, among, ends }: Fused, { least, greatest }: TimeEnds, size: number): Search {
  const nodes = among ?? search.nodes;
  const share = 1 / (2 * nodes.length + 1);
  const [oldest, newest] = [ends.least, ends.greatest];
  const scale = { members: 1 - share, keywords: 0, recency: share, weight: 0, oldest, newest };
  return {
    ...search,
    ...NO_KEYWORDS,
    least,
    greatest,
    nodes,
    order: nodes.length === 0 ? 'newest' : 'score',
    size,
    scale,
  };
}

/** Reads what must be known of candidates. */
function* read(reader: EdgeReader, asked: Fused, some: readonly Candidate[]): Steps<void> {
  const { search, words, names } = asked;
  const byId = new Map(some.map((one) => [one.id, one]));
  const index = (words ?? names)?.index;
  yield* visitEdges(reader, some, (rows, row) => {
    const one = byId.get(rows.ids[row]!)!;
    one.members = Array.from(rows.members.subarray(rows.offsets[row]!, rows.offsets[row + 1]!));
    if (index !== undefined) readTexts(one, asked, documentOfRow(index, rows, row), () => textsOf(index, rows, row));
    one.nodes = shareOf(one, search.nodes);
    return index === undefined ? 0 : lettersOf(index, rows, row);
  });
}

/** Sets what the texts of a candidate tell. */
function readTexts(one: Candidate, asked: Fused, document: Document, textsOfRow: () => string[]): void {
  const { words, names, answer, prefersTelling } = asked;
  const mentioned = names?.scorer.partsOf(document).parts ?? [];
  one.mentions = mentioned.flatMap((part) => names!.nodes.get(names!.scorer.query.keywords[part] ?? '') ?? []);
  if (words === undefined) return;
  const { score, parts, byWord } = words.scorer.partsOf(document);
  one.words = score;
  one.parts = parts;
  one.byWord = byWord;
  one.length = document.length;
  if (answer === undefined && !prefersTelling) return;
  const texts = textsOfRow();
  one.answers = answer !== undefined && texts.some((text) => hasAnswer(answer, text));
  one.tells = !texts.some(hasQuestion);
  one.own = !texts.some(saysYou);
}

/** Returns the share of the named nodes that an edge has or mentions; 0 if none is named. */
function shareOf({ members, mentions }: Candidate, nodes: readonly number[]): number {
  let sum = 0;
  for (const node of nodes) sum += members.includes(node) ? 1 : mentions.includes(node) ? MENTION_SHARE : 0;
  return nodes.length === 0 ? 0 : sum / nodes.length;
}

/** Adds the neighbours of the best hits to the candidates, and what neighbours give each other. */
function* addContext(
  { reader, light }: FuseReaders,
  asked: Fused,
  { hits }: WordHits,
  candidates: Candidates,
): Steps<void> {
  const neighbours = new Neighbours(light, asked.search);
  const given = new Map<number, number>();
  const added = new Map<Candidate, Float64Array>();
  const least = (hits[0]?.score ?? 0) * CONTEXT_LEAST;
  for (const { id, score: ofHit } of hits.slice(0, CONTEXT_HITS)) {
    // Hits are sorted.
    if (ofHit < least) break;
    const hit = candidates.of(id)!;
    for (const { distance, ...key } of yield* neighbours.of(hit)) {
      const one = asked.addsContext ? candidates.add(key) : candidates.of(key.id);
      if (one === undefined) continue;
      const share = CONTEXT_SHARES[distance - 1]!;
      const context = added.get(one) ?? new Float64Array(hit.byWord.length);
      for (let word = 0; word < context.length; word++) context[word]! += hit.byWord[word]! * share;
      added.set(one, context);
      const score = hit.words * share;
      if (score <= (given.get(one.id) ?? 0)) continue;
      given.set(one.id, score);
      one.beside = id;
    }
  }
  yield* read(reader, asked, candidates.taken());
  for (const [one, context] of added) one.context = context.map((score, word) => score + one.byWord[word]!);
}

/** A list of candidates, and the word that it is about. */
interface FusedList extends RankList<Candidate> {
  readonly name: keyof typeof LIST_WEIGHTS;
  readonly word?: number;
}

/** Returns whether a candidate has a word or node of the question, or is beside one with a word. */
function fits({ words, context, nodes }: Candidate): boolean {
  return words > 0 || context !== undefined || nodes > 0;
}

/** `someFit`: whether some candidate fits, so that the time of one that does not says little. */
function listsOf({ search, words, preferred, prefersTelling, answer }: Fused, someFit: boolean): FusedList[] {
  const lists: FusedList[] = [];
  const add = (name: FusedList['name'], valueIn: (one: Candidate) => number, share = 1, word?: number) =>
    lists.push({ name, weight: share * LIST_WEIGHTS[name], valueIn, ...(word === undefined ? {} : { word }) });
  for (const [word, share] of (words?.scorer.wordShares ?? []).entries()) {
    if (share === 0) continue;
    add('words', ({ byWord }) => byWord[word]!, share, word);
    add('context', ({ context, byWord }) => (context ?? byWord)[word]!, share, word);
  }
  if (search.nodes.length > 0) add('nodes', ({ nodes }) => nodes);
  if (preferred !== undefined) add('time', (one) => (isWithin(one, preferred) && (!someFit || fits(one)) ? 1 : 0));
  if (words !== undefined && answer !== undefined) add('answer', ({ answers }) => (answers ? 1 : 0));
  if (words !== undefined && prefersTelling) {
    add('length', ({ length }) => length);
    add('tells', ({ tells }) => (tells ? 1 : 0));
    if (words.index.language === 'english') add('own', ({ own }) => (own ? 1 : 0));
  }
  add('recency', ({ eventTs }) => eventTs - search.least + 1);
  return lists;
}

function comesFirst(a: Ranked<Candidate>, b: Ranked<Candidate>): number {
  return b.score - a.score || b.one.eventTs - a.one.eventTs || a.one.id - b.one.id;
}

function isWithin({ eventTs }: Candidate, window: TimeEnds | undefined): boolean {
  return window !== undefined && eventTs >= window.least && eventTs <= window.greatest;
}

/** Nodes that `why` names. */
const MOST_NAMED = 8;

function chosen(
  { one, ranks, score }: Ranked<Candidate>,
  lists: readonly FusedList[],
  { search: { nodes }, words, prefersTelling, answer }: Fused,
  names: MatchNames,
): ChosenEdge {
  const rankIn = (name: FusedList['name'], word?: number) => {
    const some = ranks.filter((rank, list) => rank > 0 && lists[list]!.name === name && lists[list]!.word === word);
    return `(rank ${some[0]})`;
  };
  const why: string[] = [];
  if (one.parts.length > 0) {
    const { labels, words: wordOf } = words!.scorer.query;
    const found = one.parts.map((part) => `${labels[part]!} ${rankIn('words', wordOf[part]!)}`);
    why.push(`words: ${found.join(', ')}`);
  }
  if (one.beside !== undefined) {
    const best = ranks.filter((rank, list) => rank > 0 && lists[list]!.name === 'context').sort()[0];
    why.push(`context: beside HEDGE-${one.beside} (rank ${best})`);
  }
  const held = one.members.filter((node) => nodes.includes(node));
  const named = (some: readonly number[]) => some.slice(0, MOST_NAMED).map(names.nodeName).join(', ');
  if (held.length > 0) why.push(`nodes: ${named(held)} ${rankIn('nodes')}`);
  else if (one.nodes > 0) why.push(`names: ${named([...new Set(one.mentions)])} ${rankIn('nodes')}`);
  if (lists.some(({ name }, list) => name === 'time' && ranks[list]! > 0)) why.push(`time ${rankIn('time')}`);
  why.push(...names.common);
  if (one.answers) why.push(`answer: a ${answer} ${rankIn('answer')}`);
  if (prefersTelling && one.length > 0) why.push(`length ${rankIn('length')}`);
  if (prefersTelling && one.tells) why.push(`no question ${rankIn('tells')}`);
  if (prefersTelling && one.own && words?.index.language === 'english') why.push(`no "you" ${rankIn('own')}`);
  why.push(`recency ${rankIn('recency')}`);
  return { id: one.id, eventTs: one.eventTs, score, why };
}
