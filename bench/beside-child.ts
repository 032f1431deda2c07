// One side of `beside.ts`: runs rounds of work with the built engine of one checkout, on request.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drawCoMembers, drawNodes, drawPairs, drawWindows, type Edge, loadDataset } from './dataset.ts';
import { sink } from './measure.ts';

type Engine = typeof import('hedgerow');
type Database = Awaited<ReturnType<Engine['openDatabase']>>;

/** Edges loaded in one round, and edges of the table that is read. */
const LOADED = 200_000;
const BATCH_EDGES = 10_000;
const PARALLEL = 64;

/**
 * The work of one round. The round number varies the queries from round to round, identically on
 * both sides.
 */
export type Task = (round: number) => Promise<void> | void;

const [checkout = '', scratch = ''] = process.argv.slice(2);
const { openDatabase } = (await import(pathToFileURL(join(checkout, 'dist/index.js')).href)) as Engine;
mkdirSync(scratch, { recursive: true });
const edges = loadDataset({ tiny: false, scratch }).edges;
const read = join(scratch, 'read');
const loaded = await load(read, edges);
const written = await openDatabase({ dir: join(scratch, 'written') });
const tasks = { ...loading(), ...reading(loaded), ...writing(written) };

process.on('message', async ({ name, round }: { name: string; round: number }) => {
  if (name === 'names') return void process.send!(Object.keys(tasks));
  const cpu = process.cpuUsage();
  const start = performance.now();
  await (tasks as Record<string, Task>)[name]!(round);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  process.send!({ ms, cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => void Promise.all([loaded.close(), written.close()]).then(() => process.exit()));
process.send!('ready');

async function load(dir: string, from: readonly Edge[]): Promise<Database> {
  const database = await openDatabase({ dir });
  const table = database.table();
  for (let start = 0; start < from.length; start += BATCH_EDGES) {
    const bulk = table.bulk();
    for (const edge of from.slice(start, start + BATCH_EDGES)) bulk.add(edge);
    await bulk.commit();
  }
  await database.compact();
  return database;
}

function loading(): Record<string, Task> {
  const some = edges.slice(0, LOADED);
  const dir = join(scratch, 'load');
  return {
    [`load: ${LOADED} edges in batches, compact, close`]: async () => {
      await (await load(dir, some)).close();
      rmSync(dir, { recursive: true });
    },
  };
}

function writing(database: Database): Record<string, Task> {
  let time = 1_700_000_000;
  const insert = async () => {
    await database.table().insert({ event_ts: time++, members: [1, time % 1000, time % 777] });
  };
  return {
    [`load: single inserts, ${PARALLEL} at once`]: async () => {
      for (let group = 0; group < 100; group++) await Promise.all(Array.from({ length: PARALLEL }, insert));
    },
    'load: single inserts, one after the other': async () => {
      for (let one = 0; one < 300; one++) await insert();
    },
  };
}

function reading(database: Database): Record<string, Task> {
  type Request = Omit<Parameters<ReturnType<Database['table']>['scan']>[0], 'format'>;
  const table = database.table();
  const scan = (request: Request) => {
    const cursor = table.scan({ ...request, format: 'json' });
    for (let slice = cursor.next(); slice !== null; slice = cursor.next()) sink(slice.length);
  };
  const some = (requests: readonly Request[], share: number) => (round: number) => {
    const count = Math.ceil(requests.length / share);
    for (let i = 0; i < count; i++) scan(requests[(round * count + i) % requests.length]!);
  };
  return {
    'reads: windows of 0.1 %': some(drawWindows(edges, 500, 0.001, 11), 10),
    'reads: lookups of nodes': some(
      drawNodes(edges, 1000, 12).map((node) => ({ nodes: [node] })),
      20,
    ),
    'reads: pairs from random edges': some(
      drawCoMembers(edges, 5000, 13).map((nodes) => ({ nodes })),
      1,
    ),
    'reads: pairs by degree': some(
      drawPairs(edges, 5000, 14).map((nodes) => ({ nodes })),
      2,
    ),
  };
}
