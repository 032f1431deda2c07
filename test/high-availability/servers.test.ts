// Servers that share a log in PostgreSQL, as processes of their own: who leads, what the others
// answer, how a new one begins, and what is refused.

import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type ChildOptions, type ChildServer, runCommand, startChild } from '../service/child.ts';
import { startPostgres } from '../support/postgres.ts';
import { newSchema, runIn } from '../support/postgres-log.ts';

const server = await startPostgres({ settings: ['max_connections=100'] });
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => server?.stop());

const logOf = (dsn: string) => ({ HEDGEROW_LOG: 'postgres', HEDGEROW_LOG_DSN: dsn });

async function start(dsn: string, options: ChildOptions = {}): Promise<ChildServer> {
  const child = await startChild({ ...options, environment: { ...logOf(dsn), ...options.environment } });
  ends.push(() => child.ended ?? child.stop());
  return child;
}

interface Got {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many forms.
  readonly json: any;
}

async function call(
  { url }: ChildServer,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Got> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: { 'x-api-key': ADMIN_KEY, ...type, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('/json') === true;
  return { status: answer.status, headers: answer.headers, json: isJson ? JSON.parse(text) : text };
}

const ask = (child: ChildServer, query: string, headers: Record<string, string> = {}) =>
  call(child, '/v1/query', { query }, headers);

const insert = (child: ChildServer, time: number, headers: Record<string, string> = {}) =>
  call(child, '/v1/hyperedges', { event_ts: time, members: [time, time + 1] }, headers);

/** Inserts until it is acknowledged; refusals must be 503. */
async function insertSoon(child: ChildServer, time: number): Promise<Got> {
  for (;;) {
    const answer = await insert(child, time, { 'idempotency-key': `edge-${time}` });
    if (answer.status === 201) return answer;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  }
}

async function role(child: ChildServer): Promise<string> {
  const { status, json } = await call(child, '/health');
  return status === 200 ? json.role : '';
}

async function untilRole(child: ChildServer, wanted: string): Promise<void> {
  while ((await role(child)) !== wanted) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Returns a digest of all rows once a server has the LSN. */
async function digest(child: ChildServer, lsn: string): Promise<string> {
  const headers = { 'x-min-lsn': lsn, accept: 'application/x-ndjson' };
  const { status, json } = await call(child, '/v1/hyperedges?start_ts=0&end_ts=9000000000', undefined, headers);
  expect(status).toBe(200);
  return createHash('sha256').update(JSON.stringify(json)).digest('hex');
}

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-ha-test-'));
  ends.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

describe.skipIf(server === undefined)('servers with one log', () => {
  test('one leads, the others follow and pass writes on; another takes over when it ends', async () => {
    const dsn = await newSchema(server!);
    const first = await start(dsn, { dir: await folder() });
    await untilRole(first, 'leader');
    const second = await start(dsn);
    const { json: health } = await call(second, '/health');
    expect(health).toMatchObject({ role: 'follower', leader: first.url, follow_problem: null });
    for (let time = 0; time < 20; time++) {
      const written = await insert(second, time);
      expect(written.status).toBe(201);
      const seen = { 'x-min-lsn': written.headers.get('x-hedgerow-lsn')! };
      for (const child of [second, first])
        expect((await call(child, `/v1/hyperedges/${written.json.id}`, undefined, seen)).status).toBe(200);
    }
    const key = { 'idempotency-key': 'once' };
    const once = await insert(second, 100, key);
    await first.stop();
    await untilRole(second, 'leader');
    const again = await insert(second, 100, key);
    expect([again.json, again.headers.get('idempotent-replayed')]).toEqual([once.json, 'true']);
    const { headers } = await insert(second, 101);
    const back = await start(dsn, { dir: first.dir });
    const lsn = headers.get('x-hedgerow-lsn')!;
    expect(await digest(back, lsn)).toBe(await digest(second, lsn));
    expect(await role(back)).toBe('follower');
    const status = await runCommand(['ha', 'status', '--json'], { HEDGEROW_LOG_DSN: dsn });
    expect(JSON.parse(status.output.out)).toMatchObject({ leader: { url: second.url }, snapshot: null });
    const text = await runCommand(['ha', 'status'], { HEDGEROW_LOG_DSN: dsn });
    expect(text.output.out).toMatch(/leader +http:.*\nepoch/);
    expect(text.output.out).toContain(`${back.url}  follower`);
    expect(second.output.error + text.output.error).not.toContain(server!.password);
  });

  test('a transaction ends with its leader, whichever server its statements were sent to', async () => {
    const dsn = await newSchema(server!);
    const leader = await start(dsn);
    await untilRole(leader, 'leader');
    const follower = await start(dsn);
    const session = { 'x-session-id': 'one' };
    expect((await ask(follower, 'BEGIN', session)).status).toBe(200);
    const into = 'INSERT INTO hyperedges (event_ts, members) VALUES (1, [2])';
    expect((await ask(follower, into, session)).status).toBe(200);
    await leader.stop('SIGKILL');
    await untilRole(follower, 'leader');
    expect((await ask(follower, into, session)).json).toMatchObject({ code: 'transaction_expired' });
    expect((await ask(follower, 'COMMIT', session)).json).toMatchObject({ code: 'transaction_expired' });
    expect((await ask(follower, 'ROLLBACK', session)).status).toBe(200);
    expect((await ask(follower, 'MATCH (e:hyperedges) RETURN count(*) AS n')).json.rows).toEqual([{ n: 0 }]);
  });

  test.each(['PostgreSQL', 'a directory'])('a new server begins with a snapshot in %s', async (place) => {
    const dsn = await newSchema(server!);
    const shared = await folder();
    const environment = {
      HEDGEROW_SNAPSHOT_LOG_MB: '1',
      HEDGEROW_CHANGES_KEEP_MB: '1',
      ...(place === 'PostgreSQL' ? {} : { HEDGEROW_SNAPSHOT_DIR: shared }),
    };
    const leader = await start(dsn, { environment });
    await untilRole(leader, 'leader');
    const note = 'n'.repeat(2000);
    expect((await ask(leader, 'ALTER TABLE hyperedges ADD COLUMN note TEXT')).status).toBe(200);
    let lsn = '';
    for (let part = 0; part < 8; part++) {
      const items = Array.from(
        { length: 500 },
        (_, index) => `{"event_ts":${part * 500 + index},"members":[1,${index}],"note":"${note}"}`,
      );
      const answer = await fetch(`${leader.url}/v1/hyperedges`, {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/x-ndjson' },
        body: `${items.join('\n')}\n`,
      });
      expect(answer.status, await answer.text()).toBeLessThan(300);
      lsn = answer.headers.get('x-hedgerow-lsn')!;
    }
    const oldest = async () => Number((await runIn(dsn, 'SELECT min(first_lsn) FROM hedgerow_log'))[0]![0]);
    while ((await oldest()) === 1) await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await readdir(shared)).length).toBe(place === 'PostgreSQL' ? 0 : 1);
    const objects = await runIn(dsn, 'SELECT count(object), count(file) FROM hedgerow_snapshot');
    expect(objects).toEqual([place === 'PostgreSQL' ? ['1', '0'] : ['0', '1']]);
    const next = await start(dsn, { environment });
    expect(next.output.error).toContain('starting from a snapshot');
    expect(await digest(next, lsn)).toBe(await digest(leader, lsn));
    await leader.stop('SIGKILL');
    await insertSoon(next, 9000);
  });

  test('while PostgreSQL is away, reads go on and writes are answered 503; then all goes on', async () => {
    const own = (await startPostgres())!;
    ends.push(() => own.stop());
    const dsn = await newSchema(own);
    const leader = await start(dsn);
    await untilRole(leader, 'leader');
    const follower = await start(dsn);
    const { headers } = await insertSoon(leader, 1);
    await digest(follower, headers.get('x-hedgerow-lsn')!);
    await own.kill();
    for (const child of [leader, follower]) {
      const refused = await insert(child, 2, { 'idempotency-key': 'two' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await call(child, '/v1/hyperedges?start_ts=0&end_ts=10')).json.hyperedges.length).toBe(1);
    }
    await own.start();
    const written = await insertSoon(follower, 3);
    const lsn = written.headers.get('x-hedgerow-lsn')!;
    await untilRole(leader, (await role(follower)) === 'leader' ? 'follower' : 'leader');
    expect(await digest(leader, lsn)).toBe(await digest(follower, lsn));
  });

  test('are refused with the wrong directory, without tables, and if commits are not durable', async () => {
    const dsn = await newSchema(server!);
    const dir = await folder();
    const failure = async (environment: Record<string, string>) => {
      const { code, output } = await runCommand(['serve', '--data', dir, '--port', '0'], environment);
      expect(code).toBe(1);
      return output.error;
    };
    await (await start(dsn, { dir })).stop();
    expect(await failure(logOf(await newSchema(server!)))).toContain('belongs to the database');
    expect(await failure({})).toMatch(/The log of .* is in PostgreSQL/);
    expect(await failure(logOf(`${dsn}%20-csynchronous_commit%3Doff`))).toContain('synchronous_commit = off');
    await server!.run('CREATE SCHEMA empty');
    const empty = `${server!.address}?options=-csearch_path%3Dempty`;
    expect(await failure(logOf(empty))).toContain('Run "hedgerow ha init"');
    const init = () => runCommand(['ha', 'init'], { HEDGEROW_LOG_DSN: empty });
    expect((await init()).output.out).toContain('were made (version 1)');
    expect((await init()).output.out).toContain('are up to date (version 1)');
    const files = await folder();
    await (await startChild({ dir: files })).stop();
    const { output } = await runCommand(['serve', '--data', files, '--port', '0'], logOf(dsn));
    expect(output.error).toContain('has a database with a log in files');
  });
});
