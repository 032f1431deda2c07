// Servers that follow another one, as processes of their own: what they answer, what they redirect
// or pass on, and that they hold the same data after either side was killed.

import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type ChildOptions, type ChildServer, startChild } from './child.ts';

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many forms.
  readonly json: any;
}

async function call(
  { url }: ChildServer,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  method = body === undefined ? 'GET' : 'POST',
): Promise<Got> {
  const type = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'x-api-key': ADMIN_KEY, ...(body === undefined ? {} : type), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('/json') === true;
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

const ask = (server: ChildServer, query: string, headers: Record<string, string> = {}) =>
  call(server, '/v1/query', { query }, headers);

function followerOf(leader: { url: string }, options: ChildOptions = {}, forwards = false): Promise<ChildServer> {
  return startChild({
    ...options,
    flags: ['--follow', leader.url, ...(forwards ? ['--forward-writes', '1'] : [])],
    environment: { HEDGEROW_FOLLOW_KEY: ADMIN_KEY },
  });
}

/** Resolves when a server has all writes of another one. */
async function caughtUp(follower: ChildServer, leader: ChildServer): Promise<void> {
  const { last_lsn: lsn } = (await call(leader, '/health')).json;
  for (;;) {
    const answer = await call(follower, '/v1/tables', undefined, { 'x-min-lsn': String(lsn) });
    if (answer.status === 200) return;
    expect(answer.status).toBe(503);
  }
}

/** Returns a digest of all rows of all tables. */
async function contentOf(server: ChildServer): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const { name } of (await call(server, '/v1/tables')).json) {
    const { text } = await call(server, `/v1/hyperedges?table=${name}&start_ts=0&end_ts=9000000000`, undefined, {
      accept: 'application/x-ndjson',
    });
    digests[name] = `${text.split('\n').length} ${createHash('sha256').update(text).digest('hex')}`;
  }
  return digests;
}

/** Passes connections on to the port that `portOf` returns at that moment. */
async function proxyTo(portOf: () => number): Promise<{ url: string; close: () => void }> {
  const proxy = createServer((socket) => {
    const upstream = connect(portOf(), '127.0.0.1');
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => proxy.close() };
}

describe('a server that follows another one', () => {
  let leader: ChildServer;
  let follower: ChildServer;
  let passing: ChildServer;
  beforeAll(async () => {
    leader = await startChild();
    for (let n = 0; n < 20; n++) await call(leader, '/v1/hyperedges', { event_ts: n, members: [n, n + 1] });
    await call(leader, '/v1/tables', { name: 'trips' });
    [follower, passing] = await Promise.all([followerOf(leader), followerOf(leader, {}, true)]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([follower, passing, leader].map((server) => server?.stop()));
  });

  test('answers reads as its leader does', async () => {
    await call(leader, '/v1/hyperedges', { event_ts: 100, members: [7, 8], table: 'trips' });
    await call(leader, '/v1/rules', {
      id: 'met',
      head: { pred: 'met', args: ['?A', '?B'] },
      body: [{ edge: '?E', members: ['?A', '?B'] }],
    });
    await caughtUp(follower, leader);
    for (const path of [
      '/v1/hyperedges?start_ts=0&end_ts=1000',
      '/v1/hyperedges/node/5',
      '/v1/hyperedges/3',
      '/v1/tables',
      '/v1/indexes',
      '/v1/rules',
      '/v1/keys',
      '/v1/virtual/graphs',
    ]) {
      const [own, other] = await Promise.all([call(leader, path), call(follower, path)]);
      const without = (text: string) => text.replace(/"(last_used_at|elapsed_us)":[^,}]*/g, '');
      expect(without(other.text), path).toBe(without(own.text));
      expect(other.status).toBe(own.status);
    }
    const count = 'MATCH (e:hyperedges) RETURN count(*)';
    expect((await ask(follower, count)).json.rows).toEqual((await ask(leader, count)).json.rows);
    expect(await contentOf(follower)).toEqual(await contentOf(leader));
  });

  test('redirects writes, and only writes', async () => {
    const insert = await call(follower, '/v1/hyperedges?x=1', { event_ts: 1, members: [1] });
    expect(insert.status).toBe(307);
    expect(insert.headers.get('location')).toBe(`${leader.url}/v1/hyperedges?x=1`);
    expect(insert.json.code).toBe('not_leader');
    const writes = [
      () => call(follower, '/v1/tables', { name: 'more' }),
      () => call(follower, '/v1/tables/trips', undefined, {}, 'DELETE'),
      () => call(follower, '/v1/keys', { role: 'readonly' }),
      () => call(follower, '/v1/batch', { statements: [] }),
      () => call(follower, '/v1/hyperedges/compact', {}),
      () => ask(follower, 'INSERT INTO hyperedges (event_ts, members) VALUES (1, [2])'),
      () => ask(follower, 'DELETE FROM hyperedges WHERE id = 1'),
      () => ask(follower, 'CREATE HYPEREDGE TABLE more ()'),
      () => ask(follower, 'CREATE HYPEREDGE TABLE IF NOT EXISTS trips ()'),
      () => ask(follower, 'DROP HYPEREDGE TABLE IF EXISTS nowhere'),
      () => ask(follower, 'COMPACT TABLE'),
      () => ask(follower, 'BEGIN'),
    ];
    for (const write of writes) {
      const answer = await write();
      expect(answer.status, answer.text).toBe(307);
      expect(answer.headers.get('location')).toContain(leader.url);
    }
    // The session of the key has a transaction at the leader now, as far as this server knows.
    expect((await ask(follower, 'MATCH (e:hyperedges) RETURN count(*)')).status).toBe(307);
    expect((await ask(follower, 'ROLLBACK')).status).toBe(307);
    expect((await ask(follower, 'MATCH (e:hyperedges) RETURN count(*)')).status).toBe(200);
    expect((await ask(follower, 'EXPLAIN DELETE FROM hyperedges WHERE id = 1')).status).toBe(200);
  });

  test('makes a backup of its own, and clears its own cache', async () => {
    const backup = await call(follower, '/v1/backup', {}, { 'idempotency-key': 'mine' });
    expect(backup.status, backup.text).toBe(200);
    expect(backup.json.path).toContain(follower.dir);
    const cleared = await call(follower, '/v1/virtual/graphs/none/cache', undefined, {}, 'DELETE');
    expect(cleared.json.code).toBe('graph_not_found');
  });

  test('passes writes on if it is asked to, and then sees them', async () => {
    for (let n = 0; n < 50; n++) {
      const insert = await call(passing, '/v1/hyperedges', { event_ts: 500 + n, members: [n] });
      expect(insert.status).toBe(201);
      const read = await call(passing, `/v1/hyperedges/${insert.json.id}`);
      expect({ table: 'hyperedges', ...read.json }).toEqual(insert.json);
    }
    const bad = await call(passing, '/v1/hyperedges', { event_ts: 'x', members: [] });
    expect(bad.status).toBe(400);
    expect((await ask(passing, 'INSERT INTO hyperedges (event_ts, members) VALUES (1, [2])')).status).toBe(200);
    const { plaintext_key: own } = (await call(passing, '/v1/keys', { role: 'readonly' })).json;
    expect((await call(passing, '/v1/tables', undefined, { 'x-api-key': own })).status).toBe(200);
    const key = { 'idempotency-key': 'once' };
    const first = await call(passing, '/v1/hyperedges', { event_ts: 600, members: [1] }, key);
    const again = await call(passing, '/v1/hyperedges', { event_ts: 600, members: [1] }, key);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('answers many reads that waited for the same write as its leader does', async () => {
    const paths = Array.from({ length: 20 }, (_, n) => `/v1/hyperedges?start_ts=${n % 7}&end_ts=${n * 3}`);
    const rowsOf = ({ status, json }: Got) => [status, json.hyperedges ?? json];
    const own = await Promise.all(paths.map((path) => call(leader, path)));
    for (const server of [passing, follower]) {
      const { last_lsn: lsn } = (await call(leader, '/health')).json;
      const waiting = paths.map((path) => call(server, path, undefined, { 'x-min-lsn': String(lsn + 1) }));
      await new Promise((resolve) => setTimeout(resolve, 100));
      await call(leader, '/v1/hyperedges', { event_ts: 2000, members: [1] });
      expect((await Promise.all(waiting)).map(rowsOf)).toEqual(own.map(rowsOf));
    }
  });

  test('passes all statements of a transaction on', async () => {
    const session = { 'x-session-id': 'one' };
    // A transaction that was begun at the leader is known to be there.
    const begun = { 'x-session-id': 'two' };
    await ask(leader, 'BEGIN', begun);
    await ask(leader, 'INSERT INTO trips (event_ts, members) VALUES (901, [1])', begun);
    const own = 'MATCH (e:trips) WHERE e.event_ts = 901 RETURN COUNT(*) AS n';
    expect((await ask(passing, own, begun)).json.rows).toEqual([{ n: 1 }]);
    expect((await ask(follower, own, begun)).json.code).toBe('not_leader');
    await ask(passing, 'ROLLBACK', begun);
    expect((await ask(passing, 'BEGIN', session)).json.rows[0].status).toBe('open');
    await ask(passing, 'INSERT INTO trips (event_ts, members) VALUES (900, [1])', session);
    const count = 'MATCH (e:trips) WHERE e.event_ts = 900 RETURN count(*) AS n';
    expect((await ask(passing, count, session)).json.rows).toEqual([{ n: 1 }]);
    expect((await ask(passing, count)).json.rows).toEqual([{ n: 0 }]);
    const commit = await ask(passing, 'COMMIT', session);
    expect(commit.json.rows[0].status).toBe('committed');
    const lsn = { 'x-min-lsn': commit.headers.get('x-hedgerow-lsn')! };
    expect((await ask(passing, count, lsn)).json.rows).toEqual([{ n: 1 }]);
  });

  test('knows the keys of its leader', async () => {
    const { plaintext_key: key, key_id: id } = (await call(leader, '/v1/keys', { role: 'readonly' })).json;
    await caughtUp(follower, leader);
    const own = { 'x-api-key': key as string };
    expect((await call(follower, '/v1/tables', undefined, own)).status).toBe(200);
    expect((await call(follower, '/v1/hyperedges', { event_ts: 1, members: [1] }, own)).status).toBe(403);
    await call(leader, `/v1/keys/${id}`, undefined, {}, 'DELETE');
    await caughtUp(follower, leader);
    expect((await call(follower, '/v1/tables', undefined, own)).status).toBe(401);
  });

  test('goes on with a cursor of its leader, and the other way round, while edges come and go', async () => {
    const path = '/v1/hyperedges?start_ts=1000&end_ts=2000&limit=7';
    const insert = (n: number) => call(leader, '/v1/hyperedges', { event_ts: 1000 + n, members: [n, 900] });
    for (let n = 0; n < 40; n++) await insert(n * 2);
    const expected = (await call(leader, path.replace('&limit=7', ''))).json.hyperedges;
    const servers = [leader, follower, passing, follower, leader, passing];
    const found: unknown[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page++) {
      const { status, json } = await call(servers[page]!, cursor === '' ? path : `${path}&cursor=${cursor}`);
      expect(status).toBe(200);
      found.push(...json.hyperedges);
      cursor = json.next_cursor;
      // The next server may have this page's state later than this one.
      await insert(page * 2 + 1);
      await call(
        leader,
        '/v1/hyperedges',
        { event_ts: 1000 + 78 - page * 2, members: [78 - page * 2, 900] },
        {},
        'DELETE',
      );
    }
    expect(found).toEqual(expected);
    const gone = (await call(follower, path)).json.next_cursor;
    await insert(1);
    await ask(leader, 'COMPACT hyperedges');
    const compacted = await call(leader, `${path}&cursor=${gone}`);
    expect(compacted.json).toMatchObject({ status: 410, code: 'cursor_gone' });
    expect((await call(follower, `${path}&cursor=${gone}`)).status).toBe(200);
    expect((await call(follower, `${path.replace('1000', '1001')}&cursor=${gone}`)).json.code).toBe('invalid_cursor');
  });

  test('says how far it is behind', async () => {
    await caughtUp(follower, leader);
    const health = (await call(follower, '/health')).json;
    expect(health).toMatchObject({ role: 'follower', leader: leader.url, lag_lsn: 0, follow_problem: null });
    expect((await call(leader, '/health')).json).toMatchObject({ role: 'leader', leader: null, lag_lsn: 0, lag_ms: 0 });
    expect((await call(follower, '/metrics')).text).toMatch(/^hedgerow_follower_lag_seconds /m);
    expect((await call(leader, '/metrics')).text).not.toMatch(/^hedgerow_follower_lag_seconds /m);
    const lag = (value: string) => call(follower, '/v1/tables', undefined, { 'x-max-lag-ms': value });
    expect((await lag('600000')).status).toBe(200);
    expect((await lag('x')).json).toMatchObject({ code: 'invalid_input' });
    leader.process.kill('SIGSTOP');
    try {
      let answer = await lag('1200');
      while (answer.status === 200) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        answer = await lag('1200');
      }
      expect(answer.json).toMatchObject({ status: 503, code: 'too_far_behind' });
    } finally {
      leader.process.kill('SIGCONT');
    }
    await caughtUp(follower, leader);
  });
});

describe('a follower and a leader that does not answer', () => {
  test('the follower begins when the leader is there', { timeout: 60_000 }, async () => {
    let leader: ChildServer | undefined;
    // Port 9 has no listener.
    const proxy = await proxyTo(() => leader?.port ?? 9);
    const starting = followerOf(proxy);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    leader = await startChild();
    const follower = await starting;
    expect((await call(follower, '/v1/tables')).status).toBe(200);
    await Promise.all([follower.stop(), leader.stop()]);
    proxy.close();
  });

  test('the follower ends, and tells clients that it does not know the outcome', { timeout: 60_000 }, async () => {
    const leader = await startChild();
    const follower = await followerOf(leader, {}, true);
    leader.process.kill('SIGSTOP');
    const pending = call(follower, '/v1/hyperedges', { event_ts: 1, members: [1] });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stopped = follower.stop();
    expect((await pending).json).toMatchObject({ status: 503, code: 'leader_unavailable' });
    expect((await pending).json.detail).toContain('not known');
    expect(await stopped).toBe('exit code 0');
    leader.process.kill('SIGCONT');
    await leader.stop();
  });

  test('a write that was never sent is said not to be carried out', { timeout: 60_000 }, async () => {
    const leader = await startChild();
    const follower = await followerOf(leader, {}, true);
    await leader.stop();
    const write = await call(follower, '/v1/hyperedges', { event_ts: 1, members: [1] });
    expect(write.json).toMatchObject({ status: 503, code: 'leader_unavailable' });
    expect(write.json.detail).toContain('was not carried out');
    await follower.stop();
  });
});

describe('servers that are killed', () => {
  test('lose no acknowledged write, and their followers hold the same', { timeout: 120_000 }, async () => {
    const dirs = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'hedgerow-follow-'))));
    let leader = await startChild({ dir: dirs[0]! });
    // The leader gets another port with every start, and its followers know one address.
    const proxy = await proxyTo(() => leader.port);
    let follower = await followerOf(proxy, { dir: dirs[1]! });
    const acknowledged = new Set<number>();
    let isOver = false;
    const write = async (client: number) => {
      for (let n = 0; !isOver; n++) {
        const eventTs = client * 1_000_000 + n;
        const sent = await call(leader, '/v1/hyperedges', { event_ts: eventTs, members: [client] }).catch(() => null);
        if (sent?.status === 201) acknowledged.add(eventTs);
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const clients = [1, 2, 3].map(write);
    const pause = () => new Promise((resolve) => setTimeout(resolve, 700));
    for (const victim of ['follower', 'leader', 'follower', 'leader'] as const) {
      await pause();
      if (victim === 'leader') {
        await leader.stop('SIGKILL');
        leader = await startChild({ dir: dirs[0]! });
      } else {
        await follower.stop('SIGKILL');
        follower = await followerOf(proxy, { dir: dirs[1]! });
      }
    }
    await pause();
    isOver = true;
    await Promise.all(clients);
    await caughtUp(follower, leader);
    expect(await contentOf(follower)).toEqual(await contentOf(leader));
    const { text } = await call(follower, '/v1/hyperedges?start_ts=0&end_ts=9000000000', undefined, {
      accept: 'application/x-ndjson',
    });
    const found = new Set(
      text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).event_ts as number])),
    );
    expect(acknowledged.size).toBeGreaterThan(100);
    expect([...acknowledged].filter((eventTs) => !found.has(eventTs))).toEqual([]);
    // A follower that was started while its leader is away does not know how far it is behind.
    await Promise.all([leader.stop('SIGKILL'), follower.stop()]);
    follower = await followerOf(proxy, { dir: dirs[1]! });
    expect((await call(follower, '/health')).json).toMatchObject({
      lag_ms: null,
      lag_lsn: null,
      status: 'degraded',
    });
    const stale = await call(follower, '/v1/tables', undefined, { 'x-max-lag-ms': '9000000000' });
    expect(stale.json).toMatchObject({ status: 503, code: 'too_far_behind' });
    // The follower's directory is that of a server that leads.
    await follower.stop();
    const promoted = await startChild({ dir: dirs[1]! });
    expect((await call(promoted, '/v1/hyperedges', { event_ts: 5, members: [5] })).status).toBe(201);
    await promoted.stop();
    proxy.close();
    await Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true })));
  });
});
