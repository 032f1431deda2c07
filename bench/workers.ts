// Measures a service with workers beside the same service without: reads, memory, reads right after
// writes, and how late small requests are while heavy work runs.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { percentile } from './deadlines-watch.ts';
import {
  cpuMsOf,
  hasWrk,
  type Kind,
  MAIN,
  type Measured,
  measurer,
  medianMeasured,
  OPEN_SETTINGS,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const ROUNDS = 7;
const PAIRS = 100_000;
const WRITERS = 16;
/** Connections of the clients that write and then read. */
const CONNECTIONS = 32;
const HEAVY = 14;
const BUSY = fileURLToPath(new URL('workers-busy.mjs', import.meta.url));
const BUSY_MS = 20_000;

interface Crew {
  readonly workers: number;
  readonly server: Server;
  /** Process ids of the leader and its workers. */
  readonly pids: readonly number[];
}

export async function runWorkers(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  if (!tiny && !hasWrk()) {
    note('workers: left out, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = requestKinds(dataset.edges, tiny);
  const compacted = await workspace.compacted(dataset.edges);
  dataset.release();
  const rows: BenchRow[] = [];
  const counts = tiny ? [0, 1] : [0, 1, 2, 4];
  const crews: Crew[] = [];
  try {
    for (const workers of counts) crews.push(await startCrew(workspace.copy(compacted), workers));
    for (const kind of kinds) rows.push(...(await compared(options, kind, crews)));
    for (const crew of crews) rows.push(memoryRow(crew, crews[0]!));
  } finally {
    for (const { server } of crews) await server.stop();
  }
  const workers = tiny ? 1 : 2;
  const crew = await startCrew(workspace.copy(compacted), workers);
  try {
    rows.push(...(await pairsOf(crew, tiny ? 20 : PAIRS)));
    rows.push(...(await besideHeavyWork(crew, tiny ? 200 : BUSY_MS, note)));
  } finally {
    await crew.server.stop();
  }
  note(`workers: ${availableParallelism()} cores for the service and its clients together`);
  return rows;
}

async function startCrew(dir: string, workers: number): Promise<Crew> {
  const settings = { ...OPEN_SETTINGS, HEDGEROW_WORKERS: String(workers) };
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0'], { settings });
  await untilReady(server);
  const health = (await (await fetch(`${server.url}/health`)).json()) as { workers: { pid: number }[] };
  return { workers, server, pids: [server.pid, ...health.workers.map(({ pid }) => pid)] };
}

/** Compares the rate and the CPU time of requests, in alternating rounds. */
async function compared({ tiny, workspace }: PartOptions, kind: Kind, crews: readonly Crew[]): Promise<BenchRow[]> {
  const loads = crews.map(({ server }) => measurer(server, kind, workspace, tiny));
  const found: Measured[][] = crews.map(() => []);
  for (let round = tiny ? 0 : -1; round < (tiny ? 1 : ROUNDS); round++) {
    for (const [place, { pids }] of crews.entries()) {
      const before = cpuMsOfAll(pids);
      const start = performance.now();
      const measured = await loads[place]!();
      const seconds = (performance.now() - start) / 1000;
      const allUs = ((cpuMsOfAll(pids) - before) * 1000) / (measured.rate * seconds);
      const cpuUs = tiny ? measured.cpuUs : allUs;
      if (round >= 0) found[place]!.push({ ...measured, cpuUs });
    }
  }
  const [alone, ...others] = found.map(medianMeasured);
  return others.flatMap((figures, place) => {
    const name = `${kind.name}, --workers ${crews[place + 1]!.workers}, beside 0`;
    const isRead = kind.method === 'GET';
    return [
      benchRow({ name, unit: 'requests/s', ours: figures.rate, peer: alone!.rate }),
      benchRow({
        name: '  CPU time of a request, all processes',
        unit: 'us',
        ours: figures.cpuUs,
        peer: alone!.cpuUs,
        ...(isRead ? { target: { ratioAtMost: 1.2 } } : {}),
      }),
    ];
  });
}

function memoryRow({ workers, pids }: Crew, alone: Crew): BenchRow {
  return benchRow({
    name: `memory with --workers ${workers}`,
    unit: 'MB',
    ours: residentMb(pids),
    peer: residentMb(alone.pids),
  });
}

function cpuMsOfAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
}

/** Returns the memory of processes in MB; pages that they share count in part for each of them. */
function residentMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, kb] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))!;
    return sum + Number(kb) / 1024;
  }, 0);
}

/** Writes an edge and reads it over another connection, again and again. */
async function pairsOf({ server, workers }: Crew, pairs: number): Promise<BenchRow[]> {
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let turn = 0;
  let seen = 0;
  const start = performance.now();
  const write = async (writer: number) => {
    for (let n = writer; n < pairs; n += WRITERS) {
      const node = 2 ** 31 + n;
      const agent = () => agents[(turn++ * 7) % CONNECTIONS]!;
      await sent(server, agent(), 'POST', '/v1/hyperedges', JSON.stringify({ event_ts: n, members: [node] }));
      const answer = await sent(server, agent(), 'GET', `/v1/hyperedges/node/${node}`);
      if ((JSON.parse(answer) as { num_tuples: number }).num_tuples === 1) seen++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  const seconds = (performance.now() - start) / 1000;
  for (const agent of agents) agent.destroy();
  const what = `${pairs} writes, each read over another connection, --workers ${workers}`;
  return [
    benchRow({ name: `${what}: seen`, unit: 'pairs', ours: seen, target: { oursAtLeast: pairs } }),
    benchRow({ name: '  rate', unit: 'pairs/s', ours: pairs / seconds }),
  ];
}

function sent({ url }: Server, agent: Agent, method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request(`${url}${path}`, { method, agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.once('end', () => {
        if (answer.statusCode! < 300) resolve(text);
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
      });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

/** Times `/health/live` and single inserts while heavy statements, measures and exports run. */
async function besideHeavyWork({ server, workers }: Crew, ms: number, note: PartOptions['note']): Promise<BenchRow[]> {
  // In a process of its own: the answers keep one busy.
  const busy = spawn(process.execPath, [BUSY, server.url, String(HEAVY)], { stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  busy.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = new Promise<number | null>((resolve) => busy.once('exit', resolve));
  await new Promise((resolve) => setTimeout(resolve, ms / 10));
  // Connections of their own, so that each worker is asked.
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const lives: number[] = [];
  const inserts: number[] = [];
  const end = performance.now() + ms;
  for (let n = 0; performance.now() < end; n++) {
    const agent = agents[n % agents.length]!;
    lives.push(await timed(() => sent(server, agent, 'GET', '/health/live')));
    const body = JSON.stringify({ event_ts: n, members: [n, 7] });
    inserts.push(await timed(() => sent(server, agent, 'POST', '/v1/hyperedges', body)));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  busy.stdin.end();
  if ((await ended) !== 0) throw new Error('the heavy work has failed');
  for (const agent of agents) agent.destroy();
  note(`workers: beside it ran ${printed.trim()} in ${ms / 1000} s`);
  const beside = `beside ${HEAVY} heavy statements, measures and exports, --workers ${workers}`;
  return [
    benchRow({
      name: `/health/live ${beside}: p99`,
      unit: 'ms',
      ours: percentile(lives, 0.99),
      target: { oursAtMost: 20 },
    }),
    benchRow({ name: '  single insert: p99', unit: 'ms', ours: percentile(inserts, 0.99), target: { oursAtMost: 20 } }),
    benchRow({ name: '  single insert: p50', unit: 'ms', ours: percentile(inserts, 0.5) }),
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
