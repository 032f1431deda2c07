import { describe, expect, test } from 'vitest';
import { HedgerowApiError, HedgerowClient } from '../../src/client/index.ts';
import { caught, failure, OK, type Step, scripted } from './scripted-fetch.ts';

const EDGE = { event_ts: 1, members: [1, 2] };
const LEADER = 'http://leader.test:8000';

function redirect(location: string, code = 'not_leader', status = 307): Step {
  return failure(status, { location }, code);
}

/** A client of a follower that has the key `hgr_x`. */
const atFollower = (steps: readonly Step[], leaders?: readonly string[]) =>
  scripted(steps, { apiKey: 'hgr_x', ...(leaders === undefined ? {} : { leaders }) });

describe('a write that a follower redirects', () => {
  test('is sent to the leader as it was', async () => {
    const location = `${LEADER}/v1/hyperedges`;
    const { client, requests, waits } = atFollower([redirect(location), OK], [`${LEADER}/`]);
    await client.hyperedges.insert(EDGE);
    expect(requests.map(({ url }) => url)).toEqual(['http://db.test/v1/hyperedges', location]);
    const [first, second] = requests;
    expect([second!.method, second!.body]).toEqual(['POST', JSON.stringify(EDGE)]);
    expect([...second!.headers]).toEqual([...first!.headers]);
    expect(second!.headers.get('x-api-key')).toBe('hgr_x');
    expect(second!.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/);
    expect(waits).toEqual([]);
  });

  test('keeps its query, and may go to an address with a path', async () => {
    const location = 'https://proxy.test/db/v1/hyperedges?table=a%26b%27';
    const { client, requests } = atFollower([redirect(location), OK], [LEADER, 'https://proxy.test/db']);
    await client.hyperedges.insertMany([EDGE], "a&b'");
    expect(requests[1]!.url).toBe(location);
  });

  test.each([
    ['no address is listed', `${LEADER}/v1/hyperedges`, []],
    ['another port', 'http://leader.test:8001/v1/hyperedges', [LEADER]],
    ['another scheme', 'http://leader.test/v1/hyperedges', ['https://leader.test']],
    ['the same host as the client asks', 'http://db.test:81/v1/hyperedges', [LEADER]],
    ['an address that only begins alike', 'http://leader.test:8000.evil.test/v1/hyperedges', [LEADER]],
    ['a listed address as the user of another', 'http://leader.test:8000@evil.test/v1/hyperedges', [LEADER]],
    ['another path', `${LEADER}/v1/keys`, [LEADER]],
    ['another query', `${LEADER}/v1/hyperedges?table=other`, [LEADER]],
    ['a relative address', '/v1/hyperedges', [LEADER]],
    ['no address', '', [LEADER]],
  ])('is sent nowhere else: %s', async (_name, location, leaders) => {
    const { client, requests, waits } = atFollower([redirect(location), OK], leaders);
    const error = await caught(client.hyperedges.insert(EDGE));
    expect(error).toBeInstanceOf(HedgerowApiError);
    expect(error).toMatchObject({ statusCode: 307, code: 'not_leader' });
    expect((error as Error).message).toContain('option `leaders`');
    expect(requests.map(({ url }) => url)).toEqual(['http://db.test/v1/hyperedges']);
    expect(waits).toEqual([]);
  });

  test.each([
    [301, 'not_leader'],
    [302, 'not_leader'],
    [308, 'not_leader'],
    [307, 'another'],
  ])('is the only answer that is followed: not %i %s', async (status, code) => {
    const { client, requests } = atFollower([redirect(`${LEADER}/v1/hyperedges`, code, status), OK], [LEADER]);
    expect(await caught(client.hyperedges.insert(EDGE))).toMatchObject({ statusCode: status });
    expect(requests).toHaveLength(1);
  });

  test('is redirected once for each attempt', async () => {
    const there = redirect(`${LEADER}/v1/hyperedges`);
    const twice = atFollower([there, redirect(`${LEADER}/v1/hyperedges`), OK], [LEADER]);
    expect(await caught(twice.client.hyperedges.insert(EDGE))).toMatchObject({ code: 'not_leader' });
    expect(twice.requests).toHaveLength(2);
    for (const step of [failure(503), 'refused'] as const) {
      const { client, requests, waits } = atFollower([there, step, there, OK], [LEADER]);
      await client.hyperedges.insert(EDGE);
      expect(requests.map(({ url }) => new URL(url).host)).toEqual([
        'db.test',
        'leader.test:8000',
        'db.test',
        'leader.test:8000',
      ]);
      expect(waits).toHaveLength(1);
    }
  });

  test('names the leader if that does not answer', async () => {
    const { client } = scripted([redirect(`${LEADER}/v1/keys`), 'refused'], { leaders: [LEADER] });
    const error = await caught(client.keys.create({ role: 'readonly' }));
    expect(error).toMatchObject({ message: `No whole answer from ${LEADER}: connect ECONNREFUSED.` });
  });

  test('is sent to the listed addresses in turn where a browser hides the redirect', async () => {
    const hidden: Step = { hidden: true };
    const leaders = ['http://a.test', 'http://b.test', 'http://c.test'];
    const { client, requests } = atFollower([hidden, redirect('http://b.test/v1/hyperedges'), OK], leaders);
    await client.hyperedges.insert(EDGE);
    expect(requests.map(({ url }) => new URL(url).host)).toEqual(['db.test', 'a.test', 'b.test']);
    const refused = atFollower([hidden, failure(400, {}, 'invalid_input'), OK], leaders);
    expect(await caught(refused.client.hyperedges.insert(EDGE))).toMatchObject({ statusCode: 400 });
    expect(refused.requests).toHaveLength(2);
    for (const steps of [atFollower([hidden, OK]), atFollower([hidden], leaders)]) {
      const error = await caught(steps.client.hyperedges.insert(EDGE));
      expect(error).toMatchObject({ statusCode: 307, code: undefined });
      expect(steps.waits).toEqual([]);
    }
    const read = atFollower([hidden, OK], leaders);
    expect(await caught(read.client.tables.list())).toMatchObject({ statusCode: 307 });
    expect(read.requests).toHaveLength(1);
  });
});

test.each(['db.test', 'ftp://db.test', ''])('a leader needs a valid url: %j is refused', (leader) => {
  expect(() => new HedgerowClient({ url: 'http://db.test', leaders: [leader] })).toThrow(TypeError);
});

describe('the errors of a follower', () => {
  test('leader_unavailable is retried with the same key, unless the write cannot be repeated', async () => {
    const unavailable = failure(503, { 'retry-after': '1' }, 'leader_unavailable');
    const { client, requests, waits } = scripted([unavailable, OK]);
    await client.hyperedges.insert(EDGE);
    expect(waits).toEqual([1100]);
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[1]).toBe(keys[0]);
    const once = scripted([unavailable, OK]);
    expect(await caught(once.client.keys.create({ role: 'readonly' }))).toMatchObject({ code: 'leader_unavailable' });
    const session = { session: 's' };
    const commit = scripted([unavailable, OK]);
    expect(await caught(commit.client.query.run('COMMIT', {}, session))).toMatchObject({ code: 'leader_unavailable' });
    expect([once.requests.length, commit.requests.length]).toEqual([1, 1]);
  });

  test('too_far_behind is retried', async () => {
    const { client, requests } = scripted([failure(503, { 'retry-after': '1' }, 'too_far_behind'), OK]);
    await client.tables.list();
    expect(requests).toHaveLength(2);
  });
});
