import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../service/worlds.ts';

const built = new URL('../../build/console/', import.meta.url);
const isBuilt = existsSync(new URL('index.html', built));
if (!isBuilt) console.log('console files: skipped: the console was not built (npm run build:console)');

const read = (name: string) => {
  const file = new URL(name, built);
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : undefined;
};

describe.skipIf(!isBuilt)('the files of the console', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ consoleFile: read, open: false });
  });
  afterAll(() => world.close());
  const get = (path: string, headers = {}) => world.as('none', { method: 'GET', path, headers });
  const names = isBuilt ? readdirSync(new URL('console/', built)) : [];

  test('need no key and no open database, and are all of this service', async () => {
    const page = await get('/');
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    const asked = [...page.text.matchAll(/(?:src|href)="(?!docs")([^"]+)"/g)].map((match) => match[1]!);
    expect(asked.length).toBeGreaterThan(2);
    for (const name of asked) expect([name, (await get(name.replace(/^\./, ''))).status]).toEqual([name, 200]);
    expect(page.text).not.toMatch(/<script(?![^>]* src=)[^>]*>|\son\w+=|\sstyle=|https?:/);
  });

  test('are fenced in, kept for ever by their names, and packed', async () => {
    for (const name of names) {
      const { status, headers, text } = await get(`/console/${name}`);
      expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'public, max-age=31536000, immutable']);
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      if (text.length > 2000) expect([name, headers.get('content-encoding')]).toEqual([name, 'gzip']);
    }
  });

  test.each([
    'index.html',
    '..%2findex.html',
    '%2e%2e%2fcore.wasm',
    '..%2f..%2f..%2fpackage.json',
    'a%00.js',
    '__proto__',
    'x.js',
  ])('are not %s', async (name) => {
    expect((await get(`/console/${name}`)).status).toBe(404);
  });

  /** Kilobytes packed, of every file whose name fits. */
  const packed = (pattern: RegExp) =>
    names
      .filter((name) => pattern.test(name))
      .reduce((sum, name) => sum + gzipSync(readFileSync(new URL(`console/${name}`, built)), { level: 9 }).length, 0) /
    1000;

  test('are small: what the first picture needs, the editor, the plots, and all of it', () => {
    expect(packed(/^(index|preact|failure|scrolling|query-view|result-grid)-/)).toBeLessThan(40);
    expect(packed(/^statement-editor-/)).toBeLessThan(105);
    expect(packed(/^plot-/)).toBeLessThan(24);
    expect(packed(/^graph-view-/)).toBeLessThan(8);
    expect(packed(/\.(js|css)$/)).toBeLessThan(185);
    expect(names.some((name) => name.startsWith('graph-view-'))).toBe(true);
  });
});

test('a console that was not built says so', async () => {
  const world = await startWorld({ consoleFile: () => undefined });
  const answer = await world.as('none', { method: 'GET', path: '/' });
  await world.close();
  expect(answer.status).toBe(404);
  expect(answer.text).toContain('npm run build:console');
});
