import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { USUAL } from '../support/transport.ts';
import { manyEdges, NDJSON, raw, send, sleep, startServer, type TestServer } from './support.ts';

/**
 * The parsers of the two transports differ in what they refuse and how. All differences are in
 * test/service/raw-over-node.ts.
 */
const overNode = USUAL === 'node';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ maxBodyBytes: 1000 });
  await send(server, 'POST', '/v1/hyperedges', manyEdges(10), NDJSON);
});
afterAll(() => server.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const RANGE = '/v1/hyperedges?start_ts=1&end_ts=2';
const TYPE = 'Content-Type: application/json\r\n';
const request = (line: string, headers = '', body = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\n${line.startsWith('POST') ? TYPE : ''}${headers}\r\n${body}`;
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

describe('methods', () => {
  test('do not matter on an unknown path, which is answered with 404', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD']) {
      expect((await send(server, method, '/v1/nope')).status).toBe(404);
    }
    for (const path of ['/', '/V1/tables', '/v1/tables/', '/v1//tables', '/v1/tables/a/b', '/v1/hyperedges/node/']) {
      const answer = await send(server, 'GET', path);
      expect([path, answer.status, answer.json.code]).toEqual([path, 404, 'route_not_found']);
    }
  });

  test('are answered with 405 and Allow if they are wrong', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE']) {
      const answer = statuses(await raw(server, [request(`${method} /v1/tables`)]));
      expect(answer).toEqual([405]);
    }
    const answer = await send(server, 'PUT', '/v1/hyperedges', {});
    expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, POST');
    expect(answer.json).toMatchObject({ code: 'method_not_allowed', status: 405 });
    expect((await send(server, 'HEAD', '/v1/batch')).status).toBe(405);
    for (const method of ['get', 'TRACEX']) {
      expect(statuses(await raw(server, [request(`${method} /v1/tables`)]))).toEqual([overNode ? 400 : 405]);
    }
  });

  test('include OPTIONS, which is answered with 200 and Allow', async () => {
    const answer = await send(server, 'OPTIONS', '/v1/tables/x');
    expect([answer.status, answer.headers.get('allow')]).toEqual([200, 'DELETE, GET, HEAD, OPTIONS']);
    expect(answer.json).toEqual({ allow: ['DELETE', 'GET', 'HEAD', 'OPTIONS'] });
  });

  test('include HEAD, which is answered like GET without the body', async () => {
    for (const path of ['/health', '/v1/tables', RANGE, '/v1/hyperedges/node/1', '/v1/tables/nope']) {
      const get = await send(server, 'GET', path);
      const head = await send(server, 'HEAD', path);
      expect(head.status).toBe(get.status);
      expect(head.text).toBe('');
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
    }
    // The connection stays usable.
    const text = await raw(server, [request(`HEAD ${RANGE}`) + request('GET /health/live')]);
    expect(statuses(text)).toEqual([200, 200]);
    expect(text.endsWith('{"status":"live"}')).toBe(true);
  });
});

describe('request ids', () => {
  const idFor = async (sent?: string) =>
    (
      await send(server, 'GET', '/health/live', undefined, sent === undefined ? {} : { 'x-request-id': sent })
    ).headers.get('x-request-id');

  test('are echoed when valid, and generated otherwise', async () => {
    expect(await idFor('abc 123 {}')).toBe('abc 123 {}');
    expect(await idFor('x'.repeat(128))).toBe('x'.repeat(128));
    const made = await idFor();
    expect(made).toMatch(/^[\w-]+-\d+$/);
    expect(await idFor('x'.repeat(129))).not.toBe('x'.repeat(129));
    expect(await idFor('é')).toMatch(/^[\w-]+-\d+$/);
    expect(await idFor()).not.toBe(made);
  });

  test('are in every error body', async () => {
    const answer = await send(server, 'GET', '/nope', undefined, { 'x-request-id': 'mine' });
    expect(answer.json).toEqual({
      detail: expect.stringContaining('/nope'),
      code: 'route_not_found',
      status: 404,
      request_id: 'mine',
    });
  });
});

describe('bodies', () => {
  test('are refused before they are read when their type is wrong', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'x']) {
      const answer = await send(server, 'POST', '/v1/hyperedges', '{', { 'content-type': type });
      expect([answer.status, answer.json.code]).toEqual([415, 'unsupported_media_type']);
    }
    expect((await send(server, 'POST', '/v1/tables', '{}', NDJSON)).status).toBe(415);
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y']) {
      const answer = await send(server, 'POST', '/v1/hyperedges', '{"event_ts":1,"members":[1]}', {
        'content-type': type,
      });
      expect(answer.status).toBe(201);
    }
  });

  test('are refused when they have a Content-Encoding, whatever they contain', async () => {
    const edge = '{"event_ts":1,"members":[1]}';
    for (const coding of ['gzip', 'GZIP', 'br', 'identity, gzip', 'x']) {
      for (const body of [edge, gzipSync(edge)]) {
        const answer = await send(server, 'POST', '/v1/hyperedges', body, { ...JSON_TYPE, 'content-encoding': coding });
        expect([coding, answer.status, answer.json.code]).toEqual([coding, 415, 'unsupported_media_type']);
      }
    }
    const plain = await send(server, 'POST', '/v1/hyperedges', edge, { ...JSON_TYPE, 'content-encoding': 'identity' });
    expect(plain.status).toBe(201);
  });

  test('are refused with 413 when their length exceeds the limit or when they grow past it', async () => {
    const declared = await raw(server, [request('POST /v1/hyperedges', 'Content-Length: 1001\r\n')]);
    expect(statuses(declared)).toEqual([413]);
    expect(declared).toContain('"code":"body_too_large"');
    const chunked = await raw(server, [
      request('POST /v1/hyperedges', 'Transfer-Encoding: chunked\r\n'),
      `320\r\n${'x'.repeat(800)}\r\n`,
      20,
      `320\r\n${'x'.repeat(800)}\r\n`,
    ]);
    expect(statuses(chunked)).toEqual([overNode ? 413 : 411]);
    const huge = await raw(server, [request('POST /v1/hyperedges', 'Content-Length: 999999999999\r\n')]);
    expect(statuses(huge)).toEqual([413]);
    expect(huge.endsWith('[closed]')).toBe(true);
    const full = await send(server, 'POST', '/v1/hyperedges', `{"event_ts":1,"members":[1]}`.padEnd(1000));
    expect(full.status).toBe(201);
  });

  test('leave the connection usable after a refusal with 413', async () => {
    const text = await raw(server, [
      request('POST /v1/hyperedges', 'Content-Length: 2000\r\n', 'x'.repeat(500)),
      20,
      'x'.repeat(1500),
      20,
      request('GET /health/live'),
    ]);
    expect(statuses(text)).toEqual([413, 200]);
  });

  test('are assembled when they arrive in pieces', async () => {
    const body = '{"event_ts":5,"members":[1,2,3],"formation":"piecewise"}';
    const text = await raw(server, [
      request('POST /v1/hyperedges', `Content-Length: ${body.length}\r\n`),
      10,
      body.slice(0, 20),
      10,
      body.slice(20, 21),
      10,
      body.slice(21),
    ]);
    expect(statuses(text)).toEqual([201]);
    expect(text).toContain('"formation":"piecewise"');
  });

  test('are skipped in a GET request', async () => {
    const text = await raw(server, [
      request('GET /health/live', 'Content-Length: 5\r\n', 'hello') + request('GET /health/live'),
    ]);
    expect(statuses(text)).toEqual([200, 200]);
  });
});

describe('a connection', () => {
  test('gets answers to all pipelined reads', async () => {
    const text = await raw(server, [request(`GET ${RANGE}`) + request('GET /nope') + request('GET /v1/wal')]);
    expect(statuses(text)).toEqual([200, 404, 200]);
  });

  test('ends at a request with two Content-Length headers, without running anything', async () => {
    const before = server.database.lastLsn;
    const inner = '{"event_ts":77,"members":[1]}';
    const text = await raw(server, [
      request(
        'POST /v1/hyperedges',
        'Content-Length: 0\r\nContent-Length: 10\r\n',
        request('POST /v1/hyperedges', `Content-Length: ${inner.length}\r\n`, inner),
      ),
    ]);
    expect([statuses(text), text.endsWith('[closed]')]).toEqual([overNode ? [400] : [], true]);
    expect(server.database.lastLsn).toBe(before);
  });

  // When the parser itself refuses a request, the answer does not have our error body.
  test.each([
    ['no host', 'GET /health/live HTTP/1.1\r\n\r\n', 400],
    ['two hosts', request('GET /health/live', 'Host: y\r\n'), 400],
    [
      'length and chunks',
      request('POST /v1/batch', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
      400,
    ],
    ['old version', 'GET /health/live HTTP/1.0\r\nHost: x\r\n\r\n', 505],
    ['absolute target', 'GET http://x/health/live HTTP/1.1\r\nHost: x\r\n\r\n', overNode ? 400 : 505],
    ['huge header', request('GET /health/live', `X: ${'x'.repeat(20_000)}\r\n`), 431],
    ['bad length', request('POST /v1/batch', 'Content-Length: abc\r\n', 'x'), 400],
    ['no request', '\x00\x01\x02\r\n\r\n', undefined],
  ])('may send a request with %s, which the service survives', async (_name, text, status) => {
    const answer = await raw(server, [text]);
    if (status !== undefined) expect(statuses(answer)).toEqual([status]);
    expect((await send(server, 'GET', '/health/live')).status).toBe(200);
  });

  test('may break in the middle of a request without harm', async () => {
    await raw(server, [request('POST /v1/hyperedges', 'Content-Length: 500\r\n', '{"event_ts":1')], 20);
    await raw(server, ['GET /v1/hyper'], 20);
    const body = '{"event_ts":1,"members":[1]}';
    await raw(server, [request('POST /v1/hyperedges', `Content-Length: ${body.length}\r\n`, body)], 0);
    await sleep(50);
    expect((await send(server, 'GET', '/health/live')).status).toBe(200);
    expect(server.errors).toEqual([]);
  });

  test('ends after an answer if the request has Connection: close', async () => {
    const text = await raw(server, [request(`GET ${RANGE}`, 'Connection: close\r\n')]);
    expect(text.endsWith('[closed]')).toBe(true);
    expect(statuses(text)).toEqual([200]);
  });

  // The transports differ here, because of a limit of uWebSockets.js. The next two tests notice a
  // change.
  test.runIf(overNode)(
    'gets the answer to a pipelined request after that to the running write, over node:http',
    async () => {
      const body = '{"event_ts":1,"members":[1]}';
      const write = request('POST /v1/hyperedges', `Content-Length: ${body.length}\r\n`, body);
      expect(statuses(await raw(server, [write + write]))).toEqual([201, 201]);
    },
  );

  test.skipIf(overNode)('ends at a request pipelined after a running write, over uWebSockets.js', async () => {
    const body = '{"event_ts":1,"members":[1]}';
    const write = request('POST /v1/hyperedges', `Content-Length: ${body.length}\r\n`, body);
    expect((await raw(server, [write + write])).endsWith('[closed]')).toBe(true);
    expect((await send(server, 'GET', '/health/live')).status).toBe(200);
  });
});

describe('internal failures', () => {
  test('are answered with 500 without the reason, which is logged', async () => {
    const table = server.database.table();
    const { scan } = table;
    table.scan = () => {
      throw new TypeError('secret reason');
    };
    try {
      const answer = await send(server, 'GET', RANGE);
      expect(answer.status).toBe(500);
      expect(answer.json).toMatchObject({ code: 'internal', status: 500 });
      expect(answer.text).not.toContain('secret');
      expect(answer.text).not.toContain('.ts');
      expect(server.errors.splice(0).join()).toContain('secret reason');
    } finally {
      table.scan = scan;
    }
  });

  test('are also answered with 500 when they occur in a write', async () => {
    const table = server.database.table();
    const { insert } = table;
    table.insert = () => Promise.reject(new Error('secret reason'));
    try {
      expect((await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1] })).status).toBe(500);
      expect(server.errors.splice(0)).toHaveLength(1);
    } finally {
      table.insert = insert;
    }
  });
});
