// Loads of the service that have no bare peer: numbers of connections, mixes of reads and writes,
// bulk inserts alone and beside reads, a long stream, and lookups beside heavy work.

import { get } from 'node:http';
import type { Edge } from './dataset.ts';
import {
  type Kind,
  MAIN,
  type Measured,
  measurer,
  medianMeasured,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const CONNECTIONS = [1, 16, 256];
/** Connections of a mix, and the shares of them that read. */
const MIXED = 64;
const MIXES = [
  [0.95, '95 % of connections look nodes up, 5 % insert'],
  [0.5, 'half of the connections look nodes up, half insert'],
] as const;
/** Edges in one NDJSON body, number of bodies, and how many are sent at once. */
const BODY_EDGES = 20_000;
const BODIES = 30;
const LANES = 3;
const ROUNDS = 3;
const HEAVY = 14;
const TABLE = 'bulk';

export async function runLoads(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace } = options;
  const [, node, insert] = requestKinds(dataset.edges, tiny) as [Kind, Kind, Kind];
  const bodies = bodiesOf(dataset.edges, tiny);
  const dir = workspace.copy(await workspace.compacted(dataset.edges));
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0']);
  const rounds = tiny ? 1 : ROUNDS;
  try {
    await untilReady(server);
    const rows: BenchRow[] = [];
    for (const connections of CONNECTIONS) {
      const measure = measurer(server, node, workspace, tiny, { connections });
      rows.push(...rowsOf(`http ${node.name}, connections: ${connections}`, await medianOf(rounds, measure)));
    }
    for (const [share, name] of MIXES) {
      const measure = () => mix(options, server, node, insert, share);
      rows.push(...rowsOf(`http ${name}; percentiles of the lookups`, await medianOf(rounds, measure)));
    }
    rows.push(await bulk(server, bodies));
    rows.push(...(await bulkBesideReads(options, server, node, bodies)));
    rows.push(await stream(server));
    rows.push(...(await besideHeavyWork(options, server, node)));
    return rows;
  } finally {
    await server.stop();
    workspace.remove(dir);
  }
}

function rowsOf(name: string, { rate, p50Ms, p99Ms }: Measured, mostP99Ms?: number): BenchRow[] {
  const target = mostP99Ms === undefined ? {} : { target: { oursAtMost: mostP99Ms } };
  return [
    benchRow({ name, unit: 'requests/s', ours: rate }),
    benchRow({ name: '  50th percentile', unit: 'ms', ours: p50Ms }),
    benchRow({ name: '  99th percentile', unit: 'ms', ours: p99Ms, ...target }),
  ];
}

async function medianOf(rounds: number, measure: () => Promise<Measured>): Promise<Measured> {
  const all: Measured[] = [];
  for (let round = 0; round < rounds; round++) all.push(await measure());
  return medianMeasured(all);
}

/** Reads and inserts at the same time; the latency is that of the reads. */
async function mix(
  { tiny, workspace }: PartOptions,
  server: Server,
  reads: Kind,
  inserts: Kind,
  share: number,
): Promise<Measured> {
  const readers = Math.round(MIXED * share);
  const [read, write] = await Promise.all([
    measurer(server, reads, workspace, tiny, { connections: readers })(),
    measurer(server, inserts, workspace, tiny, { connections: MIXED - readers })(),
  ]);
  return { ...read, rate: read.rate + write.rate };
}

function bodiesOf(edges: readonly Edge[], tiny: boolean): Buffer[] {
  const [count, size] = tiny ? [2, 100] : [BODIES, BODY_EDGES];
  return Array.from({ length: count }, (_, body) => {
    const lines = Array.from({ length: size }, (_, i) => {
      const { event_ts, members } = edges[(body * size + i) % edges.length]!;
      return JSON.stringify({ event_ts, members, weight: (i % 100) / 4, kind: 'answer', score: (i * 7919) % 1000 });
    });
    return Buffer.from(`${lines.join('\n')}\n`);
  });
}

async function post({ url }: Server, path: string, body: unknown): Promise<Record<string, unknown>> {
  const isLines = Buffer.isBuffer(body);
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': isLines ? 'application/x-ndjson' : 'application/json' },
    body: isLines ? new Uint8Array(body) : JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** Returns the edges inserted per second. */
async function ingest(server: Server, bodies: readonly Buffer[]): Promise<number> {
  let next = 0;
  let inserted = 0;
  const lane = async () => {
    while (next < bodies.length) {
      const answer = await post(server, `/v1/hyperedges?table=${TABLE}`, bodies[next++]!);
      inserted += answer.inserted as number;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: LANES }, lane));
  return (inserted / (performance.now() - start)) * 1000;
}

async function bulk(server: Server, bodies: readonly Buffer[]): Promise<BenchRow> {
  const columns = [
    { name: 'kind', type: 'TEXT' },
    { name: 'score', type: 'INTEGER' },
  ];
  await post(server, '/v1/tables', { name: TABLE, columns });
  await post(server, '/v1/indexes', { table: TABLE, column: 'score' });
  return benchRow({
    name: 'http NDJSON bulk insert, durable, with an index',
    unit: 'edges/s',
    ours: await ingest(server, bodies),
    target: { oursAtLeast: 400_000 },
  });
}

async function bulkBesideReads(
  { tiny, workspace }: PartOptions,
  server: Server,
  reads: Kind,
  bodies: readonly Buffer[],
): Promise<BenchRow[]> {
  const [rate, read] = await Promise.all([
    ingest(server, bodies),
    measurer(server, reads, workspace, tiny, { connections: 16 })(),
  ]);
  return [
    benchRow({ name: 'http NDJSON bulk insert beside 16 readers', unit: 'edges/s', ours: rate }),
    ...rowsOf(`  their lookups: ${reads.name}`, read),
  ];
}

/** One client reads all edges and discards them; the best of three times. */
async function stream({ url }: Server): Promise<BenchRow> {
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    const bytes = await discarded(`${url}/v1/hyperedges?start_ts=0&end_ts=${Number.MAX_SAFE_INTEGER}`);
    rates.push(bytes / 1e3 / (performance.now() - start));
  }
  return benchRow({
    name: 'http all edges as NDJSON to one client, best of 3',
    unit: 'MB/s',
    ours: Math.max(...rates),
    target: { oursAtLeast: 400 },
  });
}

function discarded(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { accept: 'application/x-ndjson' } }, (response) => {
      let count = 0;
      response.on('data', (chunk: Buffer) => {
        count += chunk.length;
      });
      response.once('end', () => resolve(count));
    }).once('error', reject);
  });
}

/** Looks nodes up while heavy statements, measures and an export run. */
async function besideHeavyWork({ tiny, workspace }: PartOptions, server: Server, reads: Kind): Promise<BenchRow[]> {
  let isOver = false;
  const repeat = async (work: () => Promise<unknown>) => {
    while (!isOver) await work();
  };
  const query = 'MATCH (e:hyperedges) RETURN e.event_ts % 1009, count(*), max(e.id) ORDER BY count(*) DESC LIMIT 5';
  const busy = [
    ...Array.from({ length: tiny ? 1 : HEAVY }, () => repeat(() => post(server, '/v1/query', { query }))),
    repeat(() => post(server, '/v1/analytics/hyperedges/node_degree', { params: { weighted: true } })),
    repeat(() => stream(server)),
  ];
  const measured = await medianOf(tiny ? 1 : ROUNDS, measurer(server, reads, workspace, tiny, { connections: 4 }));
  isOver = true;
  await Promise.all(busy);
  return rowsOf(`http ${reads.name} beside ${HEAVY} heavy statements, a measure and an export`, measured, 25);
}
