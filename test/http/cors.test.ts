import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
afterEach(() => server.close());

const PAGE = 'https://console.example';
const corsHeaders = ({ headers }: Answer) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
const from = (origin: string, method = 'GET', path = '/v1/tables', more: Record<string, string> = {}) =>
  send(server, method, path, undefined, { origin, ...more });
const preflight = (origin: string, path = '/v1/tables') =>
  from(origin, 'OPTIONS', path, {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key',
  });

describe('without listed origins', () => {
  test('no answer has CORS headers or varies by origin', async () => {
    server = await startServer();
    for (const answer of [await from(PAGE), await preflight(PAGE), await from('null', 'GET', '/nope')]) {
      expect(corsHeaders(answer)).toEqual({});
      expect(answer.headers.get('vary')).not.toContain('Origin');
    }
  });
});

describe('with a list of origins', () => {
  const start = async (auth = false) => {
    server = await startServer({ cors: [PAGE, 'http://localhost:5173'], auth });
  };

  test('answers to listed origins allow them and list the readable headers', async () => {
    await start();
    for (const origin of [PAGE, 'http://localhost:5173']) {
      const answer = await from(origin);
      expect(answer.status).toBe(200);
      const {
        'access-control-allow-origin': allowed,
        'access-control-expose-headers': exposed,
        ...rest
      } = corsHeaders(answer);
      expect(allowed).toBe(origin);
      expect(rest).toEqual({});
      const names = exposed!.toLowerCase().split(', ');
      for (const name of [
        'x-hedgerow-lsn',
        'x-request-id',
        'x-ratelimit-remaining',
        'etag',
        'retry-after',
        'x-next-cursor',
      ])
        expect(names).toContain(name);
      expect(answer.headers.get('vary')).toContain('Origin');
    }
  });

  test('answers to other origins, including similar ones, have no CORS headers', async () => {
    await start(true);
    const key = { 'x-api-key': server.keys.readonly };
    for (const origin of [
      'https://evil.example',
      `${PAGE}.evil.example`,
      `${PAGE}:8443`,
      'http://console.example',
      'null',
      'HTTPS://console.example',
      '*',
    ]) {
      const answer = await from(origin, 'GET', '/v1/tables', key);
      expect([origin, answer.status, corsHeaders(answer)]).toEqual([origin, 200, {}]);
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(corsHeaders(await preflight(origin))).toEqual({});
    }
    expect(corsHeaders(await send(server, 'GET', '/v1/tables'))).toEqual({});
  });

  test('a preflight request needs no key and returns the methods, the headers and how long they are valid', async () => {
    await start(true);
    const answer = await preflight(PAGE, '/v1/hyperedges');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, POST');
    const headers = corsHeaders(answer);
    expect(headers['access-control-allow-origin']).toBe(PAGE);
    expect(headers['access-control-allow-methods']).toBe('DELETE, GET, HEAD, OPTIONS, POST');
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0);
    const names = headers['access-control-allow-headers']!.toLowerCase().split(', ');
    for (const name of [
      'x-api-key',
      'authorization',
      'content-type',
      'idempotency-key',
      'if-none-match',
      'x-min-lsn',
      'x-request-id',
      'x-session-id',
    ])
      expect(names).toContain(name);
    // An OPTIONS request without Access-Control-Request-Method is not a preflight.
    expect(Object.keys(corsHeaders(await from(PAGE, 'OPTIONS'))).sort()).toEqual([
      'access-control-allow-origin',
      'access-control-expose-headers',
    ]);
  });

  test('listed pages may also read errors, streams and answers of other content types', async () => {
    await start(true);
    const key = { 'x-api-key': server.keys.admin };
    const answers = [
      await from(PAGE),
      await from(PAGE, 'GET', '/nope'),
      await from(PAGE, 'PUT'),
      await from(PAGE, 'GET', '/health/live'),
      await from(PAGE, 'GET', '/docs'),
      await from(PAGE, 'GET', '/v1/hyperedges?start_ts=0&end_ts=1', { ...key, accept: 'application/x-ndjson' }),
      await from(PAGE, 'HEAD', '/v1/tables', key),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 405, 200, 200, 200, 200]);
    for (const answer of answers) expect(corsHeaders(answer)['access-control-allow-origin']).toBe(PAGE);
  });
});

describe('with * as an entry', () => {
  test('pages of all origins may read answers', async () => {
    server = await startServer({ cors: ['*'] });
    for (const origin of [PAGE, 'null'])
      expect(corsHeaders(await from(origin))['access-control-allow-origin']).toBe('*');
    expect(corsHeaders(await preflight(PAGE))['access-control-allow-methods']).toContain('POST');
    expect(corsHeaders(await send(server, 'GET', '/v1/tables'))).toEqual({});
  });
});
