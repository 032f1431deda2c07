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

  test('need no key and no open database, and refer to no other host', async () => {
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

  test('have a strict policy, are cached forever under hashed names, and are compressed', async () => {
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
  ])('do not include %s', async (name) => {
    expect((await get(`/console/${name}`)).status).toBe(404);
  });

  /**
   * Returns the size of a file as the service sends it, compressed, and its size with the best gzip
   * compression.
   */
  const sizesOf = async (name: string) => {
    const path = name === 'index.html' ? '/' : `/${name}`;
    const { headers } = await get(path, { 'accept-encoding': 'gzip' });
    const bytes = readFileSync(new URL(name, built));
    return { sent: Number(headers.get('content-length')), packed: gzipSync(bytes, { level: 9 }).length };
  };
  const sumOf = async (files: Iterable<string>) => {
    let sent = 0;
    let packed = 0;
    for (const name of files) {
      const sizes = await sizesOf(name);
      sent += sizes.sent;
      packed += sizes.packed;
    }
    return { sent: sent / 1000, packed: packed / 1000 };
  };

  test('loaded by the start page are smaller than 122 kB in all, as they are sent', async () => {
    const first = loadedBy('statement-editor', 'plot');
    expect([...first].filter((name) => /typing-|graph-view-|plan-panel-|download-|views-/.test(name))).toEqual([]);
    const begin = await sumOf(first);
    const writing = await sumOf(loadedBy('statement-editor', 'plot', 'typing'));
    const all = ['index.html', ...names.map((name) => `console/${name}`)];
    const rest = await sumOf(all.filter((name) => !name.includes('/graph-view-')));
    const show = ({ sent, packed }: typeof begin) => `${sent.toFixed(1)} kB (${packed.toFixed(1)} at gzip's level 9)`;
    console.log(`console files: rows, editor and time strip ${show(begin)}; once the user types ${show(writing)}`);
    console.log(`console files: all without the graph ${show(rest)}`);
    expect(begin.sent).toBeLessThan(122);
    expect(writing.sent).toBeLessThan(140);
    expect(rest.sent).toBeLessThan(224);
  });

  test('are sent as the build has compressed them', async () => {
    for (const name of names.filter((name) => /\.(js|css)$/.test(name))) {
      const bytes = readFileSync(new URL(`console/${name}`, built));
      const sizes = await sizesOf(`console/${name}`);
      if (bytes.length > 2000) expect(sizes.sent, name).toBeLessThan(sizes.packed);
      expect((await get(`/console/${name}`)).text, name).toBe(bytes.toString());
    }
    expect((await get(`/console/${names[0]}.gz`)).status).toBe(404);
  });
});

/**
 * Returns the names of the page, of the files that it refers to, of the given chunks, and of
 * everything that these files import statically.
 */
function loadedBy(...chunks: string[]): Set<string> {
  const folder = readdirSync(new URL('console/', built));
  const loaded = new Set(['index.html']);
  const load = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    if (!name.endsWith('.js')) return;
    const code = readFileSync(new URL(name, built), 'utf8');
    for (const [, file] of code.matchAll(/\b(?:from|import)\s*["']\.\/([^"']+)["']/g)) load(`console/${file}`);
  };
  const page = readFileSync(new URL('index.html', built), 'utf8');
  for (const [, file] of page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) load(file!);
  for (const chunk of chunks) {
    const file = folder.find((name) => name.startsWith(`${chunk}-`) && name.endsWith('.js'));
    if (file === undefined) throw new Error(`There is no chunk ${chunk}; name the one that has taken its place.`);
    load(`console/${file}`);
  }
  return loaded;
}

test('a console that was not built is reported', async () => {
  const world = await startWorld({ consoleFile: () => undefined });
  const answer = await world.as('none', { method: 'GET', path: '/' });
  await world.close();
  expect(answer.status).toBe(404);
  expect(answer.text).toContain('npm run build:console');
});
