// Sends real files through the engine: every answer must equal a brute-force reading of the file,
// with the rows in the log, in segments, and after a restart. The files are not part of this
// repository: they are read from `../shared/data`, or from the folder `data` in `HEDGEROW_SHARED`.
// With `HEDGEROW_FULL_DATA=1`, the larger files are tested too, with more questions about each.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import { Database, InlineRunner, openDatabase, type Table } from '../../src/engine/index.ts';
import type { ScanBounds } from '../../src/engine/types.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Random } from '../support/random.ts';
import { simOptions } from '../support/sim-engine.ts';

const DATA = join(process.env.HEDGEROW_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url)), 'data');
const FULL = process.env.HEDGEROW_FULL_DATA === '1';
const WIDE = 'HJ-congress-bills.WIDE.synthetic-ts';
const SMALL = ['email-Enron', 'contact-primary-school', 'threads-ask-ubuntu'];
const LARGER = 'email-Eu';
const LARGE = 'stackexchange-mix';
const BATCH = 20_000;
const WINDOWS = FULL ? 200 : 60;
const NODES = FULL ? 200 : 60;
const PAIRS = FULL ? 100 : 40;

/** The accepted edges of a file, in file order: edge i has id i + 1. */
interface Edges {
  times: number[];
  members: number[][];
  /** The JSON text of each row, with a newline. It is empty for a deleted edge. */
  lines: string[];
  refusedLines: number[];
}

function fileOf(name: string): string | undefined {
  const path = join(DATA, `${name}.ndjson.gz`);
  if (existsSync(path)) return path;
  console.log(`skipped: ${path} is absent (HEDGEROW_SHARED sets the path of the shared folder)`);
  return undefined;
}

function open(dir: string, large: boolean, maxMembers: number): Promise<Database> {
  if (large) return openDatabase({ dir, memoryBudgetMb: 16, maxMembers });
  const options = simOptions(nodeFs, {
    dir,
    core: 'release',
    maxMembers,
    segmentRows: 10_000,
    memoryBudgetBytes: 2 ** 22,
    logFileBytes: 2 ** 20,
  });
  return Database.open({
    ...options,
    runner: new InlineRunner(nodeFs, loadCore()),
    nowUs: () => performance.now() * 1000,
  });
}

async function load(table: Table, path: string): Promise<Edges> {
  const edges: Edges = { times: [], members: [], lines: [], refusedLines: [] };
  let bulk = table.bulk();
  const text = gunzipSync(readFileSync(path)).toString();
  let number = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const edge = JSON.parse(text.slice(at, end < 0 ? text.length : end)) as { event_ts: number; members: number[] };
    at = end < 0 ? text.length : end + 1;
    number++;
    try {
      bulk.add(edge);
    } catch (error) {
      if ((error as HedgerowError).code !== 'too_many_members') throw error;
      edges.refusedLines.push(number);
      continue;
    }
    edges.times.push(edge.event_ts);
    edges.members.push(edge.members);
    edges.lines.push(
      `{"id":${edges.times.length},"event_ts":${edge.event_ts},"members":[${edge.members.join()}],"weight":null,"mean_dist_m":null,"formation":null}\n`,
    );
    if (bulk.count === BATCH) {
      await bulk.commit();
      bulk = table.bulk();
    }
  }
  if (bulk.count > 0) await bulk.commit();
  return edges;
}

/** Returns the index of the first edge whose time is at least `time`. */
function firstFrom(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Question {
  what: string;
  request: Partial<ScanBounds>;
  answer: string;
}

/**
 * Draws questions about time windows, nodes and pairs of nodes, and answers them from `edges` by
 * brute force.
 */
function questionsOf(edges: Edges, seed: number): Question[] {
  const random = new Random(seed);
  const { times, members, lines } = edges;
  const anyEdge = (): number => random.below(times.length);
  const questions: Question[] = [];
  const span = times.at(-1)! - times[0]!;
  for (let count = 0; count < WINDOWS; count++) {
    const startTs = random.chance(0.5) ? times[anyEdge()]! : times[0]! - 10 + random.below(span + 20);
    const endTs = startTs + Math.floor(span / 10 ** (1 + random.below(7))) - (random.chance(0.05) ? 1 : 0);
    const from = firstFrom(times, startTs);
    const answer = lines.slice(from, Math.max(from, firstFrom(times, endTs + 1))).join('');
    questions.push({ what: `window ${startTs} to ${endTs}`, request: { startTs, endTs }, answer });
  }
  const memberOf = (edge: number): number => members[edge]![random.below(members[edge]!.length)]!;
  const sought: number[][] = [];
  for (let count = 0; count < NODES; count++)
    sought.push([count % 20 === 0 ? random.below(10 ** 7) : memberOf(anyEdge())]);
  for (let count = 0; count < PAIRS; count++) {
    const edge = anyEdge();
    sought.push([memberOf(edge), count % 3 === 0 ? memberOf(anyEdge()) : memberOf(edge)]);
  }
  const wanted = new Map<number, number[]>(sought.flat().map((node) => [node, []]));
  for (const [edge, set] of members.entries()) for (const node of set) wanted.get(node)?.push(edge);
  for (const nodes of sought) {
    const holders = wanted.get(nodes[0]!)!.filter((edge) => members[edge]!.includes(nodes.at(-1)!));
    questions.push({ what: `nodes ${nodes}`, request: { nodes }, answer: holders.map((edge) => lines[edge]).join('') });
    if (questions.length % 4 > 0) continue;
    const startTs = times[anyEdge()]!;
    const within = holders.filter((edge) => times[edge]! >= startTs && times[edge]! <= startTs + span / 4);
    questions.push({
      what: `nodes ${nodes} from ${startTs}`,
      request: { nodes, startTs, endTs: Math.floor(startTs + span / 4) },
      answer: within.map((edge) => lines[edge]).join(''),
    });
  }
  return questions;
}

function textOf(table: Table, request: ScanBounds): string {
  const slices: Uint8Array[] = [];
  const scan = table.scan({ format: 'ndjson', ...request });
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice);
  return Buffer.concat(slices).toString();
}

function checkAll(table: Table, edges: Edges, questions: readonly Question[], when: string): void {
  const scan = table.scan({ format: 'ndjson' });
  let row = 0;
  let rest = '';
  const decoder = new TextDecoder();
  for (let slice = scan.next(); slice !== null; slice = scan.next()) {
    const text = rest + decoder.decode(slice, { stream: true });
    let at = 0;
    for (let end = text.indexOf('\n', at); end >= 0; end = text.indexOf('\n', at)) {
      while (edges.lines[row] === '') row++;
      if (text.slice(at, end + 1) !== edges.lines[row])
        throw new Error(`${when}: row ${row} is ${text.slice(at, end)}, not ${edges.lines[row]}`);
      row++;
      at = end + 1;
    }
    rest = text.slice(at);
  }
  while (edges.lines[row] === '') row++;
  expect(rest).toBe('');
  expect(row, `${when}: rows`).toBe(edges.lines.length);
  for (const { what, request, answer } of questions) {
    if (textOf(table, request) !== answer) throw new Error(`${when}: ${what} is answered wrongly`);
  }
}

async function answersAreRight(name: string, maxMembers = 64): Promise<Edges | undefined> {
  const path = fileOf(name);
  if (path === undefined) return undefined;
  const large = name === LARGE;
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-data-'));
  const figures: Record<string, number> = {};
  const timed = async <T>(what: string, run: () => Promise<T> | T): Promise<T> => {
    const begun = performance.now();
    const result = await run();
    figures[what] = Math.round(performance.now() - begun);
    return result;
  };
  try {
    let database = await open(dir, large, maxMembers);
    const edges = await timed('load', () => load(database.table(), path));
    let questions = questionsOf(edges, 1);
    await timed('check in the log', () => checkAll(database.table(), edges, questions, 'in the log'));
    await timed('compact', () => database.compact({}));
    await timed('check in segments', () => checkAll(database.table(), edges, questions, 'in segments'));
    await deleteSome(database.table(), edges);
    questions = questionsOf(edges, 2);
    await timed('check with deletions', () => checkAll(database.table(), edges, questions, 'with deletions'));
    await timed('close', () => database.close());
    database = await timed('open', () => open(dir, large, maxMembers));
    await timed('check after a restart', () => checkAll(database.table(), edges, questions, 'after a restart'));
    await timed('compact again', () => database.compact({}));
    expect(database.health()).toMatchObject({
      wal_pending: 0,
      total_records: edges.lines.filter((line) => line !== '').length,
    });
    await timed('check after the second compaction', () =>
      checkAll(database.table(), edges, questions, 'after the second compaction'),
    );
    if (large) {
      figures.resident = Math.round(database.health().resident_bytes / 2 ** 20);
      console.log(name, figures);
    }
    await database.close();
    return edges;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/**
 * Draws about 40 edges and deletes all edges with the same time and members, in the table and in
 * `edges`.
 */
async function deleteSome(table: Table, edges: Edges): Promise<void> {
  const random = new Random(7);
  for (let count = 0; count < 40; count++) {
    const drawn = random.below(edges.times.length);
    if (edges.lines[drawn] === '') continue;
    const [eventTs, set] = [edges.times[drawn]!, edges.members[drawn]!];
    let matched = 0;
    for (let edge = firstFrom(edges.times, eventTs); edges.times[edge] === eventTs; edge++) {
      if (edges.lines[edge] === '' || edges.members[edge]!.join() !== set.join()) continue;
      edges.lines[edge] = '';
      matched++;
    }
    expect((await table.delete(eventTs, set)).matched).toBe(matched);
  }
}

describe.skipIf(!existsSync(DATA))("the engine's answers over real data", () => {
  test.each(FULL ? [...SMALL, LARGER] : SMALL)(
    'equal a brute-force reading of %s',
    { timeout: 300_000 },
    async (name) => {
      await answersAreRight(name);
    },
  );

  test(`equal a reading of ${WIDE}, where 1,655 lines exceed 64 members and 21 exceed 255`, {
    timeout: 300_000,
  }, async () => {
    const guarded = await answersAreRight(WIDE, 64);
    if (guarded === undefined) return;
    expect(guarded.refusedLines).toHaveLength(1655);
    expect(guarded.times).toHaveLength(5123 - 1655);
    const open = (await answersAreRight(WIDE, 255))!;
    expect(open.refusedLines).toHaveLength(21);
    expect(guarded.refusedLines).toEqual(expect.arrayContaining(open.refusedLines));
  });

  test.skipIf(!FULL)(`equal a brute-force reading of ${LARGE}`, { timeout: 1_800_000 }, async () => {
    await answersAreRight(LARGE);
  });
});

test.skipIf(existsSync(DATA))(`skipped: ${DATA} is absent`, () => undefined);
