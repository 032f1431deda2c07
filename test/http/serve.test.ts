import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-serve-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  output: { out: string; error: string };
  /** The port of the printed address; rejects when the process ends first. */
  port: Promise<number>;
  exit: Promise<number | null>;
}

/** Runs the command from source with an environment of its own. */
function hedgerow(parameters: string[], environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...parameters], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const output = { out: '', error: '' };
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const port = new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (data) => {
      output.out += data;
      const match = /^hedgerow: listening on http:\/\/127\.0\.0\.1:(\d+)\n/.exec(output.out);
      if (match !== null) resolve(Number(match[1]));
    });
    void exit.then((code) => reject(new Error(`ended with ${code}: ${output.error}`)));
  });
  port.catch(() => {});
  child.stderr.on('data', (data) => {
    output.error += data;
  });
  return { child, output, port, exit };
}

async function untilReady(port: number): Promise<void> {
  for (;;) {
    const { status } = await fetch(`http://127.0.0.1:${port}/health/ready`);
    if (status === 200) return;
    expect(status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, then ends with 0 and has kept the data', async (signal) => {
  for (const expected of [1, 2]) {
    const run = hedgerow(['serve', '--data', dir, '--port', '0']);
    const port = await run.port;
    await untilReady(port);
    const url = `http://127.0.0.1:${port}/v1/hyperedges`;
    const answer = await fetch(url, {
      method: 'POST',
      body: '{"event_ts":1,"members":[1]}',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(201);
    const rows = (await (await fetch(`${url}/node/1`)).json()) as { num_tuples: number };
    expect(rows.num_tuples).toBe(expected);
    run.child.kill(signal);
    expect(await run.exit).toBe(0);
    expect(run.output.error).toContain('need no key');
  }
});

test('a directory in use is refused', async () => {
  const first = hedgerow(['serve', '--data', dir, '--port', '0']);
  await untilReady(await first.port);
  const second = hedgerow(['serve', '--data', dir, '--port', '0']);
  expect(await second.exit).toBe(1);
  expect(second.output.error).toMatch(/^hedgerow: .*(in use|lock)/m);
  first.child.kill('SIGTERM');
  expect(await first.exit).toBe(0);
});

test('a port in use is refused', async () => {
  const first = hedgerow(['serve', '--data', dir, '--port', '0']);
  const port = await first.port;
  const second = hedgerow(['serve', '--data', join(dir, 'other'), '--port', String(port)]);
  expect(await second.exit).toBe(1);
  expect(second.output.error).toMatch(new RegExp(`^hedgerow: cannot listen on 127.0.0.1:${port}`, 'm'));
});

test('a wrong value stops the start with one line', async () => {
  const run = hedgerow(['serve', '--port', 'x'], { HEDGEROW_DATA_DIR: dir });
  expect(await run.exit).toBe(1);
  expect(run.output.error).toMatch(
    /^hedgerow: HEDGEROW_PORT is "x" \(given as a flag\), but it takes an integer from 0 to 65535\.\n$/,
  );
  const open = hedgerow(['serve', '--data', dir, '--host', '0.0.0.0']);
  expect(await open.exit).toBe(1);
  expect(open.output.error).toContain('HEDGEROW_ALLOW_INSECURE=1');
});

test('help and version', async () => {
  const version = hedgerow(['--version']);
  expect(await version.exit).toBe(0);
  expect(version.output.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  const unknown = hedgerow(['nope']);
  expect(await unknown.exit).toBe(2);
});
