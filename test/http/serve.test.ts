import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseTransport, transportLine } from '../../src/http/choose-transport.ts';
import { MAIN } from '../service/child.ts';
import { WEAK_CERT, WEAK_KEY } from '../support/certificates.ts';
import { transportsHere } from '../support/transport.ts';

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
  /** The port of the printed address. Rejects if the process ends first. */
  port: Promise<number>;
  exit: Promise<number | null>;
}

/** The printed line that names the HTTP transport. */
const SPEAKER = transportLine(chooseTransport('auto').facts);

const ADMIN_KEY = 'hgr_the-first-admin-key-of-a-test';
const WITH_KEY = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };

/**
 * Runs the built command with only the given environment. By default, the environment sets a first
 * admin key and no rate limit.
 */
function hedgerow(
  parameters: string[],
  environment: Record<string, string> = { HEDGEROW_API_KEY: ADMIN_KEY, HEDGEROW_RATE_LIMIT_QPM: '0' },
): Run {
  const child = spawn(process.execPath, [MAIN, ...parameters], {
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

/** Resolves once `found` returns a value. Polls every 20 ms. */
async function eventually<T>(found: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const value = await found();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('the server runs until SIGTERM or SIGINT, then exits with 0, and its data is kept', async () => {
  for (const [expected, signal] of [
    [1, 'SIGTERM'],
    [2, 'SIGINT'],
  ] as const) {
    const run = hedgerow(['serve', '--data', dir, '--port', '0']);
    const port = await run.port;
    await untilReady(port);
    const url = `http://127.0.0.1:${port}/v1/hyperedges`;
    const answer = await fetch(url, { method: 'POST', body: '{"event_ts":1,"members":[1]}', headers: WITH_KEY });
    expect(answer.status).toBe(201);
    const rows = (await (await fetch(`${url}/node/1`, { headers: WITH_KEY })).json()) as { num_tuples: number };
    expect(rows.num_tuples).toBe(expected);
    const keys = (await (await fetch(`http://127.0.0.1:${port}/v1/keys`, { headers: WITH_KEY })).json()) as unknown[];
    expect(keys).toHaveLength(1);
    run.child.kill(signal);
    expect(await run.exit).toBe(0);
    expect(run.output.out).toBe(`hedgerow: listening on http://127.0.0.1:${port}\nhedgerow: ${SPEAKER}\n`);
    expect(run.output.error).toContain(signal);
    expect(run.output.error).not.toContain(ADMIN_KEY);
  }
});

test('a server whose data directory was removed reports it in one sentence when it stops', async () => {
  const data = join(dir, 'data');
  const run = hedgerow(['serve', '--data', data, '--port', '0']);
  const port = await run.port;
  await untilReady(port);
  await rm(data, { recursive: true });
  run.child.kill('SIGTERM');
  expect(await run.exit).toBe(1);
  expect(run.output.error).toMatch(
    /^hedgerow: The data directory was taken away while it was in use: .+mark is not there/m,
  );
  expect(run.output.error).not.toContain('    at ');
});

test('the first admin key is shown once, on standard output only, when none is configured', async () => {
  let key = '';
  for (const shown of [1, 0]) {
    const run = hedgerow(['serve', '--data', dir, '--port', '0'], {});
    const port = await run.port;
    await untilReady(port);
    if (shown === 1) {
      const line = /^hedgerow: first admin key, shown this once only: (hgr_\S+)$/m;
      key = await eventually(() => line.exec(run.output.out)?.[1]);
    }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
    expect(await answer.json()).toMatchObject([{ role: 'admin', description: 'first admin key' }]);
    expect((await fetch(`http://127.0.0.1:${port}/v1/keys`)).status).toBe(401);
    run.child.kill('SIGTERM');
    expect(await run.exit).toBe(0);
    expect(run.output.out.split(key)).toHaveLength(shown + 1);
    expect(run.output.error).not.toContain(key);
    const audit = readFileSync(join(dir, 'audit.log'), 'utf8');
    expect(audit).toContain('"event":"auth.failed"');
    expect(audit).not.toContain(key);
  }
});

test('the last use of a key is stored, and a later HEDGEROW_API_KEY is reported as unknown', async () => {
  const first = hedgerow(['serve', '--data', dir, '--port', '0']);
  const firstPort = await first.port;
  await untilReady(firstPort);
  await fetch(`http://127.0.0.1:${firstPort}/v1/tables`, { headers: WITH_KEY });
  first.child.kill('SIGTERM');
  expect(await first.exit).toBe(0);
  const list = hedgerow(['keys', 'list', '--data', dir, '--json']);
  expect(await list.exit).toBe(0);
  expect(JSON.parse(list.output.out)).toMatchObject([{ role: 'admin', last_used_at: expect.any(Number) }]);
  const second = hedgerow(['serve', '--data', dir, '--port', '0'], { HEDGEROW_API_KEY: 'another-key-of-a-test' });
  const port = await second.port;
  await untilReady(port);
  const headers = { 'x-api-key': 'another-key-of-a-test' };
  expect((await fetch(`http://127.0.0.1:${port}/v1/tables`, { headers })).status).toBe(401);
  second.child.kill('SIGTERM');
  expect(await second.exit).toBe(0);
  expect(second.output.error).toContain('HEDGEROW_API_KEY is not among the stored keys');
});

test.each(transportsHere())(
  'HEDGEROW_TRANSPORT=%s is used and reported at the start, by /health, by a metric and in the log',
  async (transport) => {
    const run = hedgerow(['serve', '--data', dir, '--port', '0'], {
      HEDGEROW_TRANSPORT: transport,
      HEDGEROW_API_KEY: ADMIN_KEY,
    });
    const port = await run.port;
    await untilReady(port);
    const { facts } = chooseTransport(transport);
    const ask = async (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: WITH_KEY });
    expect(await (await ask('/health')).json()).toMatchObject({ transport: facts });
    expect(facts).toMatchObject({
      name: transport,
      reason: 'configured',
      detail: `HEDGEROW_TRANSPORT is ${transport}.`,
    });
    const labels = `name="${transport}",version="${facts.version}",reason="configured"`;
    expect(await (await ask('/metrics')).text()).toContain(`hedgerow_transport_info{${labels}} 1\n`);
    run.child.kill('SIGTERM');
    expect(await run.exit).toBe(0);
    expect(run.output.out.split('\n')[1]).toBe(`hedgerow: ${transportLine(facts)}`);
    expect(run.output.error).toContain(`"transport":${JSON.stringify(facts)}`);
  },
);

test('HEDGEROW_AUTH_DISABLED=1 makes keys unnecessary, warns about it and creates no key', async () => {
  const run = hedgerow(['serve', '--data', dir, '--port', '0'], { HEDGEROW_AUTH_DISABLED: '1' });
  const port = await run.port;
  await untilReady(port);
  const health = await fetch(`http://127.0.0.1:${port}/health`);
  expect(await health.json()).toMatchObject({ status: 'ok', auth_disabled: true });
  expect((await fetch(`http://127.0.0.1:${port}/v1/keys`)).status).toBe(503);
  run.child.kill('SIGTERM');
  expect(await run.exit).toBe(0);
  expect(run.output.error).toContain('need no key');
  expect(run.output.out).not.toContain('admin key');
  const list = hedgerow(['keys', 'list', '--data', dir, '--json'], {});
  expect(await list.exit).toBe(0);
  expect(list.output.out).toBe('[]\n');
});

/** Sends half of an insert. `finish` sends the rest and resolves with everything received. */
async function halfAnInsert(port: number): Promise<{ finish: () => Promise<string> }> {
  const body = '{"event_ts":1,"members":[1]}';
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  const head = `POST /v1/hyperedges HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + body.slice(0, 5), () => resolve()));
  // These answers arrive only after the server has read the half that was sent before them.
  await fetch(`http://127.0.0.1:${port}/health/live`);
  await fetch(`http://127.0.0.1:${port}/health/live`);
  return {
    finish: async () => {
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      socket.write(body.slice(5));
      await closed;
      return received;
    },
  };
}

const draining = async (port: number): Promise<true | undefined> =>
  (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 503 ? true : undefined;

test('a request that runs at SIGTERM is still answered, and then the server exits with 0', async () => {
  const run = hedgerow(['serve', '--data', dir, '--port', '0']);
  const port = await run.port;
  await untilReady(port);
  const insert = await halfAnInsert(port);
  run.child.kill('SIGTERM');
  await eventually(() => draining(port));
  expect(await insert.finish()).toMatch(/^HTTP\/1\.1 201 /);
  expect(await run.exit).toBe(0);
});

test('a second signal ends the process immediately', async () => {
  const run = hedgerow(['serve', '--data', dir, '--port', '0']);
  const port = await run.port;
  await untilReady(port);
  await halfAnInsert(port);
  run.child.kill('SIGTERM');
  await eventually(() => draining(port));
  run.child.kill('SIGINT');
  await run.exit;
  expect(run.child.signalCode).toBe('SIGINT');
});

test('SIGHUP makes the server write to a new audit log after the old one was moved', async () => {
  const audit = join(dir, 'logs', 'audit.log');
  const run = hedgerow(['serve', '--data', join(dir, 'db'), '--port', '0', '--audit-log', audit]);
  const port = await run.port;
  await untilReady(port);
  const refused = () => fetch(`http://127.0.0.1:${port}/v1/tables`);
  const lines = (file: string): number | undefined => {
    try {
      return readFileSync(file, 'utf8').split('\n').length - 1 || undefined;
    } catch {
      return undefined;
    }
  };
  await refused();
  await eventually(() => lines(audit));
  renameSync(audit, `${audit}.1`);
  run.child.kill('SIGHUP');
  await eventually(async () => {
    await refused();
    return lines(audit);
  });
  run.child.kill('SIGTERM');
  expect(await run.exit).toBe(0);
  expect(lines(`${audit}.1`)).toBeGreaterThan(0);
});

test('a data directory or a port that is in use is refused', async () => {
  const first = hedgerow(['serve', '--data', dir, '--port', '0']);
  const port = await first.port;
  await untilReady(port);
  const second = hedgerow(['serve', '--data', dir, '--port', '0']);
  const third = hedgerow(['serve', '--data', join(dir, 'other'), '--port', String(port)]);
  expect(await second.exit).toBe(1);
  expect(second.output.error).toMatch(/^hedgerow: .*(in use|lock)/m);
  // Neither the second nor the third process served anything.
  expect(second.output.out).toBe('');
  expect(third.output.out).toBe('');
  expect(await third.exit).toBe(1);
  expect(third.output.error).toMatch(new RegExp(`^hedgerow: cannot listen on 127.0.0.1:${port}`, 'm'));
  first.child.kill('SIGTERM');
  expect(await first.exit).toBe(0);
});

test('settings are read from the file that --config names', async () => {
  const file = join(dir, 'hedgerow.toml');
  const data = join(dir, 'db');
  await writeFile(
    file,
    `data_dir = ${JSON.stringify(data)}\nport = 0\nprimary_table = "events"\napi_key = "${ADMIN_KEY}"\n`,
  );
  const run = hedgerow(['serve', '--config', file], {});
  const port = await run.port;
  await untilReady(port);
  const tables = await fetch(`http://127.0.0.1:${port}/v1/tables`, { headers: WITH_KEY });
  expect(await tables.json()).toMatchObject([{ name: 'events', primary: true }]);
  run.child.kill('SIGTERM');
  expect(await run.exit).toBe(0);
});

test('a wrong value prevents the start and is reported in one line', async () => {
  const run = hedgerow(['serve', '--port', 'x'], { HEDGEROW_DATA_DIR: dir });
  expect(await run.exit).toBe(2);
  expect(run.output.error).toBe('hedgerow: --port is "x", but it takes an integer from 0 to 65535.\n');
  const open = hedgerow(['serve', '--data', dir, '--host', '0.0.0.0', '--auth-disabled'], {});
  expect(await open.exit).toBe(2);
  expect(open.output.error).toContain('HEDGEROW_ALLOW_INSECURE=1');
});

test('TLS files that cannot be used prevent the start and are reported in one line', async () => {
  const tls = hedgerow(['serve', '--data', dir, '--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem'], {});
  expect(await tls.exit).toBe(1);
  expect(tls.output.error).toMatch(/^hedgerow: HEDGEROW_TLS_CERT names .*nowhere\.pem, which cannot be read.*\n$/);
  const noPem = join(dir, 'no.pem');
  await writeFile(noPem, 'this is no certificate');
  const wrong = hedgerow(['serve', '--data', dir, '--tls-cert', noPem, '--tls-key', noPem], {});
  expect(await wrong.exit).toBe(1);
  expect(wrong.output.error).toContain('HEDGEROW_TLS_CERT and HEDGEROW_TLS_KEY are not a certificate and its key');
  const [weakCert, weakKey] = [join(dir, 'weak.crt'), join(dir, 'weak.key')];
  await writeFile(weakCert, WEAK_CERT);
  await writeFile(weakKey, WEAK_KEY);
  const weak = hedgerow(['serve', '--data', dir, '--tls-cert', weakCert, '--tls-key', weakKey], {});
  expect(await weak.exit).toBe(1);
  expect(weak.output.error).toMatch(/^hedgerow: HEDGEROW_TLS_CERT has an RSA key of 1024 bits.*2048 bits.*\n$/);
});

test('an audit log that cannot be written prevents the start', async () => {
  const run = hedgerow(['serve', '--data', join(dir, 'db'), '--port', '0', '--audit-log', dir]);
  expect(await run.exit).toBe(1);
  expect(run.output.error).toMatch(/^hedgerow: The audit log .* cannot be written.*HEDGEROW_AUDIT_LOG/m);
});

test('--version prints the version, and an unknown command exits with 2', async () => {
  const version = hedgerow(['--version']);
  expect(await version.exit).toBe(0);
  expect(version.output.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  const unknown = hedgerow(['nope']);
  expect(await unknown.exit).toBe(2);
});

test.each([
  ['HEDGEROW_DATA_DIR', '/proc/nope', '/proc/nope'],
  ['HEDGEROW_DATA_DIR', '/proc/nope/below', '/proc/nope/below'],
  ['HEDGEROW_DATA_DIR', '/dev/null/below', '/dev/null/below'],
  ['HEDGEROW_AUDIT_LOG', '/proc/nope/audit.log', '/proc/nope'],
])('%s=%s is refused immediately, in one line that names the variable', async (name, value, shown) => {
  const { exit, output } = hedgerow(['serve'], { HEDGEROW_DATA_DIR: dir, HEDGEROW_PORT: '0', [name]: value });
  expect(await exit).toBe(1);
  expect(output.error).toContain(`${name}: the directory ${shown} cannot be made`);
  expect(output.error.trim().split('\n')).toHaveLength(1);
  expect(output.out).toBe('');
});
