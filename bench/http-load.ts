// Request kinds for the HTTP benches, servers as child processes, and wrk as the load generator.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { randomFrom } from '../test/core/support/random.ts';
import { drawNodes, type Edge } from './dataset.ts';
import { median, type Side } from './measure.ts';
import type { Workspace } from './workspace.ts';

/** The built program. */
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Number of edges in one answer. */
export const ROWS = 10;
/** Number of distinct requests of each kind. */
export const REQUESTS = 1000;
/** Duration of a round. Rounds are short, so that other load affects both sides alike. */
const SECONDS = 1;
const CONNECTIONS = 64;

/** One kind of request: the bodies of a POST, or the paths of a GET. */
export interface Kind {
  name: string;
  method: 'GET' | 'POST';
  /** Path to which bodies are posted; by default that of single inserts. */
  path?: string;
  lines: string[];
}

/** Returns three kinds: a range of ten edges, a node with about ten edges, and a durable insert. */
export function requestKinds(edges: readonly Edge[], tiny: boolean): Kind[] {
  const count = tiny ? 20 : REQUESTS;
  return [
    {
      name: `range of ${ROWS} edges`,
      method: 'GET',
      lines: windowsOf(edges, count),
    },
    {
      name: `node of ${ROWS} edges`,
      method: 'GET',
      lines: nodesOf(edges, count).map((node) => `/v1/hyperedges/node/${node}`),
    },
    {
      name: 'durable single insert',
      method: 'POST',
      lines: newEdges(edges, count).map((edge) => JSON.stringify(edge)),
    },
  ];
}

/** Returns paths of windows that contain exactly `ROWS` edges. */
function windowsOf(edges: readonly Edge[], count: number): string[] {
  const random = randomFrom(41);
  const time = (index: number) => edges[index]!.event_ts;
  const paths: string[] = [];
  while (paths.length < count) {
    const first = 1 + random.below(edges.length - ROWS - 1);
    const behind = first + ROWS;
    if (time(first - 1) === time(first) || time(behind - 1) === time(behind)) continue;
    paths.push(`/v1/hyperedges?start_ts=${time(first)}&end_ts=${time(behind - 1)}`);
  }
  return paths;
}

/** Returns nodes with `ROWS` edges, or with nearly as many if there are too few such nodes. */
export function nodesOf(edges: readonly Edge[], count: number): number[] {
  const degrees = new Map<number, number>();
  for (const { members } of edges) for (const member of members) degrees.set(member, (degrees.get(member) ?? 0) + 1);
  const distance = (degree: number) => Math.abs(degree - ROWS);
  return [...degrees]
    .sort((a, b) => distance(a[1]) - distance(b[1]) || a[0] - b[0])
    .slice(0, count)
    .map(([node]) => node);
}

function newEdges(edges: readonly Edge[], count: number): Edge[] {
  const newest = edges[edges.length - 1]!.event_ts;
  const nodes = drawNodes(edges, count * 2, 42);
  return Array.from({ length: count }, (_, i) => ({
    event_ts: newest + i,
    members: [...new Set([nodes[i * 2]!, nodes[i * 2 + 1]!])].sort((a, b) => a - b),
  }));
}

export interface Server {
  url: string;
  pid: number;
  /** Headers sent with every request to this server. */
  headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Settings that switch off keys, limits and logs. */
export const OPEN_SETTINGS: Readonly<Record<string, string>> = {
  HEDGEROW_AUTH_DISABLED: '1',
  HEDGEROW_RATE_LIMIT_QPM: '0',
  HEDGEROW_LOG_LEVEL: 'error',
};

export interface ServerOptions {
  settings?: Readonly<Record<string, string>>;
  /** File descriptor for log lines; by default our own standard error. */
  log?: number;
  headers?: Readonly<Record<string, string>>;
}

/** Starts a script and waits until it prints its address. */
export async function startServer(
  script: string,
  args: readonly string[],
  { settings = OPEN_SETTINGS, log, headers = {} }: ServerOptions = {},
): Promise<Server> {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', log ?? 'inherit'],
    env: { PATH: process.env.PATH, ...settings },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.stdout!.on('data', (data: Buffer) => {
      printed += data.toString();
      const found = /http:\/\/[^\s]+/.exec(printed);
      if (found) resolve(found[0]);
    });
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}: ${printed}`)));
  });
  return {
    url,
    pid: child.pid!,
    headers,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function untilReady({ url }: Pick<Server, 'url'>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await fetch(`${url}/health/ready`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server is not ready after 10 s');
}

/**
 * Returns the mean size, in bytes, of the first answers of each kind. Throws if an answer is not a
 * success.
 */
export async function answerSizes(server: Server, kinds: readonly Kind[]): Promise<number[]> {
  const sizes: number[] = [];
  for (const kind of kinds) {
    const lines = kind.lines.slice(0, 50);
    let bytes = 0;
    for (const line of lines) {
      const response = await request(server, kind, line);
      const body = await response.arrayBuffer();
      if (!response.ok) throw new Error(`${kind.name}: ${response.status} ${Buffer.from(body).toString()}`);
      bytes += body.byteLength;
    }
    sizes.push(Math.round(bytes / lines.length));
  }
  return sizes;
}

function request({ url, headers }: Server, { method, path = INSERTS }: Kind, line: string): Promise<Response> {
  if (method === 'GET') return fetch(url + line, { headers });
  return fetch(url + path, { method, body: line, headers: { ...headers, ...JSON_BODY } });
}

const INSERTS = '/v1/hyperedges';
const JSON_BODY = { 'Content-Type': 'application/json' };

export function hasWrk(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined;
}

/** What one run of a load measured. */
export interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /** CPU time of the server's process per request, in microseconds, all threads together. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly seconds?: number;
  readonly connections?: number;
}

/**
 * Returns a function that sends requests of `kind` with wrk, or (`tiny`, for tests) with one client
 * that waits for each answer. Throws if an answer is not a success.
 */
export function measurer(
  server: Server,
  kind: Kind,
  workspace: Workspace,
  tiny: boolean,
  { seconds = SECONDS, connections = CONNECTIONS }: LoadOptions = {},
): () => Promise<Measured> {
  if (tiny) return () => fewRequests(server, kind);
  const script = workspace.fresh('wrk');
  writeFileSync(`${script}.lines`, kind.lines.join('\n'));
  writeFileSync(script, wrkScript(kind, server.headers, `${script}.lines`));
  return () => wrk(server, script, seconds, connections);
}

/** Returns the median of each figure. */
export function medianMeasured(all: readonly Measured[]): Measured {
  const of = (field: keyof Measured) => median(all.map((one) => one[field]));
  return { rate: of('rate'), cpuUs: of('cpuUs'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
}

/** Returns one side of a race, which measures requests per second. */
export function driver(server: Server, kind: Kind, workspace: Workspace, tiny: boolean): Side {
  const measure = measurer(server, kind, workspace, tiny);
  return async () => (await measure()).rate;
}

/** Returns the CPU time used by all threads of a process. Linux counts it in ticks of 10 ms. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function fewRequests(server: Server, kind: Kind): Promise<Measured> {
  const start = performance.now();
  for (const line of kind.lines) {
    const response = await request(server, kind, line);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${kind.name}: ${response.status}`);
  }
  const eachMs = (performance.now() - start) / kind.lines.length;
  return { rate: 1000 / eachMs, cpuUs: eachMs * 1000, p50Ms: eachMs, p99Ms: eachMs };
}

function wrkScript({ method, path = INSERTS }: Kind, headers: Server['headers'], file: string): string {
  const sent = Object.entries(method === 'GET' ? headers : { ...headers, ...JSON_BODY });
  const table = `{ ${sent.map(([name, value]) => `["${name}"] = "${value}"`).join(', ')} }`;
  const format =
    method === 'GET' ? `wrk.format("GET", line, ${table})` : `wrk.format("POST", "${path}", ${table}, line)`;
  return `
local requests = {}
local index = 0
function init()
  for line in io.lines("${file}") do requests[#requests + 1] = ${format} end
end
function request()
  index = index % #requests + 1
  return requests[index]
end
`;
}

/** Throws if an answer is not a success. */
async function wrk(server: Server, script: string, seconds: number, connections: number): Promise<Measured> {
  const threads = Math.min(2, connections);
  const args = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, server.url];
  const before = cpuMsOf(server.pid);
  // wrk must not block this process, which may load the server in other ways at the same time.
  const { stdout: text } = await promisify(execFile)('wrk', args, { encoding: 'utf8' });
  const cpuMs = cpuMsOf(server.pid) - before;
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text);
  const count = /(\d+) requests in/.exec(text);
  if (rate === null || count === null || /Non-2xx|Socket errors/.test(text))
    throw new Error(`wrk on ${server.url}:\n${text}`);
  const percentile = (share: string) => msOf(new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s)`).exec(text));
  return {
    rate: Number(rate[1]),
    cpuUs: (cpuMs * 1000) / Number(count[1]),
    p50Ms: percentile('50'),
    p99Ms: percentile('99'),
  };
}

function msOf(found: RegExpExecArray | null): number {
  const units: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };
  return found === null ? Number.NaN : Number(found[1]) * units[found[2]!]!;
}
