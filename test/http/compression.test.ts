import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptsGzip } from '../../src/http/answer/compression.ts';
import { manyEdges, NDJSON, openSocket, send, startServer, type TestServer } from './support.ts';

describe('gzip', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    await send(server, 'POST', '/v1/hyperedges', manyEdges(1000), NDJSON);
  });
  afterAll(() => server.close());

  /** Returns the head and the body of an answer as sent over the wire, without decompressing it. */
  async function plain(path: string, acceptEncoding: string | undefined, more = '', method = 'GET') {
    const accept = acceptEncoding === undefined ? '' : `Accept-Encoding: ${acceptEncoding}\r\n`;
    const socket = connect(server.port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${accept}${more}\r\n`);
    await closed;
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    const head = all.subarray(0, end).toString('latin1').toLowerCase();
    return { head, body: all.subarray(end + 4) };
  }
  const rows = (count: number) => `/v1/hyperedges?start_ts=0&end_ts=${count - 1}`;

  test.each([
    ['some rows', rows(20)],
    ['many rows, in another thread', rows(500)],
    ['NDJSON', rows(500), 'Accept: application/x-ndjson\r\n'],
    ['a document', '/openapi.json'],
  ])('shrinks the answer: %s', async (_name, path, more = '') => {
    const whole = await plain(path, undefined, more);
    const small = await plain(path, 'gzip', more);
    expect(small.head).toContain('content-encoding: gzip');
    expect(small.head).toContain(`content-length: ${small.body.length}`);
    expect(small.body.length).toBeLessThan(whole.body.length / 2);
    const text = gunzipSync(small.body).toString();
    const figures = /"elapsed_us":\d+/g;
    expect(text.replace(figures, '')).toBe(whole.body.toString().replace(figures, ''));
    for (const { head } of [whole, small]) expect(head).toMatch(/vary: .*accept-encoding/);
    expect(whole.head).not.toContain('content-encoding');
  });

  test('is used only for answers longer than 1 KB', async () => {
    const bytes = async (path: string) => (await plain(path, undefined)).body.length;
    let small = 1;
    while ((await bytes(rows(small + 1))) <= 1000) small += 1;
    expect((await plain(rows(small), 'gzip')).head).not.toContain('content-encoding');
    expect((await plain(rows(small + 2), 'gzip')).head).toContain('content-encoding: gzip');
    expect((await plain('/nope', 'gzip')).head).not.toContain('content-encoding');
  });

  test('gives HEAD the Content-Length that GET would send', async () => {
    const get = await plain('/openapi.json', 'gzip');
    const head = await plain('/openapi.json', 'gzip', '', 'HEAD');
    expect(head.body.length).toBe(0);
    expect(head.head).toContain(`content-length: ${get.body.length}`);
    expect(head.head).toContain('content-encoding: gzip');
  });

  test('leaves answers in shared memory intact while it compresses others', async () => {
    const ask = (start: number) => send(server, 'GET', `/v1/hyperedges?start_ts=${start}&end_ts=${start + 300}`);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(i * 3)));
    answers.forEach(({ json }, i) => {
      expect(json.hyperedges.map((edge: { event_ts: number }) => edge.event_ts)).toEqual(
        Array.from({ length: 301 }, (_, row) => i * 3 + row),
      );
    });
  });

  test('survives a client that disconnects during compression', async () => {
    for (let i = 0; i < 20; i++) {
      const socket = await openSocket(server);
      socket.write(`GET ${rows(500)} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n`);
      socket.destroy();
    }
    expect((await send(server, 'GET', rows(500))).json.num_tuples).toBe(500);
    expect(server.errors).toEqual([]);
  });

  test.each([
    ['', false],
    ['gzip', true],
    ['GZIP', true],
    ['x-gzip', true],
    ['deflate, gzip;q=1.0, *;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip;q=0.0', false],
    ['gzip; q=0.001', true],
    ['gzip;q=x', false],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0, *', false],
    ['identity', false],
    ['br, identity;q=0.5', false],
    ['identity;q=1, gzip;q=0.5', false],
    ['identity;q=0.5, gzip;q=0.8', true],
    ['identity;q=0, gzip', true],
    ['gzip, deflate, br, zstd', true],
    ['gzipped', false],
    [',,gzip,', true],
  ])('is or is not allowed by the header Accept-Encoding "%s": %s', (header, expected) =>
    expect(acceptsGzip(header)).toBe(expected),
  );
});
