import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowClient } from '../../src/client/index.ts';
import { ADMIN_KEY, type ChildServer, startChild } from '../service/child.ts';
import { caught } from './scripted-fetch.ts';

describe('the client of a real follower', { timeout: 60_000 }, () => {
  let leader: ChildServer;
  let follower: ChildServer;
  let client: HedgerowClient;
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    asked.push(`${init!.method} ${String(input).startsWith(leader.url) ? 'leader' : 'follower'}`);
    return globalThis.fetch(input, init);
  };
  const clientOf = (leaders: string[]) =>
    new HedgerowClient({ url: follower.url, apiKey: ADMIN_KEY, leaders, readYourWrites: true, maxAttempts: 1, fetch });
  beforeAll(async () => {
    leader = await startChild();
    follower = await startChild({
      flags: ['--follow', leader.url],
      environment: { HEDGEROW_FOLLOW_KEY: ADMIN_KEY },
    });
    client = clientOf([leader.url]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([follower, leader].map((server) => server?.stop()));
  });

  test('writes at the leader, and reads what it wrote at the follower', async () => {
    const { id } = await client.hyperedges.insert({ event_ts: 5, members: [1, 2] });
    expect(await client.hyperedges.get(id)).toMatchObject({ event_ts: 5, members: [1, 2] });
    expect(asked).toEqual(['POST follower', 'POST leader', 'GET follower']);
    await client.tables.create({ name: 'trips' });
    await client.query.run('INSERT INTO trips (event_ts, members) VALUES (7, [3])');
    expect((await client.tables.list()).map(({ name }) => name)).toContain('trips');
    expect((await client.query.run('MATCH (t:trips) RETURN COUNT(*) AS n')).rows).toEqual([{ n: 1 }]);
    const { key_id: key } = await client.keys.create({ role: 'readonly' });
    await client.keys.revoke(key);
  });

  test('sends a long body again', async () => {
    const edges = Array.from({ length: 100_000 }, (_, n) => ({ event_ts: 10_000 + n, members: [n, n + 1] }));
    for (let round = 0; round < 3; round++)
      expect(await client.hyperedges.insertMany(edges)).toMatchObject({ inserted: edges.length });
    const window = { start_ts: 10_000, end_ts: 10_000 + edges.length };
    let count = 0;
    for await (const _row of client.hyperedges.rangeRows(window)) count++;
    expect(count).toBe(3 * edges.length);
  });

  test('runs a transaction at the leader', async () => {
    const options = { session: 'one' };
    await client.query.run('BEGIN', {}, options);
    await client.query.run('INSERT INTO hyperedges (event_ts, members) VALUES (900, [1])', {}, options);
    const count = 'MATCH (e:hyperedges) WHERE e.event_ts = 900 RETURN COUNT(*) AS n';
    const rows: unknown[] = [];
    for await (const row of client.query.rows(count, {}, options)) rows.push(row);
    expect(rows).toEqual([{ n: 1 }]);
    expect((await client.query.run(count)).rows).toEqual([{ n: 0 }]);
    await client.query.run('COMMIT', {}, options);
    expect((await client.query.run(count)).rows).toEqual([{ n: 1 }]);
  });

  test('sends nothing to a leader that is not listed', async () => {
    asked.length = 0;
    const error = await caught(clientOf([]).hyperedges.insert({ event_ts: 1, members: [1, 2] }));
    expect(error).toMatchObject({ statusCode: 307, code: 'not_leader' });
    expect((error as Error).message).toContain(leader.url);
    expect(asked).toEqual(['POST follower']);
  });
});
