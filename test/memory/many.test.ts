// Many memories in one run, on a real disk, with recalls in between: each finds the memory whose
// word it asks for, and nothing that was superseded. HEDGEROW_REMEMBERED is how many.
// Prints how long it took.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { type Database, openDatabase, verifyDirectory } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { nodeFs } from '../../src/storage/index.ts';
import { Random } from '../support/random.ts';

const REMEMBERED = Number(process.env.HEDGEROW_REMEMBERED ?? 100_000);
/** Memories that are sent at once, and how many of these rounds lie between two recalls. */
const AT_ONCE = 100;
const ROUNDS_PER_RECALL = 5;
const NOW = 1_700_000_000;
const TOPICS = ['budget', 'deadline', 'office', 'menu', 'password policy', 'holiday', 'release'];
const WORDS = 'agreed decided moved prefers likes plans meets writes reads builds sells buys calls'.split(' ');

let dir: string;
let database: Database;
let memory: Memory;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-many-'));
  await open();
});
afterAll(async () => {
  await database.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(): Promise<void> {
  database = await openDatabase({ dir, memoryBudgetMb: 64 });
  memory = new Memory({ database, now: () => NOW * 1000 });
}

const drive: Parameters<Memory['supersede']>[1] = (steps) => database.scheduler.drive('reasoning', steps);

/** A word that only the memory with this number has. */
const wordOf = (n: number) => `code${n.toString(36)}x`;

const random = new Random(1);
const anyOf = <T>(all: readonly T[]) => all[random.below(all.length)]!;

function sentence(n: number): string {
  const words = Array.from({ length: 4 + random.below(12) }, () => anyOf(WORDS));
  return `About the ${anyOf(TOPICS)}: ${words.join(' ')} ${wordOf(n)}.`;
}

const person = () => `person ${random.below(500)}`;

async function remember(n: number): Promise<void> {
  const given = { what: sentence(n), who: [person()], about: [anyOf(TOPICS), person()], when: NOW - REMEMBERED + n };
  await memory.remember(given);
}

interface Figures {
  rememberedMs: number;
  recalledMs: number[];
}

/** Returns the median and the 95th percentile of the recalls. */
function spread({ recalledMs }: Figures): string {
  const sorted = recalledMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1);
  return `${at(0.5)} ms (95 %: ${at(0.95)} ms)`;
}

/** Asks for the word of a memory; its id is found only at times at which it holds. */
async function expectRecalled(n: number, ended: ReadonlySet<number>, figures: Figures): Promise<void> {
  const question = `What was agreed about ${wordOf(n)}?`;
  const startedMs = performance.now();
  const { memories } = await drive(memory.recall({ question, topK: 10 }));
  figures.recalledMs.push(performance.now() - startedMs);
  const isFound = memories[0]?.what?.includes(wordOf(n)) === true;
  expect(isFound, question).toBe(!ended.has(n));
  for (const { what } of memories) {
    const word = /code(\w+)x/.exec(what ?? '')?.[1];
    if (word !== undefined) expect(ended.has(Number.parseInt(word, 36)), what!).toBe(false);
  }
  if (!ended.has(n)) return;
  const at = NOW - REMEMBERED + n;
  const then = await drive(memory.recall({ question, topK: 10, at }));
  expect(then.memories[0]!.what).toContain(wordOf(n));
}

/** Replaces a memory, whose sentence its successor does not have. */
async function supersede(n: number, ended: Set<number>): Promise<void> {
  const { memories } = await drive(memory.recall({ question: wordOf(n), topK: 1 }));
  await memory.supersede({ id: memories[0]!.id, what: `Something else ${anyOf(TOPICS)}.` }, drive);
  ended.add(n);
}

test(`${REMEMBERED} memories in one run, with recalls in between`, async () => {
  const figures: Figures = { rememberedMs: 0, recalledMs: [] };
  const ended = new Set<number>();
  for (let n = 0, round = 0; n < REMEMBERED; n += AT_ONCE, round++) {
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, REMEMBERED - n) }, (_, place) => remember(n + place)));
    figures.rememberedMs += performance.now() - startedMs;
    if (round % ROUNDS_PER_RECALL !== 0) continue;
    const known = n + AT_ONCE;
    await expectRecalled(random.below(known), ended, figures);
    const chosen = random.below(known);
    if (!ended.has(chosen)) await supersede(chosen, ended);
    await expectRecalled(chosen, ended, figures);
  }
  const rate = Math.round(REMEMBERED / (figures.rememberedMs / 1000));
  console.log(`${REMEMBERED} memories: ${rate}/s, ${AT_ONCE} at once; recall ${spread(figures)} in between`);
  expect(database.table('memories').rowCount).toBe(REMEMBERED + ended.size);
  await database.close();
  await open();
  await database.compact({});
  const recalled: Figures = { rememberedMs: 0, recalledMs: [] };
  for (const n of [...ended].slice(0, 20)) await expectRecalled(n, ended, recalled);
  console.log(`recall ${spread(recalled)} when all are compacted`);
  await database.close();
  const core = loadCore('release');
  const tools = { fs: nodeFs, core, crc32c: makeChecksum(core.instantiate()) };
  expect((await verifyDirectory(tools, dir, async () => {})).problems).toEqual([]);
  await open();
}, 3_000_000);
