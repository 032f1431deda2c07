// Measures the latency of `/health/live` on a service with many tables: while idle, and during
// `/health`, reads, inserts and compactions of all tables. One compaction applies a TTL.
//
// npm run build && npx tsx bench/live.ts [tables]
//
// The client sends a request every 5 ms even while an answer is overdue, so a stall of 1 s counts
// as 200 late answers, not as one.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../src/engine/index.ts';
import { OPEN_SETTINGS, type Server, startServer } from './http-load.ts';

const EVERY_MS = 5;
const PARALLEL = 50;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const COMPACT = '/v1/hyperedges/compact';

const count = Number(process.argv[2] ?? 50_000);

async function makeTables(dir: string, count: number): Promise<void> {
  const database = await openDatabase({ dir });
  for (let from = 0; from < count; from += 1000) {
    const names = Array.from({ length: Math.min(1000, count - from) }, (_, index) => `t${from + index}`);
    await Promise.all(names.map((name) => database.createTable({ name })));
  }
  await insertEverywhere(count, (name, time) =>
    database.table(name).insert({ event_ts: time, members: [time % 1000, 5000] }),
  );
  await database.close();
}

async function insertEverywhere(
  count: number,
  insert: (name: string, time: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < count; from += PARALLEL) {
    const indices = Array.from({ length: Math.min(PARALLEL, count - from) }, (_, index) => from + index);
    await Promise.all(indices.map((index) => insert(`t${index}`, index)));
  }
}

async function post({ url }: Server, path: string, body: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Prints the latencies of `/health/live` while `work` runs. */
async function show(server: Server, name: string, work: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  const waiting = new Set<Promise<void>>();
  const agent = new Agent({ keepAlive: true });
  const ask = async (): Promise<void> => {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      get(`${server.url}/health/live`, { agent }, (response) => response.resume().once('end', resolve)).once(
        'error',
        reject,
      );
    });
    took.push(performance.now() - began);
  };
  const timer = setInterval(() => {
    const asked = ask().finally(() => waiting.delete(asked));
    waiting.add(asked);
  }, EVERY_MS);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  await Promise.all(waiting);
  agent.destroy();
  took.sort((a, b) => a - b);
  const at = (part: number) => (took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0).toFixed(1);
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  const megabytes = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  process.stdout.write(
    `${name.padEnd(44)} ${seconds.toFixed(1).padStart(7)} s, live p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms (${took.length} asked), RSS ${megabytes} MB\n`,
  );
}

async function startLive(dir: string): Promise<Server> {
  const began = performance.now();
  const settings = { ...OPEN_SETTINGS, HEDGEROW_DATA_DIR: dir };
  const server = await startServer(MAIN, ['serve', '--port', '0'], { settings });
  while ((await fetch(`${server.url}/health/ready`)).status !== 200) await new Promise((go) => setTimeout(go, 20));
  process.stdout.write(`${count} tables, ready after ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  return server;
}

async function showAll(server: Server): Promise<void> {
  const idle = () => new Promise((resolve) => setTimeout(resolve, 3000));
  const read = async (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const response = await fetch(`${server.url}/v1/hyperedges?table=t${index}&start_ts=0&end_ts=100000`);
      const text = await response.text();
      if (!text.includes('5000')) throw new Error(`t${index}: ${text}`);
    }
  };
  await show(server, 'idle', idle);
  await show(server, '/health, 20 times', async () => {
    for (let time = 0; time < 20; time++) await (await fetch(`${server.url}/health`)).arrayBuffer();
  });
  await show(server, 'a compaction of all', () => post(server, COMPACT, {}));
  await show(server, 'a read of each of 5,000 tables', () => read(0, Math.min(5000, count)));
  await show(server, 'an insert into each', () =>
    insertEverywhere(count, (table, time) =>
      post(server, `/v1/hyperedges?table=${table}`, { event_ts: time + 1, members: [7, time % 1000, 5000] }),
    ),
  );
  await show(server, 'a compaction of all with a TTL, /health', async () => {
    let done = false;
    const health = (async () => {
      while (!done) {
        await (await fetch(`${server.url}/health`)).arrayBuffer();
        await new Promise((go) => setTimeout(go, 200));
      }
    })();
    await post(server, COMPACT, { ttl_seconds: 1_000_000_000 }).finally(() => {
      done = true;
    });
    await health;
  });
}

const dir = mkdtempSync(join(tmpdir(), 'hedgerow-live-'));
try {
  await makeTables(dir, count);
  const server = await startLive(dir);
  try {
    await showAll(server);
  } finally {
    await server.stop();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
