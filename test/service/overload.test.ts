import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, type ChildServer, startChild } from './child.ts';
import { send } from './valid-requests.ts';

const LOAD = fileURLToPath(new URL('overload-load.mjs', import.meta.url));
/**
 * HEDGEROW_OVERLOAD_SECONDS=60 runs the long form. Without it, the test takes a few seconds and
 * uses fewer connections.
 */
const LONG_SECONDS = Number(process.env.HEDGEROW_OVERLOAD_SECONDS ?? 0);
const IS_LONG = LONG_SECONDS > 0;
const SECONDS = IS_LONG ? LONG_SECONDS : 2;
const CONNECTIONS = IS_LONG ? 2000 : 1000;
const SILENT = IS_LONG ? 200 : 40;
const EDGES = 50_000;
const FIRST_TIME = 1_000_000;
/** Upper limit of the resident size, in MB. */
const MOST_MEGABYTES = 1024;
const TIMES_CAPACITY = 10;

interface LoadResult {
  offered: number;
  /** Requests that were not sent, because all connections were waiting. */
  held: number;
  statuses: Record<string, number>;
  /** Wrong answers. */
  wrong: string[];
  /** Requests whose connection ended before an answer. */
  cut: number;
  /** The `event_ts` of each edge whose insert was answered with 201. */
  acknowledged: number[];
  /** The `event_ts` of each edge whose insert was answered with another status. */
  refused: number[];
  attempted: number;
  /** How often a client that never reads was cut off. */
  silentCut: number;
}

const asAdmin = { 'x-api-key': ADMIN_KEY };
const environment = { HEDGEROW_MEMORY_BUDGET_MB: '64', HEDGEROW_LOG_LEVEL: 'error' };
let dir: string;
let server: ChildServer;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-overload-'));
  server = await startChild({ dir, environment });
  await send(server.url, { method: 'POST', path: '/v1/tables', body: { name: 'fixed' }, headers: asAdmin });
  let body = '';
  for (let i = 0; i < EDGES; i++) body += `{"event_ts":${i},"members":[${i % 1000},${10_000 + i}]}\n`;
  const headers = { ...asAdmin, 'content-type': 'application/x-ndjson' };
  const loaded = await send(server.url, { method: 'POST', path: '/v1/hyperedges?table=fixed', body, headers });
  expect(loaded.status).toBe(201);
});
afterAll(async () => {
  await server.stop('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function load(given: {
  connections: number;
  silent: number;
  rate: number;
  seconds: number;
  firstTime: number;
}): Promise<LoadResult> {
  const graceMs = IS_LONG ? 5000 : 2000;
  const settings = JSON.stringify({ port: server.port, key: ADMIN_KEY, edges: EDGES, graceMs, ...given });
  const child = spawn(process.execPath, [LOAD, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(0);
  return JSON.parse(out) as LoadResult;
}

/** Returns the peak resident size so far. */
function peakMegabytes(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
}

/**
 * Requests `/health/live` repeatedly until `isOver` returns true. Returns the latencies in ms, in
 * ascending order.
 */
async function probe(isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const start = performance.now();
    const answer = await send(server.url, { method: 'GET', path: '/health/live' });
    expect([answer.status, answer.text]).toEqual([200, '{"status":"live"}']);
    times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return times.sort((a, b) => a - b);
}

// Runs only on Linux, because sizes and connections of other processes are read from /proc.
test.runIf(process.platform === 'linux')(
  'at ten times its capacity, the service answers correctly or with 429 or 503, and loses no acknowledged write',
  {
    timeout: (SECONDS + 60) * 1000,
  },
  async () => {
    const measured = await load({
      connections: 16,
      silent: 0,
      rate: 1e6,
      seconds: IS_LONG ? 5 : 1,
      firstTime: FIRST_TIME,
    });
    const served = measured.offered - measured.held;
    const capacity = served / (IS_LONG ? 5 : 1);
    let isOver = false;
    const probing = probe(() => isOver);
    const firstTime = FIRST_TIME + measured.attempted;
    const rate = capacity * TIMES_CAPACITY;
    const loaded = await load({ connections: CONNECTIONS, silent: SILENT, rate, seconds: SECONDS, firstTime });
    isOver = true;
    const live = await probing;
    const peak = peakMegabytes();
    const at = (share: number) => live[Math.floor((live.length - 1) * share)]!.toFixed(1);
    console.log(
      [
        `overload: ${SECONDS} s, ${CONNECTIONS} connections, ${SILENT} that never read`,
        `served alone ${capacity.toFixed(0)}/s; offered ${loaded.offered}, held back ${loaded.held}, cut ${loaded.cut}`,
        `statuses ${JSON.stringify(loaded.statuses)}, silent clients cut ${loaded.silentCut} times`,
        `/health/live: ${live.length} probes, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
        `peak resident size ${peak.toFixed(0)} MB`,
      ].join('\n'),
    );
    expect(server.ended).toBeUndefined();
    expect([...measured.wrong, ...loaded.wrong]).toEqual([]);
    expect(Object.keys(loaded.statuses).filter((status) => !['200', '201', '429', '503'].includes(status))).toEqual([]);
    expect(loaded.acknowledged.length).toBeGreaterThan(0);
    expect(loaded.offered).toBeGreaterThan(served / 2);
    expect(peak).toBeLessThan(MOST_MEGABYTES);
    await expectStored([measured, loaded]);
    // The service is killed so that it cannot write anything during shutdown.
    await server.stop('SIGKILL');
    server = await startChild({ dir, environment });
    await expectStored([measured, loaded]);
  },
);

/** Checks that every acknowledged edge is stored and that no refused edge is. */
async function expectStored(results: readonly LoadResult[]): Promise<void> {
  const attempted = results.reduce((sum, result) => sum + result.attempted, 0);
  const path = `/v1/hyperedges?start_ts=${FIRST_TIME}&end_ts=${FIRST_TIME + attempted}`;
  const { status, json } = await send(server.url, { method: 'GET', path, headers: asAdmin });
  expect(status).toBe(200);
  const times = (json.hyperedges as { event_ts: number }[]).map((edge) => edge.event_ts);
  const stored = new Set(times);
  // Each edge was sent once.
  expect(stored.size).toBe(times.length);
  for (const { acknowledged, refused } of results) {
    expect(acknowledged.filter((time) => !stored.has(time))).toEqual([]);
    expect(refused.filter((time) => stored.has(time))).toEqual([]);
  }
}
