// A service with workers, as processes of their own: it must answer like one process, whichever
// worker a request reaches, and go on when a worker is killed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type ChildServer, startChild } from './child.ts';

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many forms.
  readonly json: any;
  readonly text: string;
}

interface Asked {
  readonly body?: unknown;
  readonly method?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Connections by server. Each is served by the worker that accepted it. */
const agents = new Map<string, Agent[]>();
const CONNECTIONS = 8;
let turn = 0;

/** Sends a request over the next of several connections. */
function call({ url }: { url: string }, path: string, asked: Asked = {}): Promise<Got> {
  const own =
    agents.get(url) ?? Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  agents.set(url, own);
  const { body, key = ADMIN_KEY, headers = {}, method = body === undefined ? 'GET' : 'POST' } = asked;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      agent: own[turn++ % CONNECTIONS]!,
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const isJson = String(answer.headers['content-type']).includes('/json');
        resolve({
          status: answer.statusCode!,
          headers: answer.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const ask = (server: ChildServer, query: string, asked: Asked = {}) =>
  call(server, '/v1/query', { ...asked, body: { query } });

async function workersOf(server: ChildServer): Promise<number[]> {
  const { json } = await call(server, '/health');
  return json.workers.map(({ pid }: { pid: number }) => pid);
}

const startWorkers = (environment: Record<string, string> = {}) =>
  startChild({ flags: ['--workers', '2'], environment });

for (const transport of ['uws', 'node'])
  describe(`a service with two workers over ${transport}`, () => {
    let server: ChildServer;
    beforeAll(async () => {
      server = await startWorkers({ HEDGEROW_TRANSPORT: transport });
    });
    afterAll(async () => {
      expect(await server.stop(), server.output.error).toBe('exit code 0');
    });

    test('names its workers, and leads', async () => {
      const { json } = await call(server, '/health');
      expect(json).toMatchObject({ role: 'leader', leader: null, lag_lsn: 0, status: 'ok' });
      expect(json.workers).toHaveLength(2);
      expect(json.workers.map(({ pid }: { pid: number }) => pid)).not.toContain(server.process.pid);
    });

    test('shows each acknowledged write to the next read, whichever worker it reaches', async () => {
      const rounds = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; n < 50; n++) {
          const node = 1000 + writer * 1000 + n;
          const body = { event_ts: n, members: [node, 7] };
          expect((await call(server, '/v1/hyperedges', { body })).status).toBe(201);
          const { json } = await call(server, `/v1/hyperedges/node/${node}`);
          expect(json.num_tuples).toBe(1);
        }
      });
      await Promise.all(rounds);
    });

    test('knows a key at once after it was made, and no more after it was revoked', async () => {
      for (let n = 0; n < 10; n++) {
        const made = await call(server, '/v1/keys', { body: { role: 'readwrite', description: `key ${n}` } });
        const { plaintext_key: key, key_id: id } = made.json;
        for (let use = 0; use < 3; use++) expect((await call(server, '/v1/tables', { key })).status).toBe(200);
        expect((await call(server, '/v1/hyperedges', { key, body: { event_ts: n, members: [1] } })).status).toBe(201);
        expect((await call(server, `/v1/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
        for (let use = 0; use < 3; use++) expect((await call(server, '/v1/tables', { key })).status).toBe(401);
      }
    });

    test('refuses an unknown key, and a role that is too low, while it waits for writes too', async () => {
      const { plaintext_key: key } = (await call(server, '/v1/keys', { body: { role: 'readonly' } })).json;
      const writes = Array.from({ length: 30 }, (_, n) =>
        call(server, '/v1/hyperedges', { body: { event_ts: n, members: [3] } }),
      );
      const refused = Array.from({ length: 30 }, async () => {
        expect((await call(server, '/v1/tables', { key: 'hgr_unknown' })).status).toBe(401);
        expect((await call(server, '/v1/tables', { key: null })).status).toBe(401);
        expect((await call(server, '/v1/hyperedges', { key, body: { event_ts: 1, members: [3] } })).status).toBe(403);
        expect((await call(server, '/v1/keys', { key })).status).toBe(403);
      });
      await Promise.all([...writes, ...refused]);
    });

    test('keeps a transaction of a key together, whichever workers its statements reach', async () => {
      for (let round = 0; round < 5; round++) {
        const { plaintext_key: key } = (await call(server, '/v1/keys', { body: { role: 'readwrite' } })).json;
        expect((await ask(server, 'BEGIN', { key })).status).toBe(200);
        for (let n = 0; n < 4; n++) {
          const members = `[${50_000 + round}]`;
          expect(
            (await ask(server, `INSERT INTO hyperedges (event_ts, members) VALUES (${n}, ${members})`, { key })).status,
          ).toBe(200);
          const mine = await ask(
            server,
            `MATCH (he:hyperedges) WHERE ${50_000 + round} IN he.members RETURN count(*)`,
            {
              key,
            },
          );
          expect(mine.json.rows).toEqual([{ 'count(*)': n + 1 }]);
          const others = await ask(
            server,
            `MATCH (he:hyperedges) WHERE ${50_000 + round} IN he.members RETURN count(*)`,
          );
          expect(others.json.rows).toEqual([{ 'count(*)': 0 }]);
        }
        expect((await ask(server, 'COMMIT', { key })).status).toBe(200);
        const after = await ask(server, `MATCH (he:hyperedges) WHERE ${50_000 + round} IN he.members RETURN count(*)`);
        expect(after.json.rows).toEqual([{ 'count(*)': 4 }]);
      }
    });

    test('keeps a transaction of a named session together', async () => {
      const headers = { 'x-session-id': 'one' };
      await ask(server, 'BEGIN', { headers });
      await ask(server, 'INSERT INTO hyperedges (event_ts, members) VALUES (1, [60000])', { headers });
      for (let n = 0; n < 4; n++) {
        const mine = await ask(server, 'MATCH (he:hyperedges) WHERE 60000 IN he.members RETURN count(*)', { headers });
        expect(mine.json.rows).toEqual([{ 'count(*)': 1 }]);
      }
      expect((await ask(server, 'ROLLBACK', { headers })).status).toBe(200);
    });

    test('repeats the answer to an Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'once' };
      const body = { event_ts: 5, members: [7000] };
      const first = await call(server, '/v1/hyperedges', { body, headers });
      for (let n = 0; n < 4; n++) {
        const again = await call(server, '/v1/hyperedges', { body, headers });
        expect(again.json).toEqual(first.json);
        expect(again.headers['idempotent-replayed']).toBe('true');
      }
    });

    test('repeats the answer to an Idempotency-Key to several at a time', async () => {
      for (let round = 0; round < 5; round++) {
        const headers = { 'idempotency-key': `several ${round}` };
        const body = { event_ts: 6, members: [70_001] };
        const first = await call(server, '/v1/hyperedges', { body, headers });
        const again = await Promise.all([1, 2, 3, 4].map(() => call(server, '/v1/hyperedges', { body, headers })));
        expect(again.map(({ status, json }) => [status, json.id])).toEqual(Array(4).fill([201, first.json.id]));
      }
    });

    test('shows a write to those who read changes, as soon as it is acknowledged', async () => {
      for (let n = 0; n < 30; n++) {
        const wrote = await call(server, '/v1/hyperedges', { body: { event_ts: n, members: [70_002] } });
        const lsn = Number(wrote.headers['x-hedgerow-lsn']);
        const { text } = await call(server, `/v1/changes?from_lsn=${lsn - 1}`);
        expect(text).toContain(`"lsn":${lsn}`);
      }
    });

    test('makes no entry of a backup in the audit log when a worker starts', async () => {
      const lines = readFileSync(`${server.dir}/audit.log`, 'utf8');
      expect(lines).toContain('key.created');
      expect(lines).not.toContain('backup.created');
      expect(lines).toContain('127.0.0.1');
    });

    test('continues a cursor at another worker', async () => {
      for (let n = 0; n < 30; n++)
        await call(server, '/v1/hyperedges', { body: { event_ts: 90_000 + n, members: [80_000] } });
      const ids: number[] = [];
      let cursor = '';
      do {
        const { json } = await call(server, `/v1/hyperedges/node/80000?limit=7${cursor}`);
        for (const { id } of json.hyperedges) ids.push(id);
        cursor = json.next_cursor === null ? '' : `&cursor=${encodeURIComponent(json.next_cursor)}`;
      } while (cursor !== '');
      expect(new Set(ids).size).toBe(30);
    });

    test('returns a past interaction, whichever worker was asked', async () => {
      const asked = await call(server, '/v1/rag/query', {
        body: { query: 'How many events are there?', mode: 'symbolic' },
      });
      expect(asked.status).toBe(200);
      for (let n = 0; n < 4; n++)
        expect((await call(server, `/v1/rag/interactions/${asked.json.interaction_id}`)).status).toBe(200);
      expect((await call(server, '/v1/rag/interactions/none')).status).toBe(404);
    });

    test('counts the requests of all workers in its metrics, and its data once', async () => {
      const before = await call(server, '/metrics');
      const countOf = (text: string, line: string) =>
        Number(
          text
            .split('\n')
            .find((each) => each.startsWith(line))!
            .split(' ')[1],
        );
      const line = 'hedgerow_http_requests_total{method="GET",route="/v1/tables",status_class="2xx"}';
      for (let n = 0; n < 16; n++) await call(server, '/v1/tables');
      const { text } = await call(server, '/metrics');
      expect(countOf(text, line) - countOf(before.text, line)).toBe(16);
      const { json } = await call(server, '/health');
      expect(countOf(text, 'hedgerow_records_total')).toBe(json.total_records);
    });

    test('streams a long answer, and takes a long body', async () => {
      const edges = Array.from({ length: 20_000 }, (_, n) => ({ event_ts: n, members: [9000, n] }));
      const text = edges.map((edge) => JSON.stringify(edge)).join('\n');
      const answer = await fetch(`${server.url}/v1/hyperedges`, {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/x-ndjson' },
        body: text,
      });
      expect(answer.status).toBe(201);
      const all = await call(server, '/v1/hyperedges?start_ts=0&end_ts=20000', {
        headers: { accept: 'application/x-ndjson' },
      });
      expect(all.text.split('\n').length).toBeGreaterThan(20_000);
    });

    test('goes on when a worker is killed, and starts another one', async () => {
      const counted = async () => {
        const { text } = await call(server, '/metrics');
        return Number(
          /^hedgerow_http_requests_total\{method="GET",route="\/v1\/tables",status_class="2xx"\} (\d+)/m.exec(
            text,
          )?.[1] ?? 0,
        );
      };
      const before = await counted();
      const [first] = await workersOf(server);
      process.kill(first!, 'SIGKILL');
      let pids: number[] = [];
      while (pids.length < 2 || pids.includes(first!)) pids = await workersOf(server).catch(() => []);
      for (let n = 0; n < 16; n++) {
        const wrote = await call(server, '/v1/hyperedges', { body: { event_ts: n, members: [9500] } }).catch(
          () => undefined,
        );
        if (wrote !== undefined) expect(wrote.status).toBe(201);
      }
      expect((await call(server, '/health')).json.status).toBe('ok');
      expect(await counted()).toBeGreaterThanOrEqual(before);
    });
  });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a service with workers', () => {
  test('limits the requests of a key together', async () => {
    const server = await startWorkers({ HEDGEROW_RATE_LIMIT_QPM: '60' });
    try {
      let passed = 0;
      // In rounds, because the workers tell each other every tenth of a second what was used.
      for (let round = 0; round < 30; round++) {
        const answers = await Promise.all(Array.from({ length: 4 }, () => call(server, '/v1/tables')));
        passed += answers.filter(({ status }) => status === 200).length;
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      // 60 at once, those that come back meanwhile, and some before the workers knew of each other.
      expect(passed).toBeGreaterThanOrEqual(60);
      expect(passed).toBeLessThan(90);
    } finally {
      await server.stop();
    }
  });

  test('ends a worker that is stopped, and starts another one', async () => {
    const server = await startWorkers();
    try {
      const [first] = await workersOf(server);
      process.kill(first!, 'SIGSTOP');
      // Until then, connections that the kernel gives to the stopped worker are not answered.
      while (isAlive(first!)) await new Promise((resolve) => setTimeout(resolve, 100));
      let pids: number[] = [];
      while (pids.length < 2) pids = await workersOf(server).catch(() => []);
      expect(pids).not.toContain(first);
      for (let n = 0; n < 8; n++)
        expect((await call(server, '/v1/hyperedges', { body: { event_ts: n, members: [1] } })).status).toBe(201);
      expect(server.output.error).toContain('a worker gives no sign of life; ending it');
      expect((await call(server, '/health')).json.status).toBe('ok');
    } finally {
      await server.stop();
    }
  });

  test('opens what it has written with another number of workers, and without', async () => {
    const first = await startWorkers();
    const { dir } = first;
    try {
      await call(first, '/v1/hyperedges', { body: { event_ts: 1, members: [1, 2] } });
      first.process.kill('SIGKILL');
      while (first.ended === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
      const second = await startChild({ dir, flags: ['--workers', '1'] });
      expect((await call(second, '/v1/hyperedges/node/2')).json.num_tuples).toBe(1);
      expect(readdirSync(`${dir}/workers`)).toEqual(['1']);
      await call(second, '/v1/hyperedges', { body: { event_ts: 2, members: [1, 3] } });
      expect(await second.stop(), second.output.error).toBe('exit code 0');
      const third = await startChild({ dir });
      expect((await call(third, '/v1/hyperedges/node/1')).json.num_tuples).toBe(2);
      expect((await call(third, '/health')).json.workers).toEqual([]);
      await third.stop();
      expect(existsSync(`${dir}/manifest`)).toBe(true);
    } finally {
      await first.stop();
    }
  });

  test('ends its workers when it is killed', async () => {
    const server = await startWorkers();
    const pids = await workersOf(server);
    await server.stop('SIGKILL');
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('does not share its port with another service', async () => {
    const server = await startWorkers();
    try {
      await expect(startChild({ flags: ['--workers', '1', '--port', String(server.port)] })).rejects.toThrow('in use');
      await expect(startChild({ flags: ['--port', String(server.port)] })).rejects.toThrow('in use');
    } finally {
      await server.stop();
    }
  });
});
