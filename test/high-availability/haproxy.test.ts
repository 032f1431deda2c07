// Runs the example configuration of HAProxy with servers behind it.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ADMIN_KEY, type ChildServer, startChild } from '../service/child.ts';

const HAPROXY = '/usr/sbin/haproxy';
const CONFIGURATION = fileURLToPath(new URL('../../src/high-availability/deploy/haproxy.cfg', import.meta.url));
const isMissing = !existsSync(HAPROXY);
if (isMissing)
  process.stdout.write(`skipped: HAProxy is not installed (${HAPROXY}; Debian: apt-get install haproxy)\n`);

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

describe.skipIf(isMissing)('HAProxy with the example configuration', () => {
  test('sends requests to servers that are ready, and those of a session to one of them', async () => {
    const servers: ChildServer[] = await Promise.all([startChild(), startChild(), startChild()]);
    const port = await freePort();
    const addresses = servers.map((server, index) => [`HEDGEROW_${index + 1}`, `127.0.0.1:${server.port}`]);
    const proxy = spawn(HAPROXY, ['-db', '-f', CONFIGURATION], {
      env: { ...Object.fromEntries(addresses), HEDGEROW_BIND: `127.0.0.1:${port}` },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => proxy.once('exit', resolve));
    /** Returns the directory of the server that answered; undefined if none did. */
    const ask = async (headers: Record<string, string> = {}): Promise<string | undefined> => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`, {
        headers: { 'x-api-key': ADMIN_KEY, ...headers },
      }).catch(() => undefined);
      const text = await answer?.text();
      return answer?.status === 200 ? (JSON.parse(text!) as { db_dir: string }).db_dir : undefined;
    };
    const asked = async (times: number, headers?: Record<string, string>) =>
      new Set(await Promise.all(Array.from({ length: times }, () => ask(headers))));
    try {
      while ((await ask()) === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      // Longer than two checks of the servers, after which one that fails them is left out.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      expect([...(await asked(12))].sort()).toEqual(servers.map(({ dir }) => dir).sort());
      expect((await asked(6, { 'x-session-id': 'one' })).size).toBe(1);
      await servers[0]!.stop('SIGKILL');
      while ((await asked(6)).has(undefined)) await new Promise((resolve) => setTimeout(resolve, 100));
      expect([...(await asked(12))].sort()).toEqual([servers[1]!.dir, servers[2]!.dir].sort());
    } finally {
      proxy.kill();
      await ended;
      for (const server of servers) if (server.ended === undefined) await server.stop();
    }
  });
});
