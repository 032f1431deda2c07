// Compares retrieval from a table with a text index with a naive fusion of all rows, in every state
// of random tables. HEDGEROW_RETRIEVALS is the number of questions per state of a table.

import { describe, expect, it } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import { english, naiveFusion, termsOf } from './naive-fusion.ts';
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
  const { startTs = -Infinity, weightAbove = -Infinity, nodes: asked } = wish;
  const isNamed = asked.length > 0 || wish.startTs !== undefined || wish.weightAbove !== undefined;
  const fusion = {
    words: wish.words,
    nodes: asked,
    allowed: (row: PlainRow) => row.event_ts >= startTs && (row.weight as number) > weightAbove,
    qualified: () => true,
    addsContext: false,
    prefersTelling: false,
    fills: isNamed,
  };
  const wanted = naiveFusion(rows, fusion, topK);
  const isHeld = wish.nodes.some((node) => rows.some(({ members }) => members.includes(node)));
  if (wish.nodes.length > 0 && !isHeld && wish.startTs === undefined && wish.weightAbove === undefined) {
    expect(found.edges).toEqual([]);
    return;
  }
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
