// Tests statements over HTTP: streams that outlive their statement, retries of COMMIT and of
// definitions, and batches that conflict with other commits.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { type Answer, manyEdges, NDJSON, openSocket, send, sleep, startServer, type TestServer } from './support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  for (let from = 0; from < 150_000; from += 50_000)
    await send(server, 'POST', '/v1/hyperedges', manyEdges(50_000, from), NDJSON);
});

afterAll(() => server.close());

function run(query: string, headers: Record<string, string> = {}): Promise<Answer> {
  return send(server, 'POST', '/v1/query', { query }, headers);
}

const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

async function count(table: string): Promise<number> {
  return (await run(`MATCH (e:${table}) RETURN count(*) AS n`)).json.rows[0].n;
}

describe('rows that are streamed from a transaction', () => {
  const all = JSON.stringify({ query: 'MATCH (e:hyperedges) RETURN *' });

  test.each(['application/json', 'application/x-ndjson'])(
    'keep their session busy until their client has disconnected: %s',
    async (accept) => {
      const headers = { 'x-session-id': accept };
      await run('BEGIN', headers);
      const socket = await openSocket(server);
      socket.write(
        `POST /v1/query HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nX-Session-Id: ${accept}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${all.length}\r\n\r\n${all}`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      // The client stops reading, so the stream waits for space in the socket's buffer.
      socket.pause();
      for (const query of ['COMMIT', 'ROLLBACK', 'DELETE FROM hyperedges WHERE event_ts = 1']) {
        const { status, json } = await run(query, headers);
        expect([status, json.code]).toEqual([409, 'conflict']);
        expect(json.detail).toContain('still');
      }
      expect((await run('SHOW TABLES', { 'x-session-id': 'another' })).status).toBe(200);
      socket.destroy();
      let answer = await run('COMMIT', headers);
      for (let tries = 0; tries < 500 && answer.status === 409; tries++) {
        await sleep(20);
        answer = await run('COMMIT', headers);
      }
      expect(answer.json.rows[0]).toMatchObject({ status: 'committed' });
    },
  );

  test('release their session with the last row', async () => {
    const headers = { 'x-session-id': 'whole' };
    await run('BEGIN', headers);
    const { json } = await run('MATCH (e:hyperedges) RETURN e.id', headers);
    expect(json.num_tuples).toBe(150_000);
    expect((await run('COMMIT', headers)).status).toBe(200);
  });
});

describe('a retry with the same Idempotency-Key', () => {
  test('gets the first answer of a COMMIT, and the transaction is committed once', async () => {
    await run('CREATE HYPEREDGE TABLE kept (node)');
    const session = { 'x-session-id': 'kept' };
    const headers = { ...session, 'idempotency-key': 'commit 1' };
    await run('BEGIN', session);
    await run('INSERT INTO kept (event_ts, members) VALUES (1, [1])', session);
    const first = await run('COMMIT', headers);
    expect(first.json.rows[0]).toMatchObject({ status: 'committed' });
    // The transaction open now is not the one that was committed.
    await run('BEGIN', session);
    await run('INSERT INTO kept (event_ts, members) VALUES (2, [1])', session);
    const second = await run('COMMIT', headers);
    expect([second.status, second.text, isReplay(second)]).toEqual([200, first.text, true]);
    expect((await run('ROLLBACK', session)).status).toBe(200);
    expect(await count('kept')).toBe(1);
  });

  test('runs a COMMIT again when the first one failed with a conflict', async () => {
    const headers = { 'x-session-id': 'lost', 'idempotency-key': 'commit 2' };
    await run('BEGIN', { 'x-session-id': 'lost' });
    await run('DELETE FROM kept', { 'x-session-id': 'lost' });
    await run('UPDATE kept SET weight = 3');
    expect((await run('COMMIT', headers)).status).toBe(409);
    expect((await run('COMMIT', headers)).status).toBe(400);
  });

  test('gets the first answer of a COMMIT even when the transaction was empty', async () => {
    const headers = { 'x-session-id': 'empty', 'idempotency-key': 'commit 3' };
    await run('BEGIN', { 'x-session-id': 'empty' });
    const first = await run('COMMIT', headers);
    const second = await run('COMMIT', headers);
    expect([first.status, second.text, isReplay(second)]).toEqual([200, first.text, true]);
  });

  test.each([
    'CREATE HYPEREDGE TABLE defined (node) PROPERTIES (n INTEGER) BUCKET_SECONDS 5',
    'CREATE HYPEREDGE TABLE IF NOT EXISTS defined (node)',
    "ALTER TABLE defined ADD COLUMN word TEXT DEFAULT 'x'",
    'CREATE INDEX ON defined (n)',
    'DROP INDEX ON defined (n)',
    'ALTER TABLE defined RENAME COLUMN n TO m',
    'ALTER TABLE defined RENAME TO redefined',
    'COMPACT redefined',
    'DROP HYPEREDGE TABLE redefined',
    'DROP HYPEREDGE TABLE IF EXISTS redefined',
  ])('gets the first answer of a definition, which is executed once: %s', async (statement) => {
    const headers = { 'idempotency-key': statement };
    const { replays } = server.database;
    const stored = vi.spyOn(replays, 'store');
    const first = await run(statement, headers);
    expect(first.status, first.text).toBe(200);
    const lsn = server.database.lastLsn;
    const second = await run(statement, headers);
    expect([second.status, second.text, isReplay(second)]).toEqual([200, first.text, true]);
    expect(server.database.lastLsn).toBe(lsn);
    // The change and its answer form one frame. A statement that writes no frame or changes nothing
    // stores its answer separately.
    expect(stored).toHaveBeenCalledTimes(/IF|COMPACT/.test(statement) ? 1 : 0);
    stored.mockRestore();
  });

  test('gets an answer of the same type as the first', async () => {
    const headers = { 'idempotency-key': 'lines', accept: 'application/x-ndjson' };
    const insert = 'INSERT INTO kept (event_ts, members) VALUES (3, [1])';
    const first = await run(insert, headers);
    const second = await run(insert, headers);
    expect([second.text, isReplay(second)]).toEqual([first.text, true]);
    const types = [first, second].map((answer) => answer.headers.get('content-type'));
    expect(types).toEqual(['application/x-ndjson', 'application/x-ndjson']);
    expect(JSON.parse(first.text)).toMatchObject({ operation: 'INSERT', rows_affected: 1 });
  });
});

/** Runs `work` before each of the next `times` transaction commits. */
function beforeCommits(database: Database, times: number, work: () => Promise<unknown>): void {
  const begin = database.begin.bind(database);
  let left = times;
  database.begin = (options) => {
    const transaction = begin(options);
    const commit = transaction.commit.bind(transaction);
    transaction.commit = async (attach) => {
      if (left > 0) {
        left -= 1;
        database.begin = begin;
        await work();
        if (left > 0) beforeCommits(database, left, work);
      }
      return commit(attach);
    };
    return transaction;
  };
}

describe('a batch whose commit conflicts with another commit', () => {
  const operations = [
    { type: 'insert', table: 'met', event_ts: 9, members: [9] },
    { type: 'query', cypher: 'UPDATE met SET n = n + 1' },
    { type: 'query', cypher: 'MATCH (m:met) RETURN m.n AS n ORDER BY n' },
  ];
  const add = () => run('UPDATE met SET n = n + 10');

  test('is run again on the new state', async () => {
    await run('CREATE HYPEREDGE TABLE met (node) PROPERTIES (n INTEGER)');
    await run('INSERT INTO met (event_ts, members, n) VALUES (1, [1], 0)');
    beforeCommits(server.database, 1, add);
    const { status, json } = await send(server, 'POST', '/v1/batch', { operations }, { 'idempotency-key': 'met' });
    expect([status, json.committed, json.ops_success]).toEqual([200, true, 3]);
    expect(json.results[2].rows).toEqual([{ n: 11 }, { n: null }]);
    const again = await send(server, 'POST', '/v1/batch', { operations }, { 'idempotency-key': 'met' });
    expect([again.json, isReplay(again)]).toEqual([json, true]);
    expect((await run('MATCH (m:met) RETURN m.n AS n ORDER BY n')).json.rows).toEqual([{ n: 11 }, { n: null }]);
  });

  test('is refused after too many conflicts, with nothing applied and nothing kept', async () => {
    await run('DELETE FROM met WHERE event_ts = 9');
    beforeCommits(server.database, 25, add);
    const { status, json } = await send(server, 'POST', '/v1/batch', { operations }, { 'idempotency-key': 'again' });
    expect([status, json.code]).toEqual([409, 'conflict']);
    const { rows } = (await run('MATCH (m:met) RETURN m.n AS n')).json;
    expect(rows).toHaveLength(1);
    const later = await send(server, 'POST', '/v1/batch', { operations }, { 'idempotency-key': 'again' });
    expect([later.json.committed, isReplay(later)]).toEqual([true, false]);
  });
});
