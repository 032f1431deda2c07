// Checks the container files, as far as this is possible without a container.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../http/support.ts';
import { CERT, KEY } from '../support/certificates.ts';

const dockerfile = readFileSync(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');
const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-container-'));
  writeFileSync(join(dir, 'cert.pem'), CERT);
  writeFileSync(join(dir, 'key.pem'), KEY);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Runs the health check of the image against a port of this machine and returns its exit code. */
function health(port: number): Promise<number> {
  const [command, ...parameters] = JSON.parse(/HEALTHCHECK .*\\\n\s+CMD (\[.*\])\n/.exec(dockerfile)![1]!) as string[];
  expect(command).toBe('node');
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, { env: { HEDGEROW_PORT: String(port) } }, (error) => {
      resolve(error === null ? 0 : Number(error.code));
    });
  });
}

test('the health check accepts the service over http and https, and no other server', async () => {
  const plain = await startServer();
  const secure = await startServer({ tls: { certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') } });
  const other = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    expect(await health(plain.port)).toBe(0);
    expect(await health(secure.port)).toBe(0);
    expect(await health((other.address() as { port: number }).port)).toBe(1);
  } finally {
    await plain.close();
    await secure.close();
    await new Promise((resolve) => other.close(resolve));
  }
  expect(await health(plain.port)).toBe(1);
});

test('both build stages use one configurable base image, and every installed workspace is copied', () => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  expect(bases.map((base) => base!.replace(/[${}]/g, ''))).toEqual(['NODE_IMAGE', 'NODE_IMAGE']);
  const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)!;
  expect(image).toMatch(/^node:(24|26)-trixie-slim(@sha256:[0-9a-f]{64})?$/);
  for (const [, workspace] of dockerfile.matchAll(/--workspace (\S+)/g)) {
    expect(manifest.workspaces).toContain(workspace);
    expect(dockerfile).toContain(`COPY ${workspace}/package.json ./${workspace}/\n`);
  }
});
