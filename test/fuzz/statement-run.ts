// Sends hostile statements to the built service, which has a heap of 300 MB. Checks that the
// service survives and gives acceptable answers, and measures how long its event loop is blocked.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { ADMIN_KEY, type ChildServer, startChild } from '../service/child.ts';
import { Random } from '../support/random.ts';
import { type HostileStatement, hostileStatement } from './statement-grammar.ts';

const HEAP_MB = 300;
const WATCH = fileURLToPath(new URL('./support/loop-watch.mjs', import.meta.url));
/** Number of bytes of an answer after which the client disconnects. */
const MOST_READ = 2 ** 20;
const CLIENTS = 4;
const TIMEOUT_MS = 200;
const ATTEMPTS = 30;
/** Acceptable statuses. 503 means out of memory for now, 507 out of disk space for now. */
const CLEAN = [200, 400, 404, 409, 413, 503, 504, 507];

export interface Figures {
  readonly statements: number;
  /** Counts by status; 0 stands for an answer that was cut off after it had begun. */
  readonly statuses: Record<number, number>;
  /** Defects, each with its statement: how the service died, or an answer that gave no reason. */
  readonly failures: string[];
  /**
   * Event loop steps over 100 ms: their duration, the time of the garbage collection in them, and
   * the statements that ran meanwhile.
   */
  readonly steps: { ms: number; collectedMs: number; during: string[] }[];
}

const STEP = /loop-watch: a step of (\d+) ms, garbage collection (\d+) ms.*/g;

export interface HostileOptions {
  /** Whether the steps of the event loop are measured too. */
  watched?: boolean;
  /** Number of statements that run concurrently. */
  clients?: number;
  tell?: (text: string) => void;
}

/** Runs `count` statements generated from a seed. */
export async function runHostile(
  count: number,
  seed: number,
  { watched = false, clients = CLIENTS, tell = (_: string) => {} }: HostileOptions = {},
): Promise<Figures> {
  const random = new Random(seed);
  const figures: Figures = { statements: count, statuses: {}, failures: [], steps: [] };
  const root = await mkdtemp(join(tmpdir(), 'hedgerow-hostile-'));
  const environment = {
    HEDGEROW_QUERY_TIMEOUT_MS: String(TIMEOUT_MS),
    HEDGEROW_DURABILITY: 'async',
    HEDGEROW_VIRTUAL_ROOT: root,
    HEDGEROW_LOG_LEVEL: 'error',
    HEDGEROW_LOOP_PROFILE: process.env.HEDGEROW_LOOP_PROFILE ?? '',
    HEDGEROW_LOOP_LIMIT_MS: process.env.HEDGEROW_LOOP_LIMIT_MS ?? '100',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}${watched ? ` --import ${WATCH}` : ''}`,
  };
  const server = await startChild({ environment });
  try {
    await fill(server, root);
    server.output.error = '';
    let sent = 0;
    const running = new Map<number, string>();
    /** Statements that ended recently. They may have run in a step that is only now reported. */
    const ended: string[] = [];
    server.process.stderr!.on('data', (text: string) => {
      if (process.env.HEDGEROW_LOOP_PROFILE === '1') process.stderr.write(text);
      for (const [line, ms, collectedMs] of text.matchAll(STEP)) {
        const step = { ms: Number(ms), collectedMs: Number(collectedMs), during: [...ended, ...running.values()] };
        figures.steps.push(step);
        tell(`${line}, after ${sent} statements: ${step.during.join('\n  ')}`);
      }
    });
    const client = async (): Promise<void> => {
      while (sent < count && server.ended === undefined) {
        const number = sent++;
        const statement = hostileStatement(random);
        running.set(number, statement.text.slice(0, 300));
        await runOne(server, statement, number, figures, tell);
        running.delete(number);
        ended.push(statement.text.slice(0, 300));
        if (ended.length > 2 * clients) ended.shift();
        if (number % 1000 === 999) tell(shownProgress(number + 1, figures));
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    if (server.ended === undefined) await expectAlive(server, figures);
  } finally {
    await server.stop();
    await rm(root, { recursive: true, force: true });
  }
  return figures;
}

function shownProgress(count: number, { statuses, failures, steps }: Figures): string {
  return `${count} statements: ${JSON.stringify(statuses)}, ${steps.length} long steps, ${failures.length} failures`;
}

/** Checks that the service still works after all statements. */
async function expectAlive(server: ChildServer, figures: Figures): Promise<void> {
  const { status, text } = await patient(server, { query: 'MATCH (a:few) RETURN count(*) AS n' });
  if (status !== 200 || !text.includes('"rows":[{"n":3}]'))
    figures.failures.push(`in the end: ${status} ${text.slice(0, 300)}`);
}

async function runOne(
  server: ChildServer,
  statement: HostileStatement,
  number: number,
  figures: Figures,
  tell: (text: string) => void,
): Promise<void> {
  const { text: query, parameters, isVirtual } = statement;
  const path = isVirtual ? '/v1/virtual/graphs/trips/query' : '/v1/query';
  const fail = (what: string) => {
    const failure = `${number}: ${what}: ${query.slice(0, 2000)} ${JSON.stringify(parameters).slice(0, 500)}`;
    figures.failures.push(failure);
    tell(failure);
  };
  try {
    const { status, text } = await ask(server, path, isVirtual ? { query } : { query, parameters });
    figures.statuses[status] = (figures.statuses[status] ?? 0) + 1;
    if (!CLEAN.includes(status)) fail(`${status} ${text.slice(0, 300)}`);
    else if (status >= 400 && !isRefusal(text)) fail(`a refusal without a reason: ${status} ${text.slice(0, 300)}`);
  } catch (error) {
    // An answer that has begun may be cut off if there is no memory for the rest.
    if (server.ended === undefined && isCut(error)) figures.statuses[0] = (figures.statuses[0] ?? 0) + 1;
    else
      fail(
        `${server.ended ?? ''} ${(error as Error).message} ${inspect((error as Error).cause)} ${server.output.error.slice(-500)}`,
      );
  }
}

function isRefusal(text: string): boolean {
  const { detail, code } = JSON.parse(text) as { detail?: unknown; code?: unknown };
  return typeof detail === 'string' && detail.length > 10 && typeof code === 'string';
}

function isCut(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'terminated';
}

/**
 * Sends a query, and retries if the answer reports that the (short) deadline has passed or memory
 * is short: other processes may be using the machine.
 */
async function patient(server: ChildServer, body: object): Promise<{ status: number; text: string }> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(server, '/v1/query', body);
    if (attempt === ATTEMPTS || (answer.status !== 503 && answer.status !== 504)) return answer;
  }
}

async function ask(server: ChildServer, path: string, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
    body: JSON.stringify(body),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body!) {
    chunks.push(chunk as Uint8Array);
    bytes += (chunk as Uint8Array).length;
    // Leaving the loop closes the connection.
    if (bytes > MOST_READ) break;
  }
  return { status: answer.status, text: Buffer.concat(chunks).toString() };
}

/**
 * Fills the tables: `few` has three edges; `some` 200; `many` 2,000, most of them in segments;
 * `long` 30 with texts of 20 KB; `thrown` is the target of INSERT.
 */
async function fill(server: ChildServer, root: string): Promise<void> {
  const run = async (query: string, parameters: object = {}) => {
    const { status, text } = await patient(server, { query, parameters });
    if (status !== 200) throw new Error(`${query.slice(0, 200)}: ${status} ${text.slice(0, 300)}`);
  };
  const sizes = { few: 3, some: 200, many: 2000, long: 30, thrown: 1 };
  for (const [table, rows] of Object.entries(sizes)) {
    await run(`CREATE HYPEREDGE TABLE ${table} (n) PROPERTIES (place TEXT, note TEXT, n INTEGER, w REAL, ok BOOLEAN)`);
    const length = table === 'long' ? 20_000 : 3;
    const values = Array.from({ length: rows }, (_, row) => {
      const place = `'p${row % 17}${'z'.repeat(length)}'`;
      return `(${row * 3}, [${row % 97}, ${100 + (row % 31)}], ${place}, 'n${row}', ${row % 50}, ${row}.5, ${row % 2 === 0})`;
    });
    for (let from = 0; from < rows; from += 40)
      await run(
        `INSERT INTO ${table} (event_ts, members, place, note, n, w, ok) VALUES ${values.slice(from, from + 40).join(', ')}`,
      );
    if (table === 'many') await run('COMPACT many');
  }
  await run("UPDATE many SET note = 'changed' WHERE id % 7 = 0");
  const lines = Array.from({ length: 3000 }, (_, row) => `${row},${row % 200},d${row % 40},note ${row % 9}`);
  await writeFile(join(root, 'trips.csv'), `secs,origin,driver,note\n${lines.join('\n')}\n`);
  await ask(server, '/v1/virtual/graphs', VIRTUAL);
}

const VIRTUAL = {
  id: 'trips',
  name: 'Trips',
  backend: { type: 'csv', path: 'trips.csv' },
  nodes: [
    { label: 'Place', table: 'trips', id_column: 'origin' },
    { label: 'Driver', table: 'trips', id_column: 'driver' },
  ],
  edges: [
    {
      label: 'Trip',
      shape: 'row',
      table: 'trips',
      ts_column: 'secs',
      row_member_columns: { origin: 'origin', driver: 'driver' },
      members: [
        { name: 'origin', node_label: 'Place', role: 'src' },
        { name: 'driver', node_label: 'Driver', role: 'via' },
      ],
    },
  ],
};
