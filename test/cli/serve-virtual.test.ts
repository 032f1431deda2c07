// `hedgerow serve-virtual`: the service of virtual graphs without keys and database, its spec
// files, its routes and its refusals.

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ServeVirtualFlags, serveVirtual } from '../../src/cli/serve-virtual.ts';
import { HedgerowClient } from '../../src/client/index.ts';
import { DUCKDB_MISSING, openDuckDb } from '../support/duckdb.ts';
import { TestWorld } from './support.ts';
import { CSV_TRIPS, DUCKDB_TRIPS, writeTrips } from './virtual-files.ts';

const duckdb = await openDuckDb();
duckdb?.close();
if (duckdb === undefined) process.stderr.write(`hedgerow serve-virtual: skipped, ${DUCKDB_MISSING}\n`);

const testInstalled = test.skipIf(duckdb === undefined);

const ALL = 'MATCH (t:Trip){origin:Place} RETURN t';

let world: TestWorld;
beforeEach(async () => {
  world = new TestWorld();
  // The log is written to the standard error of this process.
  world.environment = { HEDGEROW_LOG_LEVEL: 'error' };
  await writeTrips(world.path('graphs'));
});
afterEach(() => world.remove());

interface Running {
  readonly url: string;
  readonly client: HedgerowClient;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
}

async function start(flags: ServeVirtualFlags = {}): Promise<Running> {
  world.out = '';
  const ended = serveVirtual({ specDir: 'graphs', port: '0', ...flags }, world);
  let code: number | undefined;
  void ended.then((value) => {
    code = value;
  });
  while (!world.out.includes('files below')) {
    if (code !== undefined) throw new Error(`ended with ${code}: ${world.err}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const url = /listening on (\S+)/.exec(world.out)![1]!;
  const stop = () => {
    world.interrupt?.();
    return ended;
  };
  return { url, client: new HedgerowClient({ url, maxAttempts: 1 }), stop };
}

/** Returns the exit code of a start that must be refused. */
async function refused(flags: ServeVirtualFlags): Promise<number> {
  world.err = '';
  const code = await serveVirtual({ port: '0', ...flags }, world);
  expect(world.err.trimEnd().split('\n')).toHaveLength(1);
  return code;
}

describe.skipIf(duckdb === undefined)('serve-virtual', () => {
  test('answers the routes of virtual graphs without a key, and stores specs as files', async () => {
    const { client, stop } = await start();
    expect(world.out).toContain(`hedgerow: 0 graphs in ${world.path('graphs')}, files below ${world.path('graphs')}\n`);
    const { virtual } = client;
    const stored = await virtual.create(CSV_TRIPS);
    expect(stored).toEqual({ ...CSV_TRIPS, spec_version: 1 });
    await virtual.create(DUCKDB_TRIPS);
    expect(JSON.parse(readFileSync(world.path('graphs/trips.json'), 'utf8'))).toEqual(stored);
    await expect(virtual.create(CSV_TRIPS)).rejects.toMatchObject({ statusCode: 409 });

    expect((await virtual.backends()).backends[0]).toMatchObject({ type: 'duckdb', available: true });
    const found = await virtual.query('trips', ALL);
    expect(found).toMatchObject({ count: 3, cached: false, cache_enabled: true });
    expect((await virtual.query('bank', ALL)).hyperedges.map(({ members }) => members)).toEqual(
      found.hyperedges.map(({ members }) => members),
    );
    expect((await virtual.query('trips', ALL)).cached).toBe(true);
    expect(await virtual.clearCache('trips')).toEqual({ id: 'trips', cleared: 1 });
    expect((await virtual.introspect('trips')).tables[0]!.name).toBe('trips');
    expect((await virtual.compile('trips', ALL)).plan.edge_label).toBe('Trip');
    expect((await virtual.propose({ backend: CSV_TRIPS.backend, id: 'found', save: true })).saved).toBe(true);

    expect((await virtual.replace('trips', { ...CSV_TRIPS, name: 'New' })).spec_version).toBe(2);
    expect(JSON.parse(readFileSync(world.path('graphs/trips.json'), 'utf8'))).toMatchObject({
      name: 'New',
      spec_version: 2,
    });
    expect(await virtual.delete('found')).toEqual({ id: 'found', deleted: true });
    expect(readdirSync(world.path('graphs')).sort()).toEqual(['bank.json', 'trips.csv', 'trips.duckdb', 'trips.json']);
    expect(await stop()).toBe(0);
  });

  test('loads stored specs and specs written by a person at the next start', async () => {
    let running = await start();
    await running.client.virtual.create(CSV_TRIPS);
    await running.client.virtual.replace('trips', CSV_TRIPS);
    await running.stop();
    world.file('graphs/bank.json', JSON.stringify(DUCKDB_TRIPS));
    running = await start();
    expect(world.out).toContain('2 graphs in');
    const { graphs } = await running.client.virtual.list();
    expect(graphs.map(({ id, spec_version }) => [id, spec_version])).toEqual([
      ['bank', 1],
      ['trips', 2],
    ]);
    await running.stop();
  });

  test('reads files of backends below --root and nowhere else', async () => {
    mkdirSync(world.path('specs'));
    const { client, stop } = await start({ specDir: 'specs', root: 'graphs' });
    await client.virtual.create(CSV_TRIPS);
    expect((await client.virtual.query('trips', ALL)).count).toBe(3);
    const outside = { ...CSV_TRIPS, id: 'out', backend: { type: 'csv', path: '../specs/trips.json' } } as const;
    await expect(client.virtual.create(outside)).rejects.toMatchObject({ statusCode: 400 });
    expect(readdirSync(world.path('specs'))).toEqual(['trips.json']);
    await stop();
  });
});

testInstalled('health checks and API description are served, routes that need a database or keys are not', async () => {
  const { url, client, stop } = await start();
  const status = async (path: string, init?: RequestInit) => (await fetch(url + path, init)).status;
  expect(await status('/health/live')).toBe(200);
  expect(await status('/health/ready')).toBe(200);
  expect(await status('/docs')).toBe(200);
  for (const path of ['/health', '/metrics', '/v1/tables', '/v1/keys', '/v1/query', '/v1/hyperedges'])
    expect(await status(path), path).toBe(404);
  const body = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  expect(await status('/v1/virtual/graphs/trips/materialize', body)).toBe(404);
  expect(await status('/v1/virtual/graphs', { ...body, headers: { ...body.headers, 'idempotency-key': 'a' } })).toBe(
    400,
  );
  // Pages of other sites get no answer, because there are no keys to keep them out.
  const evil = { origin: 'https://evil.test' };
  for (const path of ['/v1/virtual/graphs', '/openapi.json', '/docs'])
    expect(await status(path, { headers: evil }), path).toBe(403);
  expect(await status('/v1/virtual/propose', { method: 'POST', body: new Blob(['{}']) })).toBe(415);

  const document = (await client.service.openapi()) as {
    paths: Record<string, object>;
  };
  const paths = Object.keys(document.paths);
  expect(paths.filter((path) => !path.startsWith('/v1/virtual/'))).toEqual([
    '/health/live',
    '/health/ready',
    '/openapi.json',
    '/docs',
    '/docs/{file}',
  ]);
  expect(paths.filter((path) => path.startsWith('/v1/virtual/'))).toHaveLength(8);
  expect(paths.filter((path) => path.endsWith('/materialize'))).toEqual([]);
  const text = JSON.stringify(document);
  for (const word of ['"401"', 'X-API-Key', 'parameters/IdempotencyKey']) expect(text.includes(word), word).toBe(false);
  expect(await stop()).toBe(0);
});

testInstalled('databases are named by environment variables, and their passwords are not shown', async () => {
  world.environment.HEDGEROW_VIRTUAL_DSN_GONE = 'postgres://someone:hunter2hunter2@127.0.0.1:1/nowhere';
  const { client, stop } = await start();
  const error = await client.virtual.propose({ backend: { type: 'postgres', dsn: 'GONE' } }).catch((thrown) => thrown);
  expect(error).toMatchObject({ statusCode: 502 });
  expect(error.detail).toMatch(/GONE.*cannot be reached/);
  expect(error.detail).not.toMatch(/hunter2|someone/);
  await expect(client.virtual.propose({ backend: { type: 'postgres', dsn: 'OTHER' } })).rejects.toThrow(
    /HEDGEROW_VIRTUAL_DSN_OTHER/,
  );
  await stop();
});

test('a wrong spec stops the start with its file and the position in it', async () => {
  const cases: [string, unknown, RegExp][] = [
    ['trips.json', '{"id": }', /graphs\/trips\.json is not JSON: line 1, column 8: found "}"/],
    ['rows.json', '[{"a": 1}]', /graphs\/rows\.json holds an array, not an object\. .*folder below/],
    ['trips.json', { ...CSV_TRIPS, edges: [{}] }, /trips\.json is not a spec: edges\[0\]\.label is missing/],
    ['trips.json', { ...CSV_TRIPS, backend: { type: 'csv', path: '/etc/x.csv' } }, /backend\.path leads out/],
    ['trips.json', { ...CSV_TRIPS, spec_version: 0 }, /trips\.json is not a spec: spec_version/],
    ['other.json', CSV_TRIPS, /other\.json has the id "trips": call the file trips\.json/],
  ];
  for (const [name, content, expected] of cases) {
    mkdirSync(world.path('bad'), { recursive: true });
    world.file('bad/good.csv', 'a\n1\n');
    const dir = `bad-${cases.findIndex((one) => one[1] === content)}/graphs`;
    mkdirSync(world.path(dir), { recursive: true });
    world.file(`${dir}/${name}`, typeof content === 'string' ? content : JSON.stringify(content));
    expect(await refused({ specDir: dir })).toBe(1);
    expect(world.err).toMatch(expected);
  }
});

testInstalled('a spec file that a person adds while the service runs is not overwritten', async () => {
  const { client, stop } = await start();
  world.file('graphs/trips.json', '{"mine": true}');
  const created = client.virtual.create(CSV_TRIPS);
  await expect(created).rejects.toMatchObject({ statusCode: 409 });
  expect(readFileSync(world.path('graphs/trips.json'), 'utf8')).toBe('{"mine": true}');
  await stop();
});

testInstalled('the service can be reached only from this machine', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.0.0.1.example.com']) {
    expect(await refused({ specDir: 'graphs', host }), host).toBe(2);
    expect(world.err).toMatch(/other machines can reach/);
  }
  // Settings of the service with keys do not open this service to other machines either.
  world.environment.HEDGEROW_HOST = '0.0.0.0';
  world.environment.HEDGEROW_ALLOW_INSECURE = '1';
  const { url, stop } = await start();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await stop();
});

test('a wrong call is reported with advice', async () => {
  expect(await refused({})).toBe(2);
  expect(world.err).toMatch(/--spec-dir DIR/);
  expect(await refused({ specDir: 'nowhere' })).toBe(1);
  expect(world.err).toMatch(/no directory nowhere/);
  expect(await refused({ specDir: 'graphs', root: 'nowhere' })).toBe(1);
  expect(await refused({ specDir: 'graphs/trips.csv' })).toBe(1);
  expect(world.err).toMatch(/no directory graphs\/trips\.csv/);
  expect(await refused({ specDir: 'graphs', port: 'x' })).toBe(2);
  expect(world.err).toMatch(/port/i);
  expect(existsSync(world.path('nowhere'))).toBe(false);
});
