import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleWorld, startConsole } from './support.ts';

const BUILT = new URL('../../build/console/console/', import.meta.url);

function builtFiles(): string[] {
  try {
    return readdirSync(BUILT);
  } catch {
    return [];
  }
}

const files = builtFiles();
if (files.length === 0)
  console.log('routes of the console: skipped: the console was not built (npm run build:console)');

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

describe.skipIf(files.length === 0)('routes of the console', () => {
  let world: ConsoleWorld;
  const script = files.find((name) => /^index-.*\.js$/.test(name))!;

  beforeAll(async () => {
    world = await startConsole();
  });
  afterAll(() => world?.close());

  /** Sends the path verbatim, which fetch would not do. */
  function ask(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
    const { hostname, port } = new URL(world.url);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
        );
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  test('serve the page uncached and its files cached forever, all with a security policy', async () => {
    for (const [path, type, cache] of [
      ['/', 'text/html; charset=utf-8', 'no-cache'],
      ['/?key=hgr_x', 'text/html; charset=utf-8', 'no-cache'],
      ...files.map((name) => [
        `/console/${name}`,
        name.endsWith('.js')
          ? 'text/javascript; charset=utf-8'
          : name.endsWith('.css')
            ? 'text/css; charset=utf-8'
            : 'image/svg+xml',
        'public, max-age=31536000, immutable',
      ]),
    ] as [string, string, string][]) {
      const { status, headers, body } = await ask(path);
      expect([path, status, headers['content-type'], headers['cache-control']]).toEqual([path, 200, type, cache]);
      expect(headers['x-content-type-options'], path).toBe('nosniff');
      expect(headers['referrer-policy'], path).toBe('no-referrer');
      expect(headers['cross-origin-opener-policy'], path).toBe('same-origin');
      expect(headers['set-cookie'], path).toBe(undefined);
      const policy = String(headers['content-security-policy']);
      for (const part of [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
        expect(policy.split('; '), path).toContain(part);
      expect(policy, path).not.toMatch(/unsafe|\*|data:|http/);
      if (path.startsWith('/console/'))
        expect(body.equals(readFileSync(new URL(path.slice(9), BUILT))), path).toBe(true);
      else expect(body.toString(), path).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|https?:/);
    }
  });

  test.each([
    '..%2findex.html',
    '%2e%2e%2findex.html',
    '%2e%2e/index.html',
    '../index.html',
    './index.html',
    '..%2f..%2f..%2fpackage.json',
    '..%5c..%5cpackage.json',
    '..\\..\\package.json',
    '%252e%252e%252findex.html',
    '%c0%ae%c0%ae%c0%afindex.html',
    '%2f%65tc%2fpasswd',
    'index.html',
    '%69ndex.html',
    '%00',
    'x.js%00',
    'x%00.js',
    '%0d%0aX-Evil:%201.js',
    '%ff.js',
    '%zz.js',
    '%',
    '__proto__.js',
    'constructor.js',
    '.js',
    '..js',
    'a..js',
    'x.map',
    '',
    '%3Cscript%3Ealert(1)%3C%2Fscript%3E.js',
    `${'a'.repeat(3000)}.js`,
  ])('serve nothing for %j', async (name) => {
    const { status, headers, body } = await ask(`/console/${name}`);
    expect([400, 404]).toContain(status);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-evil']).toBe(undefined);
    expect(body.length).toBeLessThan(name.length + 500);
    expect(body.toString()).not.toMatch(/node_modules|ENOENT|\/work|root:/);
    const { detail } = JSON.parse(body.toString()) as { detail: string };
    expect(detail.length).toBeGreaterThan(20);
  });

  test('accept names with a query string, but no other letter case and no folders', async () => {
    expect((await ask(`/console/${script}?v=../x`)).status).toBe(200);
    for (const path of [
      `/CONSOLE/${script}`,
      `/console/${script}/`,
      `/console//${script}`,
      `/console/./${script}`,
      `//console/${script}`,
      '/console',
      '/index.html',
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  test('survive a path that is too long', async () => {
    const { status } = await ask(`/console/${'a'.repeat(100_000)}.js`);
    expect(status).toBe(431);
    expect((await ask('/')).status).toBe(200);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])('refuse %s with an error message', async (method) => {
    for (const path of ['/', `/console/${script}`]) {
      const { status, headers, body } = await ask(path, method);
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'method_not_allowed' });
    }
  });

  test('answer HEAD like GET, without a body', async () => {
    for (const path of ['/', `/console/${script}`]) {
      const [head, get] = [await ask(path, 'HEAD'), await ask(path)];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const name of ['content-length', 'content-type', 'content-security-policy', 'cache-control'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
  });

  test('send gzip to clients that accept it, and the same content to all clients', async () => {
    const plain = readFileSync(new URL(script, BUILT));
    for (const [accepted, isPacked] of [
      ['gzip', true],
      ['GZIP, br', true],
      ['br;q=1, gzip;q=0.1', true],
      ['*', true],
      ['br', false],
      ['gzip;q=0', false],
      ['identity;q=1, gzip;q=0.5', false],
      ['gzip;q=much', false],
      [', ,;;q', false],
    ] as const) {
      const { status, headers, body } = await ask(`/console/${script}`, 'GET', { 'accept-encoding': accepted });
      expect([accepted, status, headers['content-encoding']]).toEqual([accepted, 200, isPacked ? 'gzip' : undefined]);
      expect((isPacked ? gunzipSync(body) : body).equals(plain), accepted).toBe(true);
      expect(String(headers.vary)).toMatch(/Accept-Encoding/);
      expect(Number(headers['content-length'])).toBe(body.length);
    }
  });

  test('send the whole file for range and conditional requests', async () => {
    const { length } = readFileSync(new URL(script, BUILT));
    for (const headers of [
      { range: 'bytes=0-10' },
      { range: 'bytes=99999999-' },
      { range: 'bytes=-5,x' },
      { 'if-none-match': '"x"' },
      { 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
      { accept: 'image/png' },
    ] as Record<string, string>[]) {
      const { status, body } = await ask(`/console/${script}`, 'GET', headers);
      expect([headers, status, body.length]).toEqual([headers, 200, length]);
    }
  });

  test('are not readable by pages of other origins', async () => {
    const { headers } = await ask(`/console/${script}`, 'GET', { origin: 'http://elsewhere.test' });
    expect(headers['access-control-allow-origin']).toBe(undefined);
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  });
});
