// Tests virtual graphs over HTTP when backends are slow, fail or die, when clients disconnect or
// read slowly, and when the service stops.

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { makeFiles } from '../virtual/backend-files.ts';
import { NDJSON, type ServerOptions, send, sleep, startServer, type TestServer } from './support.ts';

const ALL = 'MATCH (t:T){a:N, b:N} RETURN t';
const NOTHING = 'MATCH (t:T){a:N, b:N} WHERE t.extra = -5 RETURN t';
const BIG_ROWS = 110_000;
const LATE_ROWS = 60_000;

const postgres: TestPostgres | undefined = await startPostgres();
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hedgerow-virtual-http-'));
  const rows = (count: number, extra: string) =>
    `SELECT 1000 + r.range AS ts, r.range AS a, r.range % 7 AS b, ${extra} AS extra FROM range(${count}) r`;
  await makeFiles(
    [
      `CREATE TABLE few AS ${rows(5, 'r.range')}`,
      `CREATE TABLE big AS ${rows(BIG_ROWS, "repeat('x', 100) || r.range")}`,
      `CREATE VIEW slow AS SELECT 1 AS ts, r.range AS a, s.range AS b, r.range + s.range AS extra FROM range(1000000000) r, range(1000000000) s`,
      `CREATE VIEW late AS ${rows(LATE_ROWS, `CASE WHEN r.range = ${LATE_ROWS - 1} THEN CAST('x' || r.range AS INTEGER) ELSE r.range END`)}`,
    ],
    join(root, 'all.duckdb'),
  );
  await postgres?.run(`
    CREATE TABLE few AS SELECT 1000 + n AS ts, n AS a, n % 7 AS b, n AS extra FROM generate_series(0, 4) n;
    CREATE VIEW slow AS SELECT 1 AS ts, n AS a, m AS b, n + m AS extra FROM generate_series(1, 100000000) n, generate_series(1, 100000000) m;
    CREATE VIEW late AS SELECT 1000 + n AS ts, n AS a, n % 7 AS b, n / (${LATE_ROWS - 1} - n) AS extra FROM generate_series(0, ${LATE_ROWS}) n`);
});
afterAll(async () => {
  await postgres?.stop();
  await rm(root, { recursive: true, force: true });
});

const backends = [
  ['duckdb', { type: 'duckdb', path: 'all.duckdb' }],
  ...(postgres === undefined ? [] : [['postgres', { type: 'postgres', dsn: 'PG' }] as const]),
] as const;

function specOf(table: string, backend: object, id: string = table) {
  const members = ['a', 'b'].map((name) => ({ name, node_label: 'N', role: name }));
  const edge = { label: 'T', shape: 'row', table, ts_column: 'ts', row_member_columns: { a: 'a', b: 'b' }, members };
  return { id, name: id, backend, nodes: [{ label: 'N', table, id_column: 'a' }], edges: [edge] };
}

/** Starts a service with the graphs few, big, slow and late on the backend. */
async function start(backend: object, options: ServerOptions = {}): Promise<TestServer> {
  const dsns = postgres === undefined ? {} : { PG: postgres.address };
  const server = await startServer({ virtualRoot: root, dsns, ...options });
  for (const table of ['few', 'big', 'slow', 'late'])
    await send(server, 'POST', '/v1/virtual/graphs', specOf(table, backend));
  return server;
}

function query(server: TestServer, graph: string, body: object = {}, headers: Record<string, string> = {}) {
  return send(server, 'POST', `/v1/virtual/graphs/${graph}/query`, { query: ALL, ...body }, headers);
}

async function works(server: TestServer): Promise<void> {
  const { status, json } = await query(server, 'few', { refresh: true });
  expect([status, json.count]).toEqual([200, 5]);
}

/**
 * Repeats a query until it works, because a process or connection may not start within a short
 * deadline.
 */
async function untilWorks(server: TestServer): Promise<void> {
  await expect
    .poll(async () => (await query(server, 'few', { refresh: true })).json.count, { timeout: 30_000 })
    .toBe(5);
}

/** Sends a query on a separate connection, which does not read the answer yet. */
function openQuery(server: TestServer, graph: string, body: object, accept = 'application/json') {
  const text = JSON.stringify({ query: ALL, ...body });
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(
    `POST /v1/virtual/graphs/${graph}/query HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: ${accept}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

/** Returns the process ids of the DuckDB processes that the service in this test is running. */
function duckdbPids(): number[] {
  try {
    const out = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'duckdb-process'], { encoding: 'utf8' });
    return out.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

describe.each(backends)('a service with a %s backend', (name, backend) => {
  test('ends a query that runs too long at its deadline with 504, and continues', async () => {
    const server = await start(backend, { queryTimeoutMs: 1500 });
    try {
      await untilWorks(server);
      const copy = { query: NOTHING, table: 'never' };
      const answers = await Promise.all([
        query(server, 'slow', { query: NOTHING }),
        query(server, 'slow', { query: NOTHING }, { accept: 'application/x-ndjson' }),
        query(server, 'slow'),
        send(server, 'POST', '/v1/virtual/graphs/slow/materialize', copy),
      ]);
      for (const { status, json } of answers) expect([status, json.code]).toEqual([504, 'timeout']);
      expect(server.database.tables().map((table) => table.name)).toEqual(['hyperedges']);
      await untilWorks(server);
      expect(server.errors).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('ends queries when their clients disconnect', async () => {
    const server = await start(backend);
    try {
      await works(server);
      const sockets = Array.from({ length: 6 }, () => openQuery(server, 'slow', { query: NOTHING }));
      await sleep(300);
      for (const socket of sockets) socket.destroy();
      // The six queries fill all slots. If they were still running, this query would wait for their
      // deadline.
      await works(server);
      if (name === 'postgres') {
        const active = `SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%"slow"%' AND pid <> pg_backend_pid()`;
        await expect.poll(() => postgres!.run(active), { timeout: 30_000 }).toEqual([['0']]);
      }
    } finally {
      await server.close();
    }
  });

  test('cuts off an answer whose backend fails late', async () => {
    const server = await start(backend);
    try {
      for (const accept of ['application/json', 'application/x-ndjson']) {
        const body = { ordered: false };
        const late = await query(server, 'late', body, { accept }).then(
          ({ status, text }) => `${status}, ${text.length} characters`,
          () => 'cut off',
        );
        expect(late).toBe('cut off');
        const early = await query(server, 'late', {}, { accept });
        expect([early.status, early.json.code]).toEqual([502, 'backend_failed']);
      }
      expect(server.errors.join()).toContain('request failed');
      await works(server);
    } finally {
      await server.close();
    }
  });

  test('can stop while a query runs', async () => {
    const server = await start(backend);
    await works(server);
    const running = query(server, 'slow', { query: NOTHING }).then(
      ({ status }) => status,
      () => 'cut',
    );
    const copy = { query: NOTHING, table: 'never' };
    const copying = send(server, 'POST', '/v1/virtual/graphs/slow/materialize', copy).catch(() => 'cut');
    await sleep(300);
    await server.service.close(300);
    expect(server.database.tables().map((table) => table.name)).toEqual(['hyperedges']);
    expect(duckdbPids()).toEqual([]);
    await server.close();
    expect(['cut', 502, 503, 504]).toContain(await running);
    await copying;
  });
});

describe('DuckDB', () => {
  const DUCKDB = backends[0][1];

  test('answers 502 when it is killed during a query, and is started again', async () => {
    const server = await start(DUCKDB);
    try {
      await works(server);
      const running = query(server, 'slow', { query: NOTHING });
      const copying = send(server, 'POST', '/v1/virtual/graphs/slow/materialize', { query: NOTHING, table: 'never' });
      await sleep(200);
      const pids = duckdbPids();
      expect(pids).toHaveLength(1);
      process.kill(pids[0]!, 'SIGKILL');
      for (const answer of [await running, await copying])
        expect([answer.status, answer.json.code]).toEqual([502, 'backend_failed']);
      await works(server);
    } finally {
      await server.close();
    }
  });

  test('sends everything to a client that reads slowly, without buffering it', async () => {
    const server = await start(DUCKDB);
    try {
      const socket = openQuery(server, 'big', { ordered: false }, 'application/x-ndjson');
      const before = process.memoryUsage();
      await sleep(1200);
      const { heapUsed, external } = process.memoryUsage();
      // The answer is about 35 MB; what the collector has not freed yet counts too.
      expect(heapUsed + external - before.heapUsed - before.external).toBeLessThan(25e6);
      const parts: Buffer[] = [];
      for await (const data of socket) parts.push(data);
      // The chunk headers are removed first, because they may split an edge.
      const text = Buffer.concat(parts)
        .toString('latin1')
        .replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
      const edges = text.split('{"edge_label"').length - 1;
      expect(edges).toBe(BIG_ROWS);
      const small = await query(server, 'big', { limit: 3 }, { accept: 'application/x-ndjson' });
      const lines = small.text.trimEnd().split('\n');
      expect([small.headers.get('content-type'), lines.length]).toEqual([NDJSON['content-type'], 3]);
      expect(JSON.parse(lines[2]!)).toMatchObject({ edge_label: 'T', event_ts: 1002 });
    } finally {
      await server.close();
    }
  });

  test('lets an answer that is being sent finish before the service stops', async () => {
    const server = await start(DUCKDB);
    try {
      await works(server);
      const sending = query(server, 'big', { ordered: false });
      await sleep(100);
      await server.service.close(30_000);
      const { status, json } = await sending;
      expect([status, json.count, json.hyperedges.length, json.cached]).toEqual([200, BIG_ROWS, BIG_ROWS, false]);
    } finally {
      await server.close();
    }
  });

  test('ends a stream when its client disconnects', async () => {
    const server = await start(DUCKDB);
    try {
      const sockets = Array.from({ length: 6 }, () =>
        openQuery(server, 'slow', { ordered: false }, 'application/x-ndjson'),
      );
      await sleep(500);
      for (const socket of sockets) socket.destroy();
      await works(server);
    } finally {
      await server.close();
    }
  });
});

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  test('answers 502 after it was killed, and serves again when it is back', async () => {
    const server = await start(backends[1]![1]);
    try {
      await works(server);
      const running = query(server, 'slow', { query: NOTHING });
      await sleep(300);
      await postgres!.kill();
      const cut = await running;
      expect([cut.status, cut.json.code]).toEqual([502, 'backend_failed']);
      expect(cut.text).not.toContain(postgres!.password);
      const gone = await query(server, 'few', { refresh: true });
      expect([gone.status, gone.json.code]).toEqual([502, 'backend_failed']);
      await postgres!.start();
      await works(server);
      expect(server.errors.join()).not.toContain(postgres!.password);
    } finally {
      await server.close();
    }
  });

  test('finds a table that was created a moment ago', async () => {
    const server = await start(backends[1]![1]);
    try {
      await works(server);
      await send(server, 'POST', '/v1/virtual/graphs', specOf('fresh', backends[1]![1]));
      expect((await query(server, 'fresh')).status).toBe(400);
      await postgres!.run('CREATE TABLE fresh AS SELECT * FROM few');
      expect((await query(server, 'fresh')).json.count).toBe(5);
    } finally {
      await server.close();
    }
  });
});

describe('the cache', () => {
  const csv = { type: 'csv', path: 'changing.csv' };
  const write = (rows: number) => {
    const lines = Array.from({ length: rows }, (_, n) => `${1000 + n},${n},${n + 1}\n`).join('');
    return writeFile(join(root, 'changing.csv'), `ts,a,b\n${lines}`);
  };

  test('notices when a file has changed, and can be disabled', async () => {
    const on = await startServer({ virtualRoot: root });
    const off = await startServer({ virtualRoot: root, virtualCache: false });
    const ask = async (server: TestServer) => {
      const { count, cached, cache_enabled } = (await query(server, 'c')).json;
      return [count, cached, cache_enabled];
    };
    try {
      await write(3);
      for (const server of [on, off]) await send(server, 'POST', '/v1/virtual/graphs', specOf('changing', csv, 'c'));
      expect([await ask(on), await ask(on)]).toEqual([
        [3, false, true],
        [3, true, true],
      ]);
      expect([await ask(off), await ask(off)]).toEqual([
        [3, false, false],
        [3, false, false],
      ]);
      expect((await send(off, 'DELETE', '/v1/virtual/graphs/c/cache')).json).toEqual({ id: 'c', cleared: 0 });
      await write(4);
      expect([await ask(on), await ask(off)]).toEqual([
        [4, false, true],
        [4, false, false],
      ]);
      // Only the timestamp of the file changes, but its content could have changed too.
      await utimes(join(root, 'changing.csv'), 1_600_000_000, 1_600_000_000);
      expect([await ask(on), await ask(on)]).toEqual([
        [4, false, true],
        [4, true, true],
      ]);
    } finally {
      await on.close();
      await off.close();
    }
  });
});

test('the service starts without the package of DuckDB, and every route names the package to install', async () => {
  const server = await startServer({ auth: true, virtualRoot: root, installed: () => false });
  try {
    const body = specOf('few', backends[0][1]);
    const routes: [method: string, path: string, ...bodies: unknown[]][] = [
      ['GET', 'backends'],
      ['POST', 'propose', { backend: body.backend }, { backend: body.backend, save: true }, {}, '{'],
      ['GET', 'graphs'],
      ['POST', 'graphs', body, {}, '{'],
      ['GET', 'graphs/few'],
      ['PUT', 'graphs/few', body, {}],
      ['DELETE', 'graphs/few'],
      ['DELETE', 'graphs/few/cache'],
      ['GET', 'graphs/few/introspect'],
      ['POST', 'graphs/few/compile', { query: ALL }, {}],
      ['POST', 'graphs/few/query', { query: ALL }, {}, '{'],
      ['POST', 'graphs/few/materialize', { query: ALL, table: 'x' }, {}],
    ];
    for (const [method, path, ...bodies] of routes) {
      for (const one of bodies.length === 0 ? [undefined] : bodies) {
        const headers = { 'x-api-key': server.keys.readwrite };
        const { status, json } = await send(server, method, `/v1/virtual/${path}`, one, headers);
        expect([path, status, json.code]).toEqual([path, 404, 'virtual_unavailable']);
        expect(json.detail).toContain('@duckdb/node-api');
      }
      expect((await send(server, method, `/v1/virtual/${path}`, bodies[0])).status).toBe(401);
    }
    const tables = await send(server, 'GET', '/v1/tables', undefined, { 'x-api-key': server.keys.readonly });
    expect(tables.status).toBe(200);
  } finally {
    await server.close();
  }
});
