// Measures how long the event loop is blocked: by `/health` on a large table (`health`), or by
// creating and opening many tables, gathering their figures, and a few writes (`tables`).
//
// npx tsx bench/stalls.ts health [edges] [nodes]
// npx tsx bench/stalls.ts tables [tables] [rows]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../src/engine/index.ts';

const TIMES = 20;
const BATCH = 50_000;

/**
 * Returns the longest time between two event loop turns while `work` runs, and the time of `work`.
 */
async function stallOf(work: () => Promise<unknown>): Promise<{ longestMs: number; elapsedMs: number }> {
  let longestMs = 0;
  let last = performance.now();
  let running = true;
  const turn = (): void => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (running) setImmediate(turn);
  };
  const began = last;
  setImmediate(turn);
  await work();
  const elapsedMs = performance.now() - began;
  await new Promise((resolve) => setImmediate(resolve));
  running = false;
  return { longestMs, elapsedMs };
}

async function show(name: string, work: () => Promise<unknown>): Promise<void> {
  const { longestMs, elapsedMs } = await stallOf(work);
  process.stdout.write(
    `${name.padEnd(40)} longest stall ${longestMs.toFixed(1)} ms, took ${elapsedMs.toFixed(0)} ms\n`,
  );
}

async function healthOfLargeTable(database: Database, edges: number, nodes: number): Promise<void> {
  const table = database.table();
  for (let from = 0; from < edges; from += BATCH) {
    const bulk = table.bulk();
    for (let row = from; row < Math.min(edges, from + BATCH); row++) {
      // Multiplying by a prime visits every node, in scattered order.
      bulk.add({ event_ts: row, members: [(row * 7919) % nodes, ((row + 17) * 104_729) % nodes] });
    }
    await bulk.commit();
  }
  await database.compact({});
  for (let time = 1; time <= TIMES; time++) {
    await show(`/health ${time}`, async () => {
      const { node_count, node_count_exact } = await database.statistics.gatherHealth(100);
      process.stdout.write(`${node_count}${node_count_exact ? '' : ' or more'}: `);
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (time % 5 === 0) await table.insert({ event_ts: time, members: [nodes + time] });
  }
}

async function listsOfManyTables(dir: string, count: number, rows: number): Promise<void> {
  let database = await openDatabase({ dir });
  await show(`create ${count} tables`, async () => {
    for (let from = 0; from < count; from += 1000) {
      const names = Array.from({ length: Math.min(1000, count - from) }, (_, index) => `t${from + index}`);
      await Promise.all(names.map((name) => database.createTable({ name })));
    }
  });
  for (const table of database.tables()) {
    for (let row = 0; row < rows; row++) await table.insert({ event_ts: row, members: [row, 5] });
  }
  await show('close', () => database.close());
  await show('open', async () => {
    database = await openDatabase({ dir });
  });
  for (const time of [1, 2]) {
    await show(`/health ${time}`, () => database.statistics.gatherHealth(100));
    await show(`/metrics ${time}`, () => database.statistics.gatherFigures());
    await show(`/v1/wal ${time}`, () => database.statistics.gatherWal());
    await show(`insert ${time}`, () => database.table().insert({ event_ts: time, members: [1] }));
    await show(`create table ${time}`, () => database.createTable({ name: `more${time}` }));
  }
  await show('close', () => database.close());
}

const [what = 'health', first, second] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-stalls-'));
try {
  if (what === 'tables') await listsOfManyTables(dir, Number(first ?? 50_000), Number(second ?? 1));
  else {
    const database = await openDatabase({ dir, durability: 'async' });
    await healthOfLargeTable(database, Number(first ?? 3_300_000), Number(second ?? 2_000_000));
    await database.close();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
