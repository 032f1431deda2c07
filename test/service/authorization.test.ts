import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role, Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes/index.ts';
import { expectGolden } from '../support/golden.ts';
import { CALLERS, type Caller, FORMS, type Form, type Keys, makeKeys } from './callers.ts';
import { ADMIN_KEY, type ChildServer, startChild } from './child.ts';
import { makeTrips, recipeOf, type Sent, send } from './valid-requests.ts';

/** The documented role of every route. */
const SPECIFIED: Readonly<Record<Role, readonly string[]>> = {
  none: [
    'GET /health/live',
    'GET /health/ready',
    'GET /openapi.json',
    'GET /docs',
    'GET /docs/{file}',
    'GET /',
    'GET /console/{file}',
  ],
  readonly: [
    'GET /health',
    'GET /metrics',
    'GET /v1/hyperedges',
    'GET /v1/hyperedges/{id}',
    'GET /v1/hyperedges/node/{node_id}',
    'GET /v1/wal',
    'GET /v1/changes',
    'GET /v1/tables',
    'GET /v1/tables/{name}',
    'GET /v1/node-tables',
    'GET /v1/node-tables/{name}',
    'GET /v1/nodes/{table}',
    'GET /v1/nodes/{table}/{key}',
    'GET /v1/indexes',
    'POST /v1/query',
    'GET /v1/analytics',
    'POST /v1/analytics/{table}/{measure}',
    'GET /v1/rules',
    'GET /v1/rules/{id}',
    'POST /v1/rules/validate',
    'POST /v1/reason',
    'POST /v1/rag/query',
    'POST /v1/rag/check',
    'GET /v1/rag/parse',
    'GET /v1/rag/interactions/{id}',
    'POST /v1/memory/recall',
    'POST /v1/memory/history',
    'GET /v1/virtual/backends',
    'POST /v1/virtual/propose',
    'GET /v1/virtual/graphs',
    'GET /v1/virtual/graphs/{id}',
    'GET /v1/virtual/graphs/{id}/introspect',
    'POST /v1/virtual/graphs/{id}/compile',
    'POST /v1/virtual/graphs/{id}/query',
  ],
  readwrite: [
    'POST /v1/hyperedges',
    'DELETE /v1/hyperedges',
    'PATCH /v1/hyperedges/{id}',
    'POST /v1/nodes/{table}',
    'PUT /v1/nodes/{table}/{key}',
    'PATCH /v1/nodes/{table}/{key}',
    'DELETE /v1/nodes/{table}/{key}',
    'POST /v1/hyperedges/compact',
    'POST /v1/autocompact',
    'POST /v1/batch',
    'POST /v1/rules',
    'DELETE /v1/rules/{id}',
    'POST /v1/memory/remember',
    'POST /v1/memory/supersede',
    'POST /v1/virtual/graphs',
    'PUT /v1/virtual/graphs/{id}',
    'DELETE /v1/virtual/graphs/{id}',
    'DELETE /v1/virtual/graphs/{id}/cache',
    'POST /v1/virtual/graphs/{id}/materialize',
  ],
  admin: [
    'POST /v1/tables',
    'DELETE /v1/tables/{name}',
    'POST /v1/node-tables',
    'DELETE /v1/node-tables/{name}',
    'POST /v1/indexes',
    'DELETE /v1/indexes/{table}/{column}',
    'DELETE /v1/indexes/{table}/text',
    'POST /v1/backup',
    'GET /v1/log',
    'GET /v1/snapshot',
    'GET /v1/keys',
    'POST /v1/keys',
    'DELETE /v1/keys/{key_id}',
  ],
};

const RANK: Readonly<Record<string, number>> = { none: 0, readonly: 1, readwrite: 2, admin: 3 };

/** Returns the status that follows from the role of the route and the key of the caller. */
function expectedStatus(role: Role, caller: Caller, success: number): number {
  if (role === 'none') return success;
  const rank = RANK[caller];
  if (rank === undefined) return 401;
  return rank >= RANK[role]! ? success : 403;
}

let server: ChildServer;
let keys: Keys;
beforeAll(async () => {
  server = await startChild();
  makeTrips(join(server.dir, 'virtual'));
  keys = await makeKeys(server.url);
});
afterAll(() => server.stop());

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

test('every route has its documented role', () => {
  const found = Object.fromEntries(routes.map((route) => [nameOf(route), route.role]));
  const specified = Object.entries(SPECIFIED).flatMap(([role, names]) => names.map((name) => [name, role]));
  expect(found).toEqual(Object.fromEntries(specified));
});

describe('the matrix of routes and callers', () => {
  const rows: string[][] = [['route', 'role', ...CALLERS]];

  test.each(routes.map((route) => [nameOf(route), route] as const))(
    'has the right status for every caller: %s',
    async (name, route) => {
      const recipe = recipeOf(route.method, route.path);
      const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
      for (const method of methods) {
        const row: string[] = [];
        for (const caller of CALLERS) {
          const statuses = new Set<number>();
          for (const form of Object.keys(FORMS) as Form[]) {
            const made = await recipe.make(keys.asAdmin, (sent) => keys.send(caller, sent, form));
            const request = { method, ...made };
            const answer = await keys.send(caller, request, form);
            const where = `${method} ${request.path}, ${caller} in ${form}: ${answer.text.slice(0, 300)}`;
            expect(answer.status, where).toBe(expectedStatus(route.role, caller, recipe.status));
            expectHeaders(answer.headers, route, answer.status);
            if (method !== 'HEAD' && answer.status >= 400) expectRefusal(answer.json, route.role, answer.status);
            statuses.add(answer.status);
          }
          row.push([...statuses].join('/'));
        }
        rows.push([`${method} ${route.path}`, route.role, ...row]);
      }
      expect(rows.some(([first]) => first === name)).toBe(true);
    },
  );

  test('equals the reviewed golden file', () => {
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    const lines = rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
    expectGolden('authorization.txt', `${lines.join('\n')}\n`);
  });

  test('leaves an audit line for every refusal', async () => {
    const events = () =>
      readFileSync(join(server.dir, 'audit.log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { event: string }).event);
    const guarded = routes.filter((route) => route.role !== 'none');
    const denied = guarded.flatMap((route) => {
      const methods = route.method === 'GET' ? 2 : 1;
      return CALLERS.filter((caller) => expectedStatus(route.role, caller, 200) === 403).flatMap(() =>
        Array(methods * Object.keys(FORMS).length).fill('auth.denied'),
      );
    });
    await expect.poll(() => events().filter((event) => event === 'auth.denied').length).toBe(denied.length);
    expect(events().filter((event) => event === 'auth.failed').length).toBeGreaterThanOrEqual(guarded.length * 10);
  });
});

function expectHeaders(headers: Headers, route: Route, status: number): void {
  expect(headers.get('x-request-id')).toBeTruthy();
  const isProbe = route.path.startsWith('/health/');
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect([name, headers.get(name) === null]).toEqual([name, isProbe]);
  }
  expect(headers.get('www-authenticate') !== null).toBe(status === 401);
}

function expectRefusal(body: Record<string, unknown>, role: Role, status: number): void {
  expect(body).toMatchObject({ status, code: status === 401 ? 'unauthorized' : 'forbidden' });
  if (status === 403) expect(body.detail).toContain(role);
}

describe('a key', () => {
  const wal = (headers: Record<string, string>) => send(server.url, { method: 'GET', path: '/v1/wal', headers });

  test('has priority in X-API-Key over one in Authorization', async () => {
    const { admin, unknown } = keys.of;
    expect((await wal({ 'x-api-key': admin, authorization: `Bearer ${unknown}` })).status).toBe(200);
    expect((await wal({ 'x-api-key': unknown, authorization: `Bearer ${admin}` })).status).toBe(401);
  });

  test('may have the scheme Bearer in any letter case in Authorization', async () => {
    const { admin } = keys.of;
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect([scheme, (await wal({ authorization: `${scheme} ${admin}` })).status]).toEqual([scheme, 200]);
    }
    const basic = Buffer.from(`user:${admin}`).toString('base64');
    for (const value of [
      admin,
      `Basic ${basic}`,
      `Token ${admin}`,
      `Bearer${admin}`,
      'Bearer',
      'Bearer ',
      `Bearer x${admin}`,
    ]) {
      expect([value, (await wal({ authorization: value })).status]).toEqual([value, 401]);
    }
  });

  test('is refused when it is only nearly correct', async () => {
    const { admin } = keys.of;
    const last = admin.at(-1) === 'A' ? 'B' : 'A';
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(admin))).toString('hex');
    for (const key of [
      admin.slice(0, -1),
      `${admin}A`,
      admin.slice(0, -1) + last,
      admin.toUpperCase(),
      admin.slice(4),
      `"${admin}"`,
      `${admin}, ${admin}`,
      hash,
      'k'.repeat(3000),
    ]) {
      expect([key, (await wal({ 'x-api-key': key })).status]).toEqual([key, 401]);
    }
  });

  test('is ignored in any other place', async () => {
    const { admin } = keys.of;
    for (const path of [
      '/v1/keys?api_key=KEY',
      '/v1/keys?key=KEY',
      '/v1/keys?X-API-Key=KEY',
      '/v1/keys?access_token=KEY',
    ]) {
      expect((await send(server.url, { method: 'GET', path: path.replace('KEY', admin) })).status).toBe(401);
    }
    for (const name of ['cookie', 'api-key', 'x-auth-token', 'proxy-authorization', 'x-forwarded-user']) {
      expect([name, (await wal({ [name]: admin })).status]).toEqual([name, 401]);
    }
    const body = { role: 'admin', api_key: admin, 'X-API-Key': admin };
    expect((await send(server.url, { method: 'POST', path: '/v1/keys', body })).status).toBe(401);
  });

  test('is refused immediately when it is revoked, even for replays and matching ETags', async () => {
    const { json } = await keys.asAdmin({ method: 'POST', path: '/v1/keys', body: { role: 'readwrite' } });
    const own = { 'x-api-key': json.plaintext_key };
    const write: Sent = {
      method: 'POST',
      path: '/v1/hyperedges',
      body: { event_ts: 2000, members: [1] },
      headers: { ...own, 'idempotency-key': 'once' },
    };
    const first = await send(server.url, write);
    expect([first.status, (await send(server.url, write)).text]).toEqual([201, first.text]);
    const tables = await send(server.url, { method: 'GET', path: '/v1/tables', headers: own });
    const read = {
      method: 'GET',
      path: '/v1/tables',
      headers: { ...own, 'if-none-match': tables.headers.get('etag')! },
    };
    expect((await send(server.url, read)).status).toBe(304);
    // A replay is only for the API key that made the write. With another API key the same request
    // writes again, and with a readonly one it is refused.
    const other = { ...write, headers: { 'idempotency-key': 'once' } };
    expect((await keys.send('admin', other)).json.id).not.toBe(first.json.id);
    expect((await keys.send('readonly', other)).status).toBe(403);
    const revoked = await keys.asAdmin({ method: 'DELETE', path: `/v1/keys/${json.key_id}` });
    expect(revoked.json).toEqual({ key_id: json.key_id, revoked: true });
    for (const request of [write, read]) expect((await send(server.url, request)).status).toBe(401);
  });
});

describe('the order of the checks', () => {
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];

  test('puts an unknown route first: it is answered with 404 before the key is checked', async () => {
    for (const path of [
      '/console',
      '/v1',
      '/v1/nope',
      '/v2/tables',
      '/v1/tables/a/b',
      '/admin',
      '/.env',
      '/v1/keys/a/b',
    ]) {
      for (const method of methods) {
        const answer = await send(server.url, { method, path });
        expect([path, method, answer.status, answer.json.code]).toEqual([path, method, 404, 'route_not_found']);
      }
    }
  });

  test('puts the method before the key: a wrong one is answered with 405 and Allow, and OPTIONS with 200', async () => {
    for (const path of new Set(routes.map((route) => route.path))) {
      const allowed = routes.filter((route) => route.path === path).map((route) => route.method as string);
      const sent = path.replace(/\{\w+\}/g, '1');
      for (const method of methods.filter((method) => !allowed.includes(method))) {
        const answer = await send(server.url, { method, path: sent });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(allowed));
      }
      const options = await send(server.url, { method: 'OPTIONS', path: sent });
      expect([path, options.status]).toEqual([path, 200]);
    }
  });

  test('puts the content type and then the body after the key', async () => {
    const request = { method: 'POST', path: '/v1/tables', body: '{' };
    const typed = { ...request, headers: { 'content-type': 'text/plain' } };
    expect((await keys.send('no key', typed)).status).toBe(401);
    expect((await keys.send('readwrite', typed)).status).toBe(403);
    expect((await keys.send('admin', typed)).status).toBe(415);
    expect((await keys.send('readwrite', request)).status).toBe(403);
    expect((await keys.send('admin', request)).status).toBe(400);
  });
});

describe('a write hidden in a body or a header', () => {
  const lsn = async () => (await keys.asAdmin({ method: 'GET', path: '/v1/wal' })).json.last_lsn as number;
  const edge = { event_ts: 3000, members: [9] };

  test('needs the role readwrite', async () => {
    const before = await lsn();
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const hidden: Sent[] = [
      { method: 'POST', path: '/v1/batch', body: { operations: [{ type: 'insert', ...edge }] } },
      {
        method: 'POST',
        path: '/v1/batch',
        body: { operations: [{ type: 'query', cypher: 'MATCH (e:hyperedges) RETURN e' }] },
      },
      { method: 'POST', path: '/v1/batch', body: { role: 'admin', operations: [{ type: 'delete', ...edge }] } },
      { method: 'POST', path: '/v1/batch', body: {} },
      { method: 'POST', path: '/v1/hyperedges', body: `${JSON.stringify(edge)}\n`, headers: ndjson },
      { method: 'POST', path: '/v1/hyperedges?table=hyperedges', body: '', headers: ndjson },
      { method: 'DELETE', path: '/v1/hyperedges', body: edge },
    ];
    for (const request of hidden) {
      const where = JSON.stringify(request);
      expect([where, (await keys.send('readonly', request)).status]).toEqual([where, 403]);
      expect([where, (await keys.send('no key', request)).status]).toEqual([where, 401]);
    }
    expect(await lsn()).toBe(before);
  });

  test('cannot be done by naming another method in a header, the query or the body', async () => {
    const before = await lsn();
    const names = ['x-http-method-override', 'x-http-method', 'x-method-override', '_method'];
    for (const name of names) {
      const reads = { method: 'GET', path: '/v1/tables/hyperedges', headers: { [name]: 'DELETE' } };
      const read = await keys.send('admin', reads);
      expect([name, read.status, read.json.name]).toEqual([name, 200, 'hyperedges']);
      const writes = { method: 'POST', path: '/v1/tables', body: { name: 'sneaked' }, headers: { [name]: 'GET' } };
      expect([name, (await keys.send('readonly', writes)).status]).toEqual([name, 403]);
    }
    for (const query of ['_method=DELETE', 'method=DELETE', 'X-HTTP-Method-Override=DELETE']) {
      const answer = await keys.send('admin', { method: 'GET', path: `/v1/tables/hyperedges?${query}` });
      expect([answer.status, answer.json.name]).toEqual([200, 'hyperedges']);
    }
    const body = { ...edge, _method: 'DELETE', method: 'DELETE' };
    expect((await keys.send('readonly', { method: 'POST', path: '/v1/hyperedges', body })).status).toBe(403);
    expect(await lsn()).toBe(before);
  });

  test('cannot be done by a nested operation, and the role readwrite cannot define tables in a batch', async () => {
    const before = await lsn();
    const operations = [
      { type: 'batch', operations: [{ type: 'insert', ...edge }] },
      { type: 'table', name: 'sneaked' },
      { type: 'query', cypher: 'CREATE HYPEREDGE TABLE sneaked (a)' },
      { type: 'query', cypher: 'DROP HYPEREDGE TABLE hyperedges' },
    ];
    for (const operation of operations) {
      const body = { operations: [operation] };
      const answer = await keys.send('readwrite', { method: 'POST', path: '/v1/batch', body });
      expect([answer.status, answer.json.committed]).toEqual([200, false]);
    }
    const nested = { operations: [{ type: 'insert', ...edge, operations: [{ type: 'insert', ...edge }] }] };
    const answer = await keys.send('readwrite', { method: 'POST', path: '/v1/batch', body: nested });
    expect([answer.json.committed, answer.json.ops_total]).toEqual([true, 1]);
    expect(await lsn()).toBe(before + 1);
    const tables = (await keys.asAdmin({ method: 'GET', path: '/v1/tables' })).json as { name: string }[];
    expect(tables.map((table) => table.name)).not.toContain('sneaked');
  });
});

describe('with HEDGEROW_AUTH_DISABLED=1', () => {
  let open: ChildServer;
  beforeAll(async () => {
    open = await startChild({ environment: { HEDGEROW_AUTH_DISABLED: '1' } });
    makeTrips(join(open.dir, 'virtual'));
  });
  afterAll(() => open.stop());

  test('every route answers without a key, but the key routes answer 503', async () => {
    for (const route of routes) {
      const recipe = recipeOf(route.method, route.path);
      for (const headers of [{}, { 'x-api-key': 'no key' }, { authorization: `Bearer ${ADMIN_KEY}` }]) {
        const admin = (request: Sent) => send(open.url, request);
        const answer = await send(open.url, { method: route.method, ...(await recipe.make(admin)), headers });
        const isKeys = route.path.startsWith('/v1/keys');
        const found = [nameOf(route), answer.status, answer.json?.code];
        expect(found).toEqual([nameOf(route), isKeys ? 503 : recipe.status, isKeys ? 'no_keys' : undefined]);
      }
    }
  });

  test('health and the log report that keys are disabled', async () => {
    expect((await send(open.url, { method: 'GET', path: '/health' })).json.auth_disabled).toBe(true);
    expect(open.output.error).toMatch(/"level":"warn".*key/);
    expect((await keys.asAdmin({ method: 'GET', path: '/health' })).json.auth_disabled).toBe(false);
  });
});
