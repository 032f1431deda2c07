// Tests that the unofficial packages of uWebSockets.js are the ones that were reviewed (see
// SECURITY.md), by their hashes in the lock file and on disk.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** By name and version: the integrity hash in the registry and the SHA-256 of the binary. */
const known = read('test/http/uws-packages.json') as Record<string, { integrity: string; sha256?: string }>;

interface Locked {
  path: string;
  name: string;
  integrity: string;
}

const locked: Locked[] = Object.entries(
  read('package-lock.json').packages as Record<string, { name?: string; version: string; integrity?: string }>,
).flatMap(([path, { name, version, integrity = '' }]) => {
  const own = name ?? path.replace(/^.*node_modules\//, '');
  return own.startsWith('@uwsjs/') ? [{ path, name: `${own}@${version}`, integrity }] : [];
});

test('the lock file contains only reviewed packages for this platform, with their hashes', () => {
  const here = locked.filter(({ name }) => name.startsWith('@uwsjs/core@') || name.startsWith('@uwsjs/linux-x64-'));
  expect(here.length).toBeGreaterThan(2);
  expect(here.map(({ name, integrity }) => [name, integrity])).toEqual(
    here.map(({ name }) => [name, known[name]?.integrity]),
  );
});

test('every installed binary is the one in the reviewed package', () => {
  const binaries = locked.filter(({ path }) => existsSync(join(root, path, 'uws.node')));
  for (const { path, name } of binaries) {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(root, path, 'uws.node')))
      .digest('hex');
    expect([name, sha256]).toEqual([name, known[name]?.sha256]);
  }
  // The packages are absent on other platforms, or when optional packages are not installed.
  if (process.platform === 'linux' && process.arch === 'x64' && existsSync(join(root, 'node_modules/@uwsjs')))
    expect(binaries.length).toBeGreaterThan(0);
});

test('package.json pins only reviewed versions', () => {
  const { dependencies, optionalDependencies } = read('package.json');
  const ranges = Object.values({ ...dependencies, ...optionalDependencies } as Record<string, string>).filter((range) =>
    range.startsWith('npm:@uwsjs/'),
  );
  expect(ranges.length).toBeGreaterThan(0);
  for (const range of ranges) expect(known).toHaveProperty([range.slice('npm:'.length)]);
});
