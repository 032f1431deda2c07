// One side of `beside.ts`: on request, runs a task some times with the built engine and statement
// layer of one checkout.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drawCoMembers, drawNodes, drawPairs, drawWindows, type Edge, loadDataset } from './dataset.ts';
import { sink } from './measure.ts';

type Engine = typeof import('hedgerow');
type Database = Awaited<ReturnType<Engine['openDatabase']>>;

/** Number of edges that the first load task loads. */
const LOADED = 200_000;
const BATCH_EDGES = 10_000;
const PARALLEL = 64;

/**
 * Work that is measured. The number of the run varies the queries from run to run, identically on
 * both sides.
 */
export type Task = (run: number) => Promise<void> | void;

const [checkout = '', scratch = ''] = process.argv.slice(2);
const { openDatabase } = await built<Engine>('dist/index.js');
const { Statements } = await built<typeof import('../dist/query/statements.js')>('dist/query/statements.js');
const { nodeFs } = await built<typeof import('../dist/storage/node-fs.js')>('dist/storage/node-fs.js');
mkdirSync(scratch, { recursive: true });
const edges = loadDataset({ tiny: false, scratch }).edges;
const read = join(scratch, 'read');
const loaded = await load(read, edges);
const written = await openDatabase({ dir: join(scratch, 'written') });
const tasks = { ...loading(), ...reading(loaded), ...asking(loaded), ...writing(written) };

process.on('message', async ({ name, round, runs }: { name: string; round: number; runs: number }) => {
  if (name === 'names') return void process.send!(Object.keys(tasks));
  const task = (tasks as Record<string, Task>)[name]!;
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let run = 0; run < runs; run++) await task(round + run);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  process.send!({ ms: ms / runs, cpuMs: (user + system) / 1000 / runs });
});
process.on('disconnect', () => void Promise.all([loaded.close(), written.close()]).then(() => process.exit()));
process.send!('ready');

async function built<T>(path: string): Promise<T> {
  return (await import(pathToFileURL(join(checkout, path)).href)) as T;
}

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
  const some = (requests: readonly Request[], share: number) => (run: number) => {
    const count = Math.ceil(requests.length / share);
    for (let i = 0; i < count; i++) scan(requests[(run * count + i) % requests.length]!);
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

type Values = Readonly<Record<string, number>>;

/** Returns tasks that run statements, from text and parameters to rows. */
function asking(database: Database): Record<string, Task> {
  const statements = new Statements({
    database,
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    newId: () => 'bench',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
  const runAll = async (step: () => boolean) => {
    while (step());
  };
  const ask = async (text: string, parameters: Values) => {
    const { steps } = await statements.execute(statements.prepare(text), {
      parameters,
      session: 'bench',
      slices: runAll,
    });
    for (const chunk of steps) sink(chunk === null ? 0 : chunk.count);
  };
  const some = (text: string, values: readonly Values[], share: number) => async (run: number) => {
    const count = Math.ceil(values.length / share);
    for (let i = 0; i < count; i++) await ask(text, values[(run * count + i) % values.length]!);
  };
  const windows = (share: number, seed: number) =>
    drawWindows(edges, 200, share, seed).map(({ startTs, endTs }) => ({ a: startTs, b: endTs }));
  const range = 'MATCH (e:hyperedges) WHERE e.event_ts BETWEEN $a AND $b';
  return {
    'statements: edges of a node': some(
      'MATCH (e:hyperedges) WHERE $n IN e.members RETURN e.id, e.event_ts',
      drawNodes(edges, 1000, 15).map((n) => ({ n })),
      20,
    ),
    'statements: rows of 0.1 % of the span': some(`${range} RETURN e.id, e.members`, windows(0.001, 16), 20),
    'statements: counts of 10 % of the span': some(`${range} RETURN count(*)`, windows(0.1, 17), 1),
    'statements: counts by bucket of 10 %': some(`${range} RETURN bucket(e), count(*)`, windows(0.1, 18), 10),
    'statements: pairs that share a member': some(
      'MATCH (p:hyperedges), (q:hyperedges) WHERE p.event_ts BETWEEN $a AND $b AND follows(q, p, 600) AND shared(p, q) >= 1 RETURN p.id, q.id',
      windows(0.001, 19),
      50,
    ),
    'statements: texts that were not seen before': async (run) => {
      for (let i = 0; i < 200; i++) statements.prepare(`${range} AND e.id > ${run * 1000 + i} RETURN e.id, count(*)`);
    },
  };
}
