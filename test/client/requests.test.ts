import { describe, expect, test } from 'vitest';
import { HedgerowClient } from '../../src/client/index.ts';
import { caught, OK, scripted } from './scripted-fetch.ts';

describe('a request', () => {
  test('contains the key, never follows a redirect with it, and sends no cookies', async () => {
    const { client, requests } = scripted([OK], { apiKey: 'hgr_x' });
    await client.tables.list();
    const { headers, init, method, url, body } = requests[0]!;
    expect({ method, url, body }).toEqual({ method: 'GET', url: 'http://db.test/v1/tables', body: undefined });
    expect(headers.get('x-api-key')).toBe('hgr_x');
    expect(headers.get('accept')).toBe('application/json');
    expect(init).toMatchObject({ redirect: 'manual', credentials: 'omit', cache: 'no-store' });
  });

  test('has no key header when there is no key', async () => {
    const { client, requests } = scripted([OK]);
    await client.service.live();
    expect(requests[0]!.headers.has('x-api-key')).toBe(false);
  });

  test('appends its path to the path of the url', async () => {
    const { client, requests } = scripted([OK], { url: 'https://proxy.test/db//' });
    await client.hyperedges.range({ start_ts: -5, end_ts: 7, table: 'a&b', cursor: undefined });
    expect(requests[0]!.url).toBe('https://proxy.test/db/v1/hyperedges?start_ts=-5&end_ts=7&table=a%26b');
  });

  test('escapes names in the path', async () => {
    const { client, requests } = scripted([OK]);
    await client.indexes.drop('a/b', 'ü?');
    expect(requests[0]!.url).toBe('http://db.test/v1/indexes/a%2Fb/%C3%BC%3F');
  });

  test.each(['', '.', '..'])('does not accept %j as a name, since it would be another path', async (name) => {
    const { client, requests } = scripted([OK]);
    expect(await caught(client.tables.drop(name))).toBeInstanceOf(TypeError);
    expect(requests).toHaveLength(0);
  });

  test.each(['db.test', 'ftp://db.test', ''])('needs a valid url: %j is refused', (url) => {
    expect(() => new HedgerowClient({ url })).toThrow(TypeError);
  });

  test('sends many edges as one body of lines', async () => {
    const { client, requests } = scripted([OK]);
    function* edges() {
      yield { event_ts: 1, members: [1] };
      yield { event_ts: 2, members: [2], formation: 'a\nb' };
    }
    await client.hyperedges.insertMany(edges(), 'ships');
    expect(requests[0]).toMatchObject({
      url: 'http://db.test/v1/hyperedges?table=ships',
      body: '{"event_ts":1,"members":[1]}\n{"event_ts":2,"members":[2],"formation":"a\\nb"}\n',
    });
    expect(requests[0]!.headers.get('content-type')).toBe('application/x-ndjson');
  });
});

describe('log positions', () => {
  const at = (lsn: number) => ({ status: 200, json: {}, headers: { 'x-hedgerow-lsn': String(lsn) } });
  const minLsn = (headers: Headers) => headers.get('x-min-lsn');

  test('are remembered, and only the newest one counts', async () => {
    const { client } = scripted([at(7), at(5), OK]);
    expect(client.lastLsn).toBe(0);
    await client.hyperedges.insert({ event_ts: 1, members: [1] });
    await client.hyperedges.range({ start_ts: 0, end_ts: 1 });
    await client.tables.list();
    expect(client.lastLsn).toBe(7);
  });

  test('are sent as minLsn, but only by reads', async () => {
    const { client, requests } = scripted([OK]);
    await client.hyperedges.range({ start_ts: 0, end_ts: 1 }, { minLsn: 12 });
    await client.hyperedges.insert({ event_ts: 1, members: [1] }, { minLsn: 12 });
    await client.tables.list();
    expect(requests.map((request) => minLsn(request.headers))).toEqual(['12', null, null]);
  });

  test("are sent by all reads after the client's own writes when readYourWrites is set", async () => {
    const { client, requests } = scripted([at(7), at(9)], { readYourWrites: true });
    await client.hyperedges.insert({ event_ts: 1, members: [1] });
    await client.tables.list();
    await client.tables.list({ minLsn: 20 });
    await client.tables.list({ minLsn: 1 });
    expect(requests.map((request) => minLsn(request.headers))).toEqual([null, '7', '20', '9']);
  });
});
