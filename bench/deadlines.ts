// Times long statements: how soon after the deadline the 504 arrives, how soon they stop when their
// client disconnects, and how fast `/health/live` answers meanwhile.

import { openDatabase } from 'hedgerow';
import type { Edge } from './dataset.ts';
import { type LongStatement, longStatements, WEIGHTS, WORDS } from './deadlines-list.ts';
import { HealthProbe, percentile, untilIdle } from './deadlines-watch.ts';
import { MAIN, OPEN_SETTINGS, type Server, startServer, untilReady } from './http-load.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { BATCH_EDGES } from './stores.ts';

const DEADLINE_MS = 1000;
const LATE_MS = 200;
const PAUSE_MS = 50;
/** Milliseconds between a request and the moment when its client disconnects. */
const GOES_AFTER_MS = [300, 1500, 6000];

export async function runDeadlines({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const { edges } = dataset;
  const dir = workspace.fresh('deadlines');
  await loadLongTable(dir, edges);
  const statements = longStatements(edges.map((edge) => edge.event_ts));
  const chosen = process.env.HEDGEROW_BENCH_ONLY;
  dataset.release();
  const rows: BenchRow[] = [];
  for (const statement of statements) {
    if (chosen !== undefined && !statement.name.includes(chosen)) continue;
    // Each run gets its own copy, so that one run's writes do not affect the next.
    const timed = await withServer(workspace.copy(dir), tiny ? 1 : DEADLINE_MS, (server) =>
      meetDeadline(server, statement),
    );
    const left = await withServer(workspace.copy(dir), 0, (server) =>
      leave(server, statement, tiny ? [5] : GOES_AFTER_MS),
    );
    rows.push(...rowsOf(statement, timed, left));
    note(describe(statement, timed, left));
    console.error(describe(statement, timed, left));
  }
  workspace.remove(dir);
  return rows;
}

/** Fills a directory with a compacted table that has the columns of the long statements. */
export async function loadLongTable(dir: string, edges: readonly Edge[]): Promise<void> {
  const database = await openDatabase({ dir });
  const table = database.table();
  for (let from = 0; from < edges.length; from += BATCH_EDGES) {
    const bulk = table.bulk();
    for (let i = from; i < Math.min(edges.length, from + BATCH_EDGES); i++) {
      const hash = (i * 2654435761) % 2 ** 32;
      bulk.add({ ...edges[i]!, properties: { weight: hash % WEIGHTS, formation: `word ${hash % WORDS}` } });
    }
    await bulk.commit();
  }
  await database.compact();
  await database.close();
}

async function withServer<T>(dir: string, timeoutMs: number, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0'], {
    settings: { ...OPEN_SETTINGS, HEDGEROW_QUERY_TIMEOUT_MS: String(timeoutMs) },
  });
  try {
    await untilReady(server);
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Latencies of `/health/live` during the statement. */
type Health = Pick<HealthProbe, 'times' | 'ran'>;

interface Timed {
  readonly status: number;
  /** Time from the request to the head of the answer. */
  readonly ms: number;
  /** Time from the answer until the process is idle. */
  readonly restMs: number;
  readonly health: Health;
}

async function meetDeadline(server: Server, statement: LongStatement): Promise<Timed> {
  const probe = new HealthProbe(server);
  await untilIdle(server.pid);
  probe.reset();
  const start = performance.now();
  const response = await ask(server, statement, new AbortController().signal);
  const ms = performance.now() - start;
  if (response.status !== 200) await response.text();
  else await response.body?.cancel();
  const restMs = await untilIdle(server.pid);
  await probe.stop();
  return { status: response.status, ms, restMs, health: probe };
}

interface Left {
  /**
   * For each disconnection, the time until the process is idle; null if the statement had already
   * ended.
   */
  readonly restMs: readonly (number | null)[];
  readonly health: Health;
}

async function leave(server: Server, statement: LongStatement, moments: readonly number[]): Promise<Left> {
  const probe = new HealthProbe(server);
  await untilIdle(server.pid);
  probe.reset();
  const restMs: (number | null)[] = [];
  for (const moment of moments) {
    const controller = new AbortController();
    const asked = ask(server, statement, controller.signal).then(
      async (response) => {
        await response.arrayBuffer();
        return 'answered' as const;
      },
      () => 'left' as const,
    );
    const first = await Promise.race([asked, sleep(moment)]);
    controller.abort();
    const rest = await untilIdle(server.pid);
    restMs.push(first === 'answered' ? null : rest);
    await asked.catch(() => undefined);
  }
  await probe.stop();
  return { restMs, health: probe };
}

function ask({ url }: Server, { query, parameters }: LongStatement, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, parameters }),
    signal,
  });
}

function sleep(ms: number): Promise<'slept'> {
  return new Promise((resolve) => setTimeout(() => resolve('slept'), ms));
}

function rowsOf({ name }: LongStatement, timed: Timed, left: Left): BenchRow[] {
  const times = [...timed.health.times, ...left.health.times];
  const ran = [...timed.health.ran, ...left.health.ran];
  const rows = [
    benchRow({
      name: `${name}: /health/live meanwhile, p99`,
      unit: 'ms',
      ours: percentile(times, 0.99),
      target: { oursAtMost: PAUSE_MS },
    }),
    benchRow({
      name: `${name}: CPU time of the server in that, p99`,
      unit: 'ms',
      ours: Math.max(0.01, percentile(ran, 0.99)),
      target: { oursAtMost: PAUSE_MS },
    }),
    benchRow({ name: `${name}: CPU time of the server in that, maximum`, unit: 'ms', ours: Math.max(0.01, ...ran) }),
  ];
  const stops = left.restMs.filter((ms) => ms !== null);
  if (stops.length > 0)
    rows.push(
      benchRow({
        name: `${name}: idle after its client disconnects`,
        unit: 'ms',
        ours: Math.max(0.01, ...stops),
        target: { oursAtMost: LATE_MS },
      }),
    );
  if (timed.status === 504)
    rows.push(
      benchRow({
        name: `${name}: 504 after the deadline`,
        unit: 'ms',
        ours: Math.max(0.01, timed.ms - DEADLINE_MS),
        target: { oursAtMost: LATE_MS },
      }),
    );
  return rows;
}

function describe({ name }: LongStatement, timed: Timed, left: Left): string {
  const ms = (value: number | null) => (value === null ? 'ended' : value.toFixed(0));
  const health = ({ times, ran }: Health) =>
    `p99 ${ms(percentile(times, 0.99))} (CPU ${ms(percentile(ran, 0.99))}, at most ${ms(Math.max(...ran))}) of ${times.length}`;
  return (
    `${name}: ${timed.status} after ${ms(timed.ms)} ms, idle ${ms(timed.restMs)} ms later; ` +
    `idle ${left.restMs.map(ms).join(' / ')} ms after its client disconnects; health ${health(timed.health)}; ${health(left.health)}`
  );
}
