// Compares retrieval from a table with a text index with a naive fusion of all rows, in every state
// of random tables. HEDGEROW_RETRIEVALS is the number of questions per state of a table.

import { describe, expect, it } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { CONTEXT_HITS, CONTEXT_SHARES, LIST_WEIGHTS, RANK_CONSTANT } from '../../src/rag/retrieval/fuse.ts';
import { analyzerOf, idf, weight } from '../../src/text/index.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { PlainRow } from './naive-retrieval.ts';
import { FIRST_TS, insert, pick, retrieved } from './retrieval-world.ts';

const QUESTIONS = Number(process.env.HEDGEROW_RETRIEVALS ?? 8);
const WORDS = ['harbour', 'budget', 'storm', 'lantern', 'violin', 'orchard', 'ferry', 'walnut'];
const NODES = 7;

interface Wish {
  words: string[];
  nodes: number[];
  startTs: number | undefined;
  weightAbove: number | undefined;
}

interface NaiveEdge {
  row: PlainRow;
  words: number;
  context: number;
  nodes: number;
  score: number;
}

const english = analyzerOf('english');

function termsOf(row: PlainRow): string[] {
  return [row.title, row.body].flatMap((text) => (typeof text === 'string' ? english.terms(text) : []));
}

/** BM25 of each row by its formula. */
function bm25(rows: readonly PlainRow[], words: readonly string[]): Map<PlainRow, number> {
  const documents = rows.map(termsOf).filter((terms) => terms.length > 0);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const wanted = [...new Set(words.flatMap((word) => english.terms(word)))];
  const idfs = wanted.map((term) => idf(documents.length, documents.filter((terms) => terms.includes(term)).length));
  return new Map(
    rows.map((row) => {
      const terms = termsOf(row);
      const parts = wanted.map((term, place) => {
        const occurrences = terms.filter((other) => other === term).length;
        return weight(idfs[place]!, occurrences, terms.length, average);
      });
      return [row, parts.reduce((sum, part) => sum + part, 0)];
    }),
  );
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

function naive(rows: readonly PlainRow[], wish: Wish, size: number): NaiveEdge[] {
  const scores = bm25(rows, wish.words);
  const allowed = rows
    .filter(({ event_ts }) => event_ts >= (wish.startTs ?? -Infinity))
    .filter((row) => wish.weightAbove === undefined || (row.weight as number) > wish.weightAbove)
    .sort(byKey);
  const qualified = allowed.filter(
    ({ members }) => wish.nodes.length === 0 || wish.nodes.some((node) => members.includes(node)),
  );
  const edges = new Map<PlainRow, NaiveEdge>();
  const add = (row: PlainRow) => {
    const nodes = wish.nodes.filter((node) => row.members.includes(node)).length / Math.max(1, wish.nodes.length);
    const edge = edges.get(row) ?? { row, words: scores.get(row)!, context: 0, nodes, score: 0 };
    edges.set(row, edge);
    return edge;
  };
  const hits = qualified
    .filter((row) => scores.get(row)! > 0)
    .sort((a, b) => scores.get(b)! - scores.get(a)! || b.event_ts - a.event_ts || a.id - b.id);
  for (const row of hits) add(row);
  if (wish.nodes.length > 0 || wish.startTs !== undefined || wish.weightAbove !== undefined)
    for (const row of qualified) add(row);
  for (const hit of hits.slice(0, CONTEXT_HITS))
    for (const { row, distance } of neighboursOf(hit, allowed))
      add(row).context += scores.get(hit)! * CONTEXT_SHARES[distance - 1]!;
  const found = [...edges.values()].filter(({ nodes }) => wish.nodes.length === 0 || nodes > 0);
  for (const edge of found) edge.context += edge.words;
  const lists: [number, (edge: NaiveEdge) => number][] = [
    [LIST_WEIGHTS.words, ({ words }) => words],
    [LIST_WEIGHTS.context, ({ context }) => context],
    [LIST_WEIGHTS.recency, ({ row }) => row.event_ts],
  ];
  if (wish.nodes.length > 0) lists.push([LIST_WEIGHTS.nodes, ({ nodes }) => nodes]);
  const most = lists.reduce((sum, [share]) => sum + share / (RANK_CONSTANT + 1), 0);
  for (const edge of found) {
    for (const [share, of] of lists) {
      if (of(edge) <= 0) continue;
      const rank = 1 + found.filter((other) => of(other) > of(edge)).length;
      edge.score += share / (RANK_CONSTANT + rank) / most;
    }
  }
  return found
    .sort((a, b) => b.score - a.score || b.row.event_ts - a.row.event_ts || a.row.id - b.row.id)
    .slice(0, size);
}

function randomWish(random: Random, seconds: number): Wish {
  const words = WORDS.filter(() => random.chance(0.3));
  return {
    words: words.length === 0 ? [pick(random, WORDS)] : words,
    nodes: Array.from({ length: random.chance(0.5) ? 0 : 1 + random.below(3) }, () => random.below(NODES)).filter(
      (node, place, all) => all.indexOf(node) === place,
    ),
    startTs: random.chance(0.3) ? FIRST_TS + random.below(seconds) : undefined,
    weightAbove: random.chance(0.2) ? random.below(3) : undefined,
  };
}

function textOf({ words, nodes, startTs, weightAbove }: Wish): string {
  return [
    words.join(' '),
    nodes.length === 0 ? '' : `nodes ${nodes.join(', ')}`,
    weightAbove === undefined ? '' : `and weight > ${weightAbove}`,
    startTs === undefined ? '' : `since ${startTs}`,
  ].join(' ');
}

function expectSame(table: Table, wish: Wish, topK: number, state: string): void {
  const rows = rowsOf(table) as unknown as PlainRow[];
  const text = textOf(wish);
  const found = retrieved(table, text, { topK });
  const wanted = naive(rows, wish, topK);
  const hasWords = rows.some((row) => wish.words.some((word) => termsOf(row).includes(english.terms(word)[0]!)));
  // Without any of the words, and without anything else, the question abstains.
  if (!hasWords && wish.nodes.length === 0 && wish.startTs === undefined && wish.weightAbove === undefined) return;
  const what = `${state}, top ${topK} of ${rows.length}: ${text}`;
  const shown = (edges: readonly { id: number; score: number }[]) =>
    edges.map(({ id, score }) => `${id} ${score.toFixed(9)}`);
  expect(shown(found.edges.map(({ edge_id, score }) => ({ id: edge_id, score }))), what).toEqual(
    shown(wanted.map(({ row, score }) => ({ id: row.id, score }))),
  );
  for (const [place, { why }] of found.edges.entries()) {
    const { words, nodes } = wanted[place]!;
    expect(why.some((part) => part.startsWith('words: '))).toBe(words > 0);
    expect(why.some((part) => part.startsWith('nodes: '))).toBe(nodes > 0);
    expect(why.includes('time')).toBe(wish.startTs !== undefined);
  }
}

async function compare(seed: number, count: number): Promise<void> {
  const random = new Random(seed);
  const disk = simDisk(seed);
  const options = { core: 'release', segmentRows: 16 } as const;
  let database: Database = await openSim(disk, options);
  await database.createTable({
    name: 'Trips',
    columns: [
      { name: 'title', type: 'TEXT' },
      { name: 'body', type: 'TEXT' },
    ],
  });
  await database.textIndexes.create('Trips', { columns: ['title', 'body'], language: 'english' });
  const seconds = 3 * count;
  const text = () =>
    random.chance(0.2) ? null : Array.from({ length: random.below(6) }, () => pick(random, WORDS)).join(' ');
  const edges = (number: number) =>
    Array.from({ length: number }, () => ({
      event_ts: FIRST_TS + random.below(seconds),
      members: Array.from({ length: 1 + random.below(3) }, () => random.below(NODES)),
      properties: { title: text(), body: text(), weight: random.below(4) },
    }));
  const table = () => database.table('Trips');
  const visit = (state: string) => {
    for (let i = 0; i < QUESTIONS; i++)
      expectSame(table(), randomWish(random, seconds), pick(random, [1, 5, 40, 500]), `seed ${seed}, ${state}`);
    expect(table().openSnapshots).toBe(0);
  };
  await insert(table(), edges(count));
  visit('in the log');
  await database.compact();
  visit('compacted');
  const some = edges(Math.ceil(count / 3));
  await insert(table(), some);
  for (const { event_ts, members } of some.slice(0, 5)) await table().delete(event_ts, members);
  visit('half and half');
  await database.close();
  database = await openSim(disk, options);
  visit('opened again');
  await database.close();
}

describe('retrieval from a table with a text index', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))('fuses as a naive evaluator does, seed %i', (seed) =>
    compare(seed, 4 + seed * 7),
  );
});
