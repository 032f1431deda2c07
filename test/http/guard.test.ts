import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes/index.ts';
import { USUAL } from '../support/transport.ts';
import { type Answer, Recorder, raw, send, startServer, type TestRole, type TestServer } from './support.ts';

const RANK = { none: 0, readonly: 1, readwrite: 2, admin: 3 };
type Headers = Record<string, string>;
const NO_KEY: Headers = {};
const WRONG_KEY: Headers = { 'x-api-key': 'hgr_wrong' };
const ROLES: readonly TestRole[] = ['readonly', 'readwrite', 'admin'];
/** Returns a concrete path that matches the route. */
const pathOf = (route: Route) => route.path.replaceAll(/\{\w+\}/g, 'x');

describe('with keys', () => {
  const observer = new Recorder();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ auth: true, observer });
  });
  afterAll(() => server.close());
  afterEach(() => {
    expect(server.errors.splice(0)).toEqual([]);
    for (const told of [observer.requests, observer.queries, observer.audits, observer.refusals]) told.length = 0;
  });

  const ask = (method: string, path: string, headers: Headers = {}, body?: unknown) =>
    send(server, method, path, body, headers);
  const refusedBy = (answer: Answer) => [answer.status, answer.json?.code];

  test.each(routes)('$method $path requires the role $role and accepts every higher one', async (route) => {
    // A body of the wrong type is refused only after the checks of key and role.
    const withKey = (headers: Headers) =>
      route.bodyTypes.length > 0
        ? ask(route.method, pathOf(route), { ...headers, 'content-type': 'no/type' }, 'x')
        : ask(route.method, pathOf(route), headers);
    const statusOf = async (headers: Headers) => (await withKey(headers)).status;
    for (const headers of [NO_KEY, WRONG_KEY]) {
      const status = await statusOf(headers);
      if (route.role === 'none') expect([401, 403]).not.toContain(status);
      else expect(status).toBe(401);
    }
    for (const role of ROLES) {
      const status = await statusOf({ 'x-api-key': server.keys[role] });
      if (RANK[role] < RANK[route.role]) expect([role, status]).toEqual([role, 403]);
      else expect([401, 403]).not.toContain(status);
      if (RANK[role] >= RANK[route.role] && route.bodyTypes.length > 0) expect(status).toBe(415);
    }
  });

  test('the key may be in X-API-Key, which has priority, or in Authorization, whose scheme is case-insensitive', async () => {
    const { readonly, admin } = server.keys;
    const status = async (headers: Headers) => (await ask('GET', '/v1/keys', headers)).status;
    expect(await status({ 'x-api-key': admin })).toBe(200);
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER   ']) {
      expect(await status({ authorization: scheme + admin })).toBe(200);
    }
    expect(await status({ 'x-api-key': admin, authorization: 'Bearer wrong' })).toBe(200);
    expect(await status({ 'x-api-key': 'wrong', authorization: `Bearer ${admin}` })).toBe(401);
    expect(await status({ 'x-api-key': readonly, authorization: `Bearer ${admin}` })).toBe(403);
    expect(await status({ 'x-api-key': '', authorization: `Bearer ${admin}` })).toBe(200);
    for (const value of [admin, 'Bearer', 'Bearer ', `Basic ${admin}`, `Bearer${admin}`, `Bearer "${admin}"`]) {
      expect([value, await status({ authorization: value })]).toEqual([value, 401]);
    }
  });

  test('an answer of 401 names the header, carries a challenge and distinguishes a wrong key from a missing one', async () => {
    const none = await ask('GET', '/v1/tables');
    expect(refusedBy(none)).toEqual([401, 'unauthorized']);
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="hedgerow"');
    expect(none.json.detail).toContain('X-API-Key');
    const wrong = await ask('GET', '/v1/tables', { 'x-api-key': 'hgr_wrong' });
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer realm="hedgerow", error="invalid_token"');
    expect(wrong.json.detail).toContain('unknown, revoked or expired');
    expect(wrong.text).not.toContain('hgr_wrong');
  });

  test('an answer of 403 names the required role', async () => {
    const answer = await ask('POST', '/v1/hyperedges', { 'x-api-key': server.keys.readonly }, {});
    expect(refusedBy(answer)).toEqual([403, 'forbidden']);
    expect(answer.json.detail).toContain('readwrite');
    expect((await ask('GET', '/v1/keys', { 'x-api-key': server.keys.readwrite })).json.detail).toContain('admin');
  });

  test('the key is checked after route and method, and before content type and body', async () => {
    const { readonly } = server.keys;
    expect(refusedBy(await ask('GET', '/v1/nope'))).toEqual([404, 'route_not_found']);
    const wrongMethod = await ask('PUT', '/v1/tables', {}, {});
    expect(refusedBy(wrongMethod)).toEqual([405, 'method_not_allowed']);
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    const type = { 'content-type': 'text/plain' };
    expect(refusedBy(await ask('POST', '/v1/tables', type, 'x'))).toEqual([401, 'unauthorized']);
    expect(refusedBy(await ask('POST', '/v1/tables', { ...type, 'x-api-key': readonly }, 'x'))).toEqual([
      403,
      'forbidden',
    ]);
    const { admin } = server.keys;
    expect((await ask('POST', '/v1/tables', { ...type, 'x-api-key': admin }, 'x')).status).toBe(415);
    expect((await ask('POST', '/v1/tables', { 'x-api-key': admin }, '{')).status).toBe(400);
    // A path that cannot be decoded is an input error, and input is checked last.
    expect((await ask('GET', '/v1/tables/%zz')).status).toBe(401);
    expect((await ask('GET', '/v1/tables/%zz', { 'x-api-key': readonly })).status).toBe(400);
  });

  test('OPTIONS needs no key and lists the methods; HEAD needs the same key as GET', async () => {
    const options = await ask('OPTIONS', '/v1/keys/x');
    expect([options.status, options.headers.get('allow')]).toEqual([200, 'DELETE, OPTIONS']);
    expect((await ask('OPTIONS', '/v1/nope')).status).toBe(404);
    expect((await ask('HEAD', '/v1/tables')).status).toBe(401);
    expect((await ask('HEAD', '/v1/tables', { 'x-api-key': server.keys.readonly })).status).toBe(200);
  });

  test('a bad key on a route without a role is ignored', async () => {
    for (const path of ['/health/live', '/health/ready', '/openapi.json', '/docs']) {
      expect((await ask('GET', path, { 'x-api-key': 'hgr_wrong' })).status).toBe(200);
    }
  });

  test('refusals are counted, and audited with the client address but without the key', async () => {
    await ask('GET', '/v1/tables', { 'x-request-id': 'r1' });
    await ask('GET', '/v1/tables', { 'x-api-key': 'hgr_wrong', 'x-request-id': 'r2' });
    await ask('GET', '/v1/keys', { 'x-api-key': server.keys.readonly, 'x-request-id': 'r3' });
    const unknown = { event: 'auth.failed', keyId: null, remoteIp: '127.0.0.1', role: 'none', status: 401 };
    expect(observer.audits).toEqual([
      { ...unknown, requestId: 'r1' },
      { ...unknown, requestId: 'r2' },
      {
        event: 'auth.denied',
        keyId: expect.stringMatching(/^key_/),
        remoteIp: '127.0.0.1',
        role: 'readonly',
        status: 403,
        requestId: 'r3',
      },
    ]);
    expect(observer.refusals).toEqual(['unauthorized', 'unauthorized', 'forbidden']);
    expect(JSON.stringify(observer.audits)).not.toContain('hgr_');
  });

  test('a revoked key is refused from the next request on', async () => {
    const { admin } = server.keys;
    const { json } = await ask('POST', '/v1/keys', { 'x-api-key': admin }, { role: 'readonly' });
    const headers = { 'x-api-key': json.plaintext_key };
    expect((await ask('GET', '/v1/tables', headers)).status).toBe(200);
    expect((await ask('DELETE', `/v1/keys/${json.key_id}`, { 'x-api-key': admin })).status).toBe(200);
    expect((await ask('GET', '/v1/tables', headers)).status).toBe(401);
  });

  test('actions with a key are audited with the key id, the role and the table', async () => {
    const key = { 'x-api-key': server.keys.readwrite, 'x-request-id': 'w' };
    const adminKey = { 'x-api-key': server.keys.admin, 'x-request-id': 'w' };
    const edge = { event_ts: 1, members: [1] };
    await ask('POST', '/v1/hyperedges', key, edge);
    await ask(
      'POST',
      '/v1/hyperedges',
      { ...key, 'content-type': 'application/x-ndjson' },
      '{"event_ts":1,"members":[2]}',
    );
    await ask('DELETE', '/v1/hyperedges', key, edge);
    await ask('POST', '/v1/batch', key, { operations: [{ type: 'insert', ...edge }] });
    await ask('POST', '/v1/batch', key, { operations: [{ type: 'insert', ...edge }, { type: 'nope' }] });
    await ask('POST', '/v1/hyperedges/compact', key, { table: 'hyperedges' });
    await ask('POST', '/v1/hyperedges/compact', key);
    await ask('POST', '/v1/autocompact', key, { threshold: 0, table: 'hyperedges' });
    await ask('POST', '/v1/tables', adminKey, { name: 'audited' });
    await ask('DELETE', '/v1/tables/audited', adminKey);
    expect(observer.audits.map(({ event, status, table, role }) => [event, status, table, role])).toEqual([
      ['hyperedge.inserted', 201, 'hyperedges', 'readwrite'],
      ['hyperedge.inserted', 201, 'hyperedges', 'readwrite'],
      ['hyperedge.deleted', 200, 'hyperedges', 'readwrite'],
      ['batch.committed', 200, undefined, 'readwrite'],
      ['batch.rolled_back', 200, undefined, 'readwrite'],
      ['compaction.run', 200, 'hyperedges', 'readwrite'],
      ['compaction.run', 200, undefined, 'readwrite'],
      ['table.altered', 200, 'hyperedges', 'readwrite'],
      ['table.created', 201, 'audited', 'admin'],
      ['table.dropped', 200, 'audited', 'admin'],
    ]);
    for (const { keyId, remoteIp, requestId } of observer.audits) {
      expect([keyId, remoteIp, requestId]).toEqual([expect.stringMatching(/^key_/), '127.0.0.1', 'w']);
    }
  });

  test('failures and reads are not audited', async () => {
    const key = { 'x-api-key': server.keys.admin };
    await ask('POST', '/v1/hyperedges', key, { event_ts: 1, members: [] });
    await ask('DELETE', '/v1/tables/nope', key);
    await ask('POST', '/v1/tables', key, { name: 'hyperedges' });
    await ask('GET', '/v1/tables', key);
    await ask('GET', '/v1/hyperedges?start_ts=1&end_ts=2', key);
    expect(observer.audits).toEqual([]);
  });
});

describe('without keys', () => {
  let server: TestServer;
  afterEach(() => server.close());

  test('every caller is admin, whatever key is sent, and key routes answer 503', async () => {
    const observer = new Recorder();
    server = await startServer({ observer });
    for (const headers of [NO_KEY, WRONG_KEY]) {
      const created = await send(server, 'POST', '/v1/tables', { name: `t${observer.audits.length}` }, headers);
      expect(created.status).toBe(201);
    }
    expect(observer.audits.map(({ keyId, role }) => [keyId, role])).toEqual([
      [null, 'admin'],
      [null, 'admin'],
    ]);
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys'],
      ['DELETE', '/v1/keys/x'],
    ] as const) {
      const answer = await send(server, method, path, method === 'POST' ? { role: 'admin' } : undefined);
      expect([answer.status, answer.json.code]).toEqual([503, 'no_keys']);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(server.errors).toEqual([]);
  });
});

describe('while the service starts and ends', () => {
  let server: TestServer;
  afterEach(() => server.close());

  test('requests are answered with 503 after the route and method check and before the key check', async () => {
    server = await startServer({ auth: true, open: false });
    const { admin } = server.keys;
    const statusOf = async (method: string, path: string, headers: Headers = {}) => {
      const { status, json } = await send(server, method, path, undefined, headers);
      return [status, json?.code];
    };
    expect(await statusOf('GET', '/nope')).toEqual([404, 'route_not_found']);
    expect(await statusOf('PUT', '/v1/tables')).toEqual([405, 'method_not_allowed']);
    for (const headers of [NO_KEY, WRONG_KEY, { 'x-api-key': admin }]) {
      for (const path of ['/v1/tables', '/health', '/v1/keys', '/metrics']) {
        expect(await statusOf('GET', path, headers)).toEqual([503, 'starting']);
      }
      expect((await statusOf('GET', '/health/live', headers))[0]).toBe(200);
      expect(await statusOf('GET', '/health/ready', headers)).toEqual([503, 'starting']);
      expect((await statusOf('GET', '/openapi.json', headers))[0]).toBe(200);
    }
    const answer = await send(server, 'GET', '/v1/tables');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(server.errors).toEqual([]);
  });

  test('a stopping service refuses new work with Connection: close and finishes running requests', async () => {
    server = await startServer();
    const { insert } = server.database.table();
    const table = server.database.table();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = () => {};
    const isRunning = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    table.insert = async (edge, attach) => {
      arrived();
      await held;
      return insert.call(table, edge, attach);
    };
    const running = send(server, 'POST', '/v1/hyperedges', { event_ts: 5, members: [5] });
    await isRunning;
    const closing = server.service.close(5000);
    const text = await raw(server, ['GET /v1/tables HTTP/1.1\r\nHost: x\r\n\r\n']);
    expect(text).toContain('HTTP/1.1 503');
    expect(text).toContain('"code":"draining"');
    expect(text.match(/connection: close/gi)).toHaveLength(1);
    // uWebSockets.js also answers a second request in the same packet.
    const two = await raw(server, ['GET /v1/tables HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2)]);
    expect(two.match(/HTTP\/1.1 503/g)).toHaveLength(USUAL === 'node' ? 1 : 2);
    expect(text.endsWith('[closed]')).toBe(true);
    const head = await raw(server, ['HEAD /v1/tables HTTP/1.1\r\nHost: x\r\n\r\n']);
    expect(head.match(/connection: close/gi)).toHaveLength(1);
    expect((await send(server, 'GET', '/health/ready')).json.code).toBe('draining');
    expect((await send(server, 'GET', '/health/live')).status).toBe(200);
    release();
    expect((await running).status).toBe(201);
    await closing;
    await expect(send(server, 'GET', '/health/live')).rejects.toThrow();
    table.insert = insert;
  });
});

test('the message about a missing key names the headers that accept a key', async () => {
  const server = await startServer({ auth: true });
  try {
    const { json } = await send(server, 'GET', '/v1/tables');
    expect(json.detail).toBe('This route needs an API key: send it in the header X-API-Key, or as a bearer token.');
  } finally {
    await server.close();
  }
});
