import { afterEach, describe, expect, test } from 'vitest';
import { Cors } from '../../src/http/cors.ts';
import { ForeignRequests } from '../../src/http/foreign-requests.ts';
import { RepeatedHeaders } from '../../src/http/repeated-headers.ts';
import type { TransportRequest } from '../../src/http/transport.ts';
import { Recorder, raw, type ServerOptions, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
afterEach(() => server?.close());

const start = async (options: ServerOptions = {}) => {
  server = await startServer({ publicHosts: [], ...options });
};

/** Returns the status of a raw request with these header lines and `Connection: close`. */
async function statusOf(lines: readonly string[], first = 'GET /v1/tables', body = ''): Promise<number> {
  const text = [`${first} HTTP/1.1`, ...lines, 'Connection: close', '', body].join('\r\n');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await raw(server, [text], 10_000))?.[1]);
}

const OWN = 'Host: localhost';
const FOREIGN = 'https://evil.test';

describe('without keys', () => {
  test('only requests addressed to this machine are answered, on every route except the probes', async () => {
    await start();
    const { port } = server;
    for (const host of [
      'localhost',
      'LOCALHOST',
      'localhost.',
      `localhost:${port}`,
      'localhost:1',
      'localhost:',
      '127.0.0.1',
      `127.0.0.1:${port}`,
      '127.9.8.7',
      '[::1]',
      `[::1]:${port}`,
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
    ]) {
      expect([host, await statusOf([`Host: ${host}`])]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.test',
      `evil.test:${port}`,
      'localhost.evil.test',
      'evil.localhost',
      'localhost..',
      '127.0.0.1.evil.test',
      '127.0.0.1.nip.io',
      '0.0.0.0',
      '10.0.0.1',
      '[::2]',
      '[::ffff:10.0.0.1]',
      '::1',
      '[::1',
      'localhost:x',
      'localhost:70000',
      'localhost:8000:8000',
      'user@localhost',
      'localhost/',
      'localhost evil.test',
      '2130706433',
      '0x7f.1',
    ]) {
      expect([host, await statusOf([`Host: ${host}`])]).toEqual([host, 403]);
    }
    for (const first of [
      'GET /',
      'GET /docs',
      'GET /openapi.json',
      'GET /metrics',
      'GET /health',
      'OPTIONS /v1/tables',
    ]) {
      expect([first, await statusOf(['Host: evil.test'], first)]).toEqual([first, 403]);
    }
    for (const first of ['GET /health/live', 'GET /health/ready']) {
      expect([first, await statusOf(['Host: evil.test', `Origin: ${FOREIGN}`], first)]).toEqual([first, 200]);
    }
    // An allowed request must not make later ones allowed.
    expect(await statusOf(['Host: localhost'])).toBe(200);
    expect(await statusOf(['Host: evil.test'])).toBe(403);
  });

  test('the refusal names the settings that would allow the request, and is audited', async () => {
    const observer = new Recorder();
    await start({ observer });
    const host = await raw(
      server,
      ['GET /v1/tables HTTP/1.1\r\nHost: evil.test:80\r\nConnection: close\r\n\r\n'],
      10_000,
    );
    expect(host).toContain('"code":"foreign_host"');
    expect(host).toMatch(/evil\.test:80.*http:\/\/127\.0\.0\.1.*HEDGEROW_PUBLIC_HOSTS.*keys/);
    const origin = await send(server, 'GET', '/v1/tables', undefined, { origin: FOREIGN });
    expect(origin.json).toMatchObject({ status: 403, code: 'foreign_origin' });
    expect(origin.json.detail).toMatch(/evil\.test.*HEDGEROW_CORS_ORIGINS.*keys/);
    expect(observer.refusals).toEqual(['forbidden', 'forbidden']);
    expect(observer.audits).toMatchObject(Array(2).fill({ event: 'auth.denied', status: 403, remoteIp: '127.0.0.1' }));
  });

  test('an origin is foreign when its scheme, host or port differs from the request', async () => {
    await start();
    const { port } = server;
    const host = `Host: localhost:${port}`;
    for (const origin of [`http://localhost:${port}`, `http://LOCALHOST.:${port}`]) {
      expect([origin, await statusOf([host, `Origin: ${origin}`])]).toEqual([origin, 200]);
    }
    expect(await statusOf([OWN, 'Origin: http://localhost:80'])).toBe(200);
    for (const origin of [
      FOREIGN,
      'null',
      `https://localhost:${port}`,
      `http://localhost:${port + 1}`,
      'http://localhost',
      `http://127.0.0.1:${port}`,
      `http://localhost:${port}.evil.test`,
      `http://localhost:${port}/`,
      'file://',
      'x',
    ]) {
      expect([origin, await statusOf([host, `Origin: ${origin}`])]).toEqual([origin, 403]);
      expect(
        await statusOf([host, `Origin: ${origin}`, 'Access-Control-Request-Method: POST'], 'OPTIONS /v1/tables'),
      ).toBe(403);
    }
  });

  test('requests initiated by another site are refused, but a link may open the API page and the console', async () => {
    await start();
    const site = (value: string, ...more: string[]) => [OWN, `Sec-Fetch-Site: ${value}`, ...more];
    for (const value of ['none', 'same-origin']) expect(await statusOf(site(value))).toBe(200);
    for (const value of ['same-site', 'cross-site', 'something']) expect(await statusOf(site(value))).toBe(403);
    const link = site('cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document');
    expect(await statusOf(link, 'GET /docs')).toBe(200);
    expect(await statusOf(link, 'GET /docs/start.js')).toBe(200);
    // 404, because the console is not built in this process.
    expect(await statusOf(link, 'GET /')).toBe(404);
    expect(await statusOf(link, 'GET /v1/tables')).toBe(403);
    expect(await statusOf(link, 'GET /openapi.json')).toBe(403);
    expect(await statusOf(link, 'POST /v1/query')).toBe(403);
    const frame = site('cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe');
    expect(await statusOf(frame, 'GET /docs')).toBe(403);
    expect(await statusOf(site('cross-site', 'Sec-Fetch-Mode: no-cors'), 'GET /docs')).toBe(403);
  });

  test('origins listed for CORS are not foreign, and with * no origin is foreign', async () => {
    await start({ cors: ['https://app.example'] });
    const listed = ['Origin: https://app.example', 'Sec-Fetch-Site: cross-site'];
    expect(await statusOf([OWN, ...listed])).toBe(200);
    expect(await statusOf([OWN, ...listed, 'Access-Control-Request-Method: POST'], 'OPTIONS /v1/query')).toBe(200);
    expect(await statusOf([OWN, 'Sec-Fetch-Site: cross-site'])).toBe(403);
    expect(await statusOf([OWN, `Origin: ${FOREIGN}`])).toBe(403);
    // A listed origin may not be the Host of a request.
    expect(await statusOf(['Host: app.example', ...listed])).toBe(403);
    await server.close();
    await start({ cors: ['*'] });
    expect(await statusOf([OWN, 'Origin: null', 'Sec-Fetch-Site: cross-site'])).toBe(200);
    expect(await statusOf([OWN, 'Sec-Fetch-Site: cross-site'])).toBe(200);
    expect(await statusOf(['Host: evil.test'])).toBe(403);
  });

  test('a request with two different Origin, Host or Sec-Fetch-Site headers is refused', async () => {
    await start({ cors: ['https://app.example'] });
    const own = `Origin: http://localhost:${server.port}`;
    const host = `Host: localhost:${server.port}`;
    expect(await statusOf([host, own])).toBe(200);
    expect(await statusOf([host, own, `Origin: ${FOREIGN}`])).toBe(403);
    expect(await statusOf([host, 'Origin: https://app.example', `Origin: ${FOREIGN}`])).toBe(403);
    expect(await statusOf([host, 'Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site'])).toBe(403);
    expect([400, 403]).toContain(await statusOf([host, own, 'Host: evil.test']));
  });

  test('a request with a body must declare its content type', async () => {
    await start();
    const body = '{"event_ts":1,"members":[1]}';
    const post = (...lines: string[]) =>
      statusOf([OWN, `Content-Length: ${body.length}`, ...lines], 'POST /v1/hyperedges', body);
    expect(await post()).toBe(415);
    expect(await post('Content-Type:')).toBe(415);
    expect(await post('Content-Type: text/plain')).toBe(415);
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    // The status is 411 if the transport itself refuses chunks.
    expect([411, 415]).toContain(await statusOf([OWN, 'Transfer-Encoding: chunked'], 'POST /v1/hyperedges', chunked));
    expect((await send(server, 'GET', '/v1/hyperedges?start_ts=0&end_ts=9')).json.num_tuples).toBe(0);
    expect(await post('Content-Type: application/json')).toBe(201);
    // An empty body counts as no body.
    expect(await statusOf([OWN], 'POST /v1/hyperedges/compact')).toBe(200);
    expect(await statusOf([OWN, 'Content-Length: 0'], 'POST /v1/hyperedges/compact')).toBe(200);
  });
});

test('no host, origin or content type is refused when keys are required', async () => {
  await start({ auth: true });
  const key = `X-API-Key: ${server.keys.admin}`;
  expect(await statusOf(['Host: evil.test', `Origin: ${FOREIGN}`, 'Sec-Fetch-Site: cross-site', key])).toBe(200);
  const body = '{"event_ts":1,"members":[1]}';
  const lines = ['Host: evil.test', key, `Content-Length: ${body.length}`];
  expect(await statusOf(lines, 'POST /v1/hyperedges', body)).toBe(201);
});

describe('the host check', () => {
  const answers = (host: string, publicHosts: string[], asked: string, isSecure = false, origin = '') => {
    const headers: Record<string, string> = { host: asked, origin };
    const request = {
      getHeader: (name: Uint8Array) => headers[Buffer.from(name).toString()] ?? '',
      forEach: (take: (name: string, value: string) => void) => {
        for (const name of Object.keys(headers)) take(name, headers[name]!);
      },
    };
    const foreign = new ForeignRequests({ host, publicHosts, isSecure, cors: new Cors([]) });
    const repeated = new RepeatedHeaders();
    repeated.begin(request as unknown as TransportRequest);
    try {
      foreign.refuse(request as unknown as TransportRequest, repeated, false);
      return true;
    } catch {
      return false;
    }
  };

  test('accepts names that are listed or that the server listens on', () => {
    expect(answers('127.0.0.1', ['Graph.Home.test', 'fe80::1'], 'graph.home.test:8000')).toBe(true);
    expect(answers('127.0.0.1', ['Graph.Home.test', 'fe80::1'], '[fe80::1]:8000')).toBe(true);
    expect(answers('127.0.0.1', ['graph.home.test'], 'home.test')).toBe(false);
    expect(answers('Box.test', [], 'box.test:1')).toBe(true);
    expect(answers('::1', [], '[::1]')).toBe(true);
    expect(answers('[::1]', [], '10.0.0.1')).toBe(false);
  });

  test('accepts any IP address, but not any name, when other machines can reach the service', () => {
    for (const listened of ['0.0.0.0', '::', '192.168.1.5', 'box.test']) {
      for (const asked of ['192.168.1.5:8000', '[fd00::1]:8000', 'localhost'])
        expect([listened, asked, answers(listened, [], asked)]).toEqual([listened, asked, true]);
      expect(answers(listened, [], 'evil.test')).toBe(false);
      expect(answers(listened, ['graph.test'], 'graph.test')).toBe(true);
    }
  });

  test('adds the default port of the scheme before it compares an origin', () => {
    expect(answers('127.0.0.1', [], 'localhost:443', true, 'https://localhost')).toBe(true);
    expect(answers('127.0.0.1', [], 'localhost', true, 'https://localhost:443')).toBe(true);
    expect(answers('127.0.0.1', [], 'localhost', true, 'http://localhost')).toBe(false);
    expect(answers('127.0.0.1', [], 'localhost', false, 'http://localhost:443')).toBe(false);
  });
});
