import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { routes } from '../../src/routes/index.ts';
import { ADMIN_KEY, startChild } from './child.ts';
import { makeTrips } from './valid-requests.ts';

const CLIENT = fileURLToPath(new URL('plain_client.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.log('test/service/plain-client.test.ts is left out: python3 is not installed');

test.skipIf(!hasPython)('a plain Python client can use every route', async () => {
  const server = await startChild();
  makeTrips(join(server.dir, 'virtual'));
  try {
    const client = spawn('python3', [CLIENT, server.url, ADMIN_KEY]);
    let out = '';
    client.stdout.on('data', (data) => {
      out += data;
    });
    client.stderr.on('data', (data) => {
      out += data;
    });
    const code = await new Promise((resolve) => client.once('close', resolve));
    expect(code, out).toBe(0);
    expect(out.trim().split('\n').at(-1)).toBe(`all ${routes.length} routes`);
    expect(server.ended).toBeUndefined();
  } finally {
    await server.stop();
  }
});
