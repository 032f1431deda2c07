// Times virtual graphs over Parquet: selective queries against DuckDB itself, and streaming a whole
// graph over HTTP, with the memory used.

import { mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { MAIN, OPEN_SETTINGS, type Server, startServer, untilReady } from './http-load.ts';
import { alternate, sink } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { type DirectDuckDb, openDirect } from './virtual-direct.ts';
import { watchMemory } from './virtual-memory.ts';

const ROWS = 10_000_000;
const TINY_ROWS = 10_000;
const ROUNDS = 7;
const MOST_MB = 300;
const MOST_RATIO = 1.3;
/** Less than the whole stream takes: the timeout must apply only until the answer begins. */
const TIMEOUT_MS = 10_000;
/** Pause of the slow reader after each chunk. */
const SLOW_PAUSE_MS = 20;
const SLOW_MS = 8000;

const SPEC = {
  id: 'bench',
  name: 'Transfers',
  backend: { type: 'parquet', path: 'transfers.parquet' },
  nodes: [{ label: 'Account', table: 'transfers', id_column: 'src' }],
  edges: [
    {
      label: 'Transfer',
      shape: 'row',
      table: 'transfers',
      ts_column: 'at',
      row_member_columns: { src: 'src', dst: 'dst' },
      members: [
        { name: 'src', node_label: 'Account', role: 'source' },
        { name: 'dst', node_label: 'Account', role: 'target' },
      ],
    },
  ],
};
const MATCH = 'MATCH (t:Transfer){src:Account, dst:Account}';

/** Returns SQL that generates rows in order of `id` and of time, with scattered accounts. */
function transfersSql(rows: number): string {
  return `SELECT range AS id, (range * 7919) % 100000 AS src, (range * 104729) % 100003 AS dst, 'kind ' || (range % 8) AS kind,
    (range % 10007) / 8.0 AS amount, TIMESTAMP '2020-01-01' + INTERVAL (range * 7) SECOND AS at FROM range(${rows})`;
}

interface Selection {
  readonly name: string;
  readonly where: string;
  /** The literals in the order of the compiled SQL's parameters. */
  readonly parameters: readonly number[];
}

function selections(rows: number): Selection[] {
  const middle = rows >> 1;
  return [
    { name: 'the transfers of one account', where: 'src.id = 77', parameters: [77] },
    { name: 'two accounts together', where: 'src.id = 77 AND dst.id > 50000', parameters: [77, 50000] },
    {
      name: '500 ids in a row',
      where: `t.id >= ${middle} AND t.id < ${middle + 500}`,
      parameters: [middle, middle + 500],
    },
  ];
}

export async function runVirtual(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, workspace, note } = options;
  const rows = tiny ? TINY_ROWS : ROWS;
  const root = workspace.fresh('virtual');
  mkdirSync(root);
  const file = join(root, 'transfers.parquet');
  const direct = await openDirect();
  if (direct === undefined) {
    note('virtual: left out, @duckdb/node-api is not installed');
    return [];
  }
  const data = workspace.fresh('virtual-data');
  try {
    await direct.copy(transfersSql(rows), file);
    await direct.view('transfers', file);
    const settings = {
      ...OPEN_SETTINGS,
      HEDGEROW_VIRTUAL_ROOT: root,
      HEDGEROW_QUERY_TIMEOUT_MS: String(TIMEOUT_MS),
    };
    const server = await startServer(MAIN, ['serve', '--data', data, '--port', '0'], { settings });
    try {
      await untilReady(server);
      await post(server, '/v1/virtual/graphs', SPEC);
      return [...(await selective(server, direct, rows, tiny)), ...(await streamed(server, rows, tiny))];
    } finally {
      await server.stop();
    }
  } finally {
    direct.close();
    workspace.remove(root);
    workspace.remove(data);
  }
}

async function selective(server: Server, direct: DirectDuckDb, rows: number, tiny: boolean): Promise<BenchRow[]> {
  const found: BenchRow[] = [];
  const memory = watchMemory(server.pid);
  for (const { name, where, parameters } of selections(rows)) {
    const query = `${MATCH} WHERE ${where} RETURN t`;
    const ask = () => post(server, '/v1/virtual/graphs/bench/query', { query, refresh: true });
    const { sql, count } = (await ask()) as { sql: string; count: number };
    const wanted = await direct.count(sql, parameters);
    if (count !== wanted) throw new Error(`${name}: ${count} edges, and ${wanted} rows of DuckDB`);
    const [ours, peer] = await alternate(
      tiny ? 1 : ROUNDS,
      [() => timeOf(ask), () => timeOf(() => direct.count(sql, parameters))],
      !tiny,
    );
    found.push(
      benchRow({
        name: `virtual ${name} (${count} edges), beside the SQL in DuckDB`,
        unit: 'ms',
        ours: ours!,
        peer: peer!,
        target: { ratioAtMost: MOST_RATIO },
      }),
    );
  }
  const { together } = memory.stop();
  return [...found, memoryRow('selective queries: service and DuckDB process together', together)];
}

async function streamed(server: Server, rows: number, tiny: boolean): Promise<BenchRow[]> {
  const memory = watchMemory(server.pid);
  const start = performance.now();
  const lines = await readStream(server, 0, Infinity);
  const seconds = (performance.now() - start) / 1000;
  const { service, duckdb, together, once } = memory.stop();
  if (lines !== rows) throw new Error(`the stream had ${lines} lines, not ${rows}`);
  const slowMemory = watchMemory(server.pid);
  sink(await readStream(server, SLOW_PAUSE_MS, tiny ? 200 : SLOW_MS));
  const slow = slowMemory.stop();
  return [
    benchRow({ name: `virtual: ${rows} edges as NDJSON over HTTP`, unit: 'edges/s', ours: rows / seconds }),
    memoryRow('stream: service', service),
    memoryRow('stream: DuckDB process', duckdb),
    memoryRow('stream: both, their resident sizes added', together),
    memoryRow('stream: both, pages that they share counted once', once),
    memoryRow('a reader that stops again and again: both', slow.together),
  ];
}

function memoryRow(name: string, ours: number): BenchRow {
  return benchRow({ name: `virtual peak memory, ${name}`, unit: 'MB', ours, target: { oursAtMost: MOST_MB } });
}

/**
 * Resolves with the number of complete lines received. The reader disconnects after `mostMs`, which
 * is checked at each chunk.
 */
function readStream(server: Server, pauseMs: number, mostMs: number): Promise<number> {
  const body = JSON.stringify({ query: `${MATCH} RETURN t`, refresh: true, ordered: false });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' };
  return new Promise((resolve, reject) => {
    let lines = 0;
    const asked = request(`${server.url}/v1/virtual/graphs/bench/query`, { method: 'POST', headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`the stream answered ${answer.statusCode}`));
      const until = performance.now() + mostMs;
      answer.on('data', (piece: Buffer) => {
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines++;
        if (performance.now() > until) {
          resolve(lines);
          asked.destroy();
        } else if (pauseMs > 0) {
          answer.pause();
          setTimeout(() => answer.resume(), pauseMs);
        }
      });
      answer.on('end', () => resolve(lines));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

async function post({ url }: Server, path: string, body: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
