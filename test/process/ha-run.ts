// One run under load: four clients write with idempotency keys and read with X-Min-LSN at random
// servers, while something fails. Afterwards, the histories must be linearizable for each node, and
// all servers must have the same rows.

import { createHash } from 'node:crypto';
import { ADMIN_KEY, type ChildServer } from '../service/child.ts';
import { historyProblem, type Operation } from '../support/append-history.ts';
import { Random } from '../support/random.ts';
import { Cluster, type Pair } from './ha-cluster.ts';

export const FAULTS = ['kill', 'stop', 'cut', 'promote'] as const;
export type Fault = (typeof FAULTS)[number];

export interface RunResult {
  readonly fault: Fault;
  /** From the fault to the answer to the first write that was sent after it, in milliseconds. */
  readonly gapMs: number;
  readonly writes: number;
  readonly reads: number;
  /** Attempts that were answered 503, or that failed without an answer. */
  readonly refused: number;
  readonly problems: readonly string[];
}

const CLIENTS = 4;
const NODES = 6;
/** The node that makes an edge one of a kind. */
const FIRST_VALUE = 1_000_000;
const WARM_MS = 1000;
const STOPPED_MS = 10_000;
const CUT_MS = 6000;
const AWAY_MS = 2000;
const AFTER_MS = 1500;
const ATTEMPT_MS = 3000;
/** An operation that takes longer than this is a problem. */
const MOST_MS = 40_000;

interface Client {
  readonly random: Random;
  readonly histories: Map<number, Operation[]>;
  readonly problems: string[];
}

interface Shared {
  readonly cluster: Cluster;
  /** Newest LSN that any client has seen. */
  lsn: number;
  nextValue: number;
  writes: number;
  reads: number;
  refused: number;
  isOver: boolean;
  acknowledged: { startMs: number; endMs: number }[];
}

export async function haRun(pair: Pair, fault: Fault, seed: number): Promise<RunResult> {
  const cluster = await Cluster.start(pair);
  try {
    const counts = { writes: 0, reads: 0, refused: 0 };
    const shared: Shared = { cluster, lsn: 0, nextValue: FIRST_VALUE, ...counts, isOver: false, acknowledged: [] };
    const clients = Array.from({ length: CLIENTS }, (_, index): Client => {
      const histories = new Map(Array.from({ length: NODES }, (_, node) => [node, [] as Operation[]]));
      return { random: new Random(seed * CLIENTS + index), histories, problems: [] };
    });
    const working = Promise.all(clients.map((client) => work(shared, client)));
    await sleep(WARM_MS);
    const { faultMs, heal } = await inject(cluster, fault);
    await heal();
    while (!shared.acknowledged.some(({ startMs }) => startMs >= faultMs) && performance.now() - faultMs < MOST_MS)
      await sleep(20);
    await sleep(AFTER_MS);
    shared.isOver = true;
    await working;
    const first = Math.min(
      ...shared.acknowledged.filter(({ startMs }) => startMs >= faultMs).map(({ endMs }) => endMs),
    );
    const problems = [...clients.flatMap((client) => client.problems), ...(await check(shared, clients))];
    const { writes, reads, refused } = shared;
    return { fault, gapMs: first - faultMs, writes, reads, refused, problems };
  } finally {
    await cluster.stop();
  }
}

/**
 * Makes something fail. Resolves, once it has failed, with the time at which it did and with a
 * function that waits and repairs it.
 */
async function inject(cluster: Cluster, fault: Fault): Promise<{ faultMs: number; heal: () => Promise<void> }> {
  const leader = await cluster.leader();
  const server = cluster.servers[leader]!;
  const proxies = cluster.proxiesOf(leader);
  let heal = async () => {};
  let faultMs = performance.now();
  if (fault === 'promote') await cluster.promote();
  else if (fault === 'kill') {
    await server.stop('SIGKILL');
    faultMs = performance.now();
    heal = async () => {
      await sleep(AWAY_MS);
      await cluster.restart(leader);
    };
  } else if (fault === 'stop') {
    server.process.kill('SIGSTOP');
    faultMs = performance.now();
    heal = async () => {
      await sleep(STOPPED_MS);
      server.process.kill('SIGCONT');
    };
  } else {
    for (const proxy of proxies) proxy.silence();
    faultMs = performance.now();
    heal = async () => {
      await sleep(CUT_MS);
      for (const proxy of proxies) {
        proxy.cut();
        proxy.release();
      }
    };
  }
  return { faultMs, heal };
}

async function work(shared: Shared, client: Client): Promise<void> {
  while (!shared.isOver) {
    const node = client.random.below(NODES);
    try {
      await (client.random.chance(0.5) ? write(shared, client, node) : read(shared, client, node));
    } catch (error) {
      client.problems.push((error as Error).message);
      return;
    }
    await sleep(client.random.below(10));
  }
}

async function write(shared: Shared, client: Client, node: number): Promise<void> {
  const value = shared.nextValue++;
  const startMs = performance.now();
  const record = (endMs: number) => client.histories.get(node)!.push({ kind: 'write', value, startMs, endMs });
  const body = JSON.stringify({ event_ts: 1, members: [node, value] });
  const headers = { 'idempotency-key': `value-${value}`, 'content-type': 'application/json' };
  try {
    await attempts(shared, client, () => ({ path: '/v1/hyperedges', method: 'POST', headers, body }));
  } catch (error) {
    record(Number.POSITIVE_INFINITY);
    throw error;
  }
  const endMs = performance.now();
  record(endMs);
  shared.acknowledged.push({ startMs, endMs });
  shared.writes++;
}

async function read(shared: Shared, client: Client, node: number): Promise<void> {
  let startMs = 0;
  const answer = await attempts(shared, client, () => {
    startMs = performance.now();
    return { path: pathOf(node), method: 'GET', headers: { 'x-min-lsn': String(shared.lsn) } };
  });
  client.histories.get(node)!.push({ kind: 'read', values: valuesOf(answer), startMs, endMs: performance.now() });
  shared.reads++;
}

interface Attempt {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Sends a request to random servers until it is answered with success. */
async function attempts(shared: Shared, { random }: Client, make: () => Attempt): Promise<string> {
  const untilMs = performance.now() + MOST_MS;
  let last = '';
  while (performance.now() < untilMs) {
    const { servers } = shared.cluster;
    const server = servers[random.below(servers.length)]!;
    const { path, ...attempt } = make();
    try {
      const answer = await fetch(`${server.url}${path}`, {
        ...attempt,
        headers: { ...attempt.headers, 'x-api-key': ADMIN_KEY },
        redirect: 'manual',
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      const text = await answer.text();
      if (answer.status < 300) {
        shared.lsn = Math.max(shared.lsn, Number(answer.headers.get('x-hedgerow-lsn') ?? 0));
        return text;
      }
      last = `${answer.status} ${text}`;
      // After an attempt without an answer, the request may still be running.
      const isRunning = answer.status === 409 && text.includes('is still running');
      if (answer.status !== 503 && !isRunning) throw new Wrong(`${attempt.method} ${path}: ${last}`);
    } catch (error) {
      if (error instanceof Wrong) throw error;
      last ||= (error as Error).message;
    }
    shared.refused++;
    await sleep(20 + random.below(30));
  }
  throw new Error(`no success within ${MOST_MS} ms: ${last}`);
}

class Wrong extends Error {}

function pathOf(node: number): string {
  return `/v1/hyperedges/node/${node}?limit=100000`;
}

/** Returns the values in the order of the ids, which is that of the commits. */
function valuesOf(text: string): number[] {
  const { hyperedges } = JSON.parse(text) as { hyperedges: { id: number; members: number[] }[] };
  return hyperedges.sort((one, other) => one.id - other.id).map(({ members }) => Math.max(...members));
}

async function check(shared: Shared, clients: readonly Client[]): Promise<string[]> {
  const { servers } = shared.cluster;
  const problems: string[] = [];
  const digests = new Set<string>();
  for (const server of servers) digests.add(await digestOf(server, shared.lsn));
  if (digests.size !== 1) problems.push(`the servers have different rows: ${[...digests].join(', ')}`);
  for (let node = 0; node < NODES; node++) {
    const final = valuesOf(await reading(servers[0]!, pathOf(node), shared.lsn));
    const operations = clients.flatMap(({ histories }) => histories.get(node)!);
    const problem = historyProblem(operations, final);
    if (problem !== undefined) problems.push(`node ${node}: ${problem}`);
  }
  return problems;
}

async function digestOf(server: ChildServer, lsn: number): Promise<string> {
  const hash = createHash('sha256');
  for (const { name } of JSON.parse(await reading(server, '/v1/tables', lsn)) as { name: string }[]) {
    const path = `/v1/hyperedges?table=${name}&start_ts=0&end_ts=9000000000`;
    hash.update(await reading(server, path, lsn, { accept: 'application/x-ndjson' }));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Reads from one server, which may need some time until it is there again. */
async function reading(server: ChildServer, path: string, lsn: number, more: Record<string, string> = {}) {
  const headers = { ...more, 'x-api-key': ADMIN_KEY, 'x-min-lsn': String(lsn) };
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`${server.url}${path}`, { headers, signal: AbortSignal.timeout(60_000) });
    const text = await answer.text();
    if (answer.status === 200) return text;
    if (attempt > 100) throw new Error(`${path}: ${answer.status} ${text}`);
    await sleep(100);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
