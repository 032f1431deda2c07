import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const dist = new URL('../../dist/client/', import.meta.url);
const files = readdirSync(dist).filter((name) => name.endsWith('.js'));

/** Returns the modules that a built module imports, by any form of import. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]!);
}

describe('the built client', () => {
  test('imports only its own modules', () => {
    const imports = files.flatMap((name) => importsOf(readFileSync(new URL(name, dist), 'utf8')));
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((name) => !/^\.\/[a-z-]+\.js$/.test(name))).toEqual([]);
    expect(imports.filter((name) => !files.includes(name.slice(2)))).toEqual([]);
  });

  test('uses nothing that exists only in Node', () => {
    const own = /\b(process|Buffer|require|__dirname|global|setImmediate)\b[.(]/;
    const found = files.filter((name) => own.test(readFileSync(new URL(name, dist), 'utf8').replaceAll(/\/\/.*/g, '')));
    expect(found).toEqual([]);
  });

  test('is what the package exports as hedgerow/client', async () => {
    const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(exports['./client']).toEqual({ types: './dist/client/index.d.ts', default: './dist/client/index.js' });
    const { HedgerowClient } = await import(new URL('index.js', dist).href);
    expect(new HedgerowClient({ url: 'http://127.0.0.1:1' }).lastLsn).toBe(0);
  });

  test('types every answer for a program that has no types of Node or of this repository', async () => {
    const program = fileURLToPath(new URL('typed-program.ts', import.meta.url));
    const compiler = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
    const flags =
      '--ignoreConfig --noEmit --strict --skipLibCheck false --lib es2022,dom --module esnext --moduleResolution bundler';
    const { stdout } = await promisify(execFile)(compiler, [...flags.split(' '), '--types', '', program]).catch(
      (error) => error,
    );
    expect(stdout).toBe('');
  });
});
