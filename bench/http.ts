// Requests a second over HTTP, beside a bare uWebSockets.js server that answers as many bytes; driven by wrk.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '../test/core/support/random.ts';
import { drawNodes, type Edge } from './dataset.ts';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow, type Target } from './row.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const BARE = fileURLToPath(new URL('http-bare.mjs', import.meta.url));
const ROWS = 10;
const REQUESTS = 1000;
const SECONDS = 5;

/** One kind of request; the bodies of a POST, or the paths of a GET. */
interface Kind {
  name: string;
  method: 'GET' | 'POST';
  lines: string[];
  target: Target;
}

export async function runHttp(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  if (!tiny && spawnSync('wrk', ['-v']).error !== undefined) {
    note('http: left out, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = requestKinds(dataset.edges, tiny ? 20 : REQUESTS);
  const dir = workspace.copy(await workspace.compacted(dataset.edges));
  const ours = await startServer(MAIN, ['serve', '--data', dir, '--port', '0', '--log-level', 'error']);
  try {
    await untilReady(ours.url);
    const sizes = await answerSizes(ours.url, kinds);
    const bare = await startServer(BARE, sizes.map(String));
    try {
      const bareSizes = await answerSizes(bare.url, kinds);
      if (bareSizes.join() !== sizes.join())
        throw new Error(`the bare server answers ${bareSizes} bytes, not ${sizes}`);
      return await race(options, kinds, sizes, ours.url, bare.url);
    } finally {
      await bare.stop();
    }
  } finally {
    await ours.stop();
    workspace.remove(dir);
  }
}

async function race(
  { tiny, workspace }: PartOptions,
  kinds: readonly Kind[],
  sizes: readonly number[],
  ours: string,
  bare: string,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [index, kind] of kinds.entries()) {
    const script = workspace.fresh('wrk');
    writeFileSync(script, wrkScript(kind, `${script}.lines`));
    writeFileSync(`${script}.lines`, kind.lines.join('\n'));
    const drive = (url: string) => () => (tiny ? fewRequests(url, kind) : wrk(url, script));
    const [oursRate, bareRate] = await alternate(tiny ? 1 : 5, [drive(ours), drive(bare)], !tiny);
    rows.push(
      benchRow({
        name: `http ${kind.name} (${sizes[index]} bytes), beside bare uWebSockets.js`,
        unit: 'requests/s',
        ours: oursRate!,
        peer: bareRate!,
        target: kind.target,
      }),
    );
  }
  return rows;
}

function requestKinds(edges: readonly Edge[], count: number): Kind[] {
  return [
    {
      name: `range of ${ROWS} edges`,
      method: 'GET',
      lines: windowsOf(edges, count),
      target: { ratioAtLeast: 0.6 },
    },
    {
      name: `node of ${ROWS} edges`,
      method: 'GET',
      lines: nodesOf(edges, count).map((node) => `/v1/hyperedges/node/${node}`),
      target: { ratioAtLeast: 0.6 },
    },
    {
      name: 'durable single insert',
      method: 'POST',
      lines: newEdges(edges, count).map((edge) => JSON.stringify(edge)),
      target: { ratioAtLeast: 0.4 },
    },
  ];
}

/** Paths of windows that hold ROWS edges exactly. */
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

/** Nodes of ROWS edges, or about as many where there are not enough such nodes. */
function nodesOf(edges: readonly Edge[], count: number): number[] {
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

interface Server {
  url: string;
  stop(): Promise<void>;
}

/** Starts a script that prints its address. */
async function startServer(script: string, args: readonly string[]): Promise<Server> {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HEDGEROW_AUTH_DISABLED: '1', HEDGEROW_RATE_LIMIT_QPM: '0' },
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
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await fetch(`${url}/health/ready`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server is not ready after 10 s');
}

async function answerSizes(url: string, kinds: readonly Kind[]): Promise<number[]> {
  const sizes: number[] = [];
  for (const kind of kinds) sizes.push(await answerBytes(url, kind));
  return sizes;
}

/** Bytes of the answers' bodies, the mean of the first few. Throws when one is no success. */
async function answerBytes(url: string, kind: Kind): Promise<number> {
  const lines = kind.lines.slice(0, 50);
  let bytes = 0;
  for (const line of lines) {
    const response = await request(url, kind, line);
    const body = await response.arrayBuffer();
    if (!response.ok) throw new Error(`${kind.name}: ${response.status} ${Buffer.from(body).toString()}`);
    bytes += body.byteLength;
  }
  return Math.round(bytes / lines.length);
}

function request(url: string, { method }: Kind, line: string): Promise<Response> {
  if (method === 'GET') return fetch(url + line);
  return fetch(`${url}/v1/hyperedges`, { method, body: line, headers: { 'Content-Type': 'application/json' } });
}

/** Requests a second of one client that waits for each answer: for tests. */
async function fewRequests(url: string, kind: Kind): Promise<number> {
  const start = performance.now();
  for (const line of kind.lines) await (await request(url, kind, line)).arrayBuffer();
  return (kind.lines.length / (performance.now() - start)) * 1000;
}

function wrkScript({ method }: Kind, file: string): string {
  const format =
    method === 'GET'
      ? 'wrk.format("GET", line)'
      : 'wrk.format("POST", "/v1/hyperedges", { ["Content-Type"] = "application/json" }, line)';
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

/** Requests a second of 64 connections. Throws when any answer is no success. */
function wrk(url: string, script: string): number {
  const text = execFileSync('wrk', ['-t2', '-c64', `-d${SECONDS}s`, '-s', script, url], { encoding: 'utf8' });
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text);
  if (rate === null || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk on ${url}:\n${text}`);
  return Number(rate[1]);
}
