import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/routes/index.ts';
import { CHROMIUM, openPage } from '../support/chromium.ts';
import { startWorld, type World } from './worlds.ts';

const built = (name: string) => new Uint8Array(readFileSync(new URL(`../../build/docs-page/${name}`, import.meta.url)));

let world: World;
beforeAll(async () => {
  world = await startWorld({ pageFile: built });
});
afterAll(() => world.close());

const get = (path: string, headers = {}) => world.as('none', { method: 'GET', path, headers });

describe('the page at /docs', () => {
  test('refers only to its own files, each of which is served with its type', async () => {
    const page = await get('/docs');
    const names = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    const types: Record<string, string | null> = {};
    for (const name of names) {
      const { status, headers } = await get(`/${name}`);
      expect([name, status]).toEqual([name, 200]);
      types[name] = headers.get('content-type');
    }
    expect(types).toEqual({
      'docs/favicon-32x32.png': 'image/png',
      'docs/swagger-ui.css': 'text/css; charset=utf-8',
      'docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
      'docs/start.js': 'text/javascript; charset=utf-8',
      'openapi.json': 'application/json',
    });
  });

  test('allows only its own scripts, and nothing from other origins', async () => {
    for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js']) {
      const { headers } = await get(path);
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await get('/docs')).text).not.toMatch(/<script(?![^>]* src=)[^>]*>|\son\w+=|\sstyle=/);
  });

  test('is served compressed, uncompressed and for HEAD', async () => {
    const bytes = built('swagger-ui-bundle.js');
    const whole = await get('/docs/swagger-ui-bundle.js');
    expect(whole.headers.get('content-encoding')).toBe('gzip');
    expect(whole.text).toBe(new TextDecoder().decode(bytes));
    const plain = await world.as('none', {
      method: 'HEAD',
      path: '/docs/swagger-ui-bundle.js',
      headers: { 'accept-encoding': 'identity' },
    });
    expect(plain.headers.get('content-length')).toBe(String(bytes.length));
    expect(plain.text).toBe('');
  });

  test.each([
    'LICENSE',
    'index.html',
    '..%2fcore.wasm',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    'constructor',
    '__proto__',
    'start.js%00',
  ])('does not serve the file %s', async (name) => {
    expect((await get(`/docs/${name}`)).status).toBe(404);
  });

  if (CHROMIUM === undefined) console.log('docs page: skipped in a browser: no chromium in /usr/bin');
  test.skipIf(CHROMIUM === undefined)(
    'shows every operation in a browser without refused requests',
    async () => {
      const page = await openPage(`${world.url}/docs`);
      const shown = [...page.html.matchAll(/id="operations-(?!tag-)\w+-(\w+)"/g)].map((match) => match[1]!);
      expect(shown.sort()).toEqual(routes.map((route) => route.id).sort());
      expect(page.console).toEqual([]);
    },
    120_000,
  );
});
