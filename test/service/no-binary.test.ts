// Every command that serves also starts without uWebSockets.js: after `npm install
// --omit=optional`, on musl, or on a Node.js version for which uWebSockets.js has no binary.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-no-binary-'));
  cpSync(join(ROOT, 'dist'), join(dir, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.map') });
  symlinkSync(join(ROOT, 'build'), join(dir, 'build'));
  cpSync(join(ROOT, 'package.json'), join(dir, 'package.json'));
  mkdirSync(join(dir, 'node_modules'));
  const left = readdirSync(join(ROOT, 'node_modules')).filter((name) => !name.startsWith('uws-'));
  for (const name of left) symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
  mkdirSync(join(dir, 'graphs'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['serve', ['serve', '--data', 'data', '--port', '0']],
  ['serve-virtual', ['serve-virtual', '--spec-dir', 'graphs', '--port', '0']],
  ['demo', ['demo', '--data', 'demo', '--port', '0', '--people', '20', '--days', '1']],
])('%s serves over node:http', async (_name, parameters) => {
  const child = spawn(process.execPath, [join(dir, 'dist', 'main.js'), ...parameters], {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    const look = (data: Buffer) => {
      text += data;
      const found = /(http:\/\/127\.0\.0\.1:\d+)\S*\s/.exec(text);
      if (found !== null) resolve(found[1]!);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const answer = await fetch(`${url}/health/live`);
    expect([answer.status, await answer.text()]).toEqual([200, '{"status":"live"}']);
    expect(answer.headers.has('uwebsockets')).toBe(false);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  if (_name !== 'demo')
    expect(text).toMatch(/HTTP by node:http of Node\.js .* 20\.69\.0 is not installed; 20\.51\.4 is not installed/);
});
