// Tests the directory lock against live, dead and killed processes, in other PID and network
// namespaces, and on file systems without the features that it uses.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { lockDirectory } from '../../src/storage/directory-lock.ts';
import { listenOn } from '../../src/storage/lock-socket.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

const NODE_FS = fileURLToPath(new URL('../../dist/storage/node-fs.js', import.meta.url));
const UNSHARE_PID = ['unshare', '-pf', '--kill-child', '--mount-proc'];
const UNSHARE_NET = ['unshare', '-n'];

let dir = '';
let path = '';
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-lock-'));
  path = `${dir}/lock`;
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

test('a second lock in the same process is refused, and a released lock is free', async () => {
  const lock = await nodeFs.lock(path);
  const refused = await refusal(path);
  expect(refused.code).toBe('conflict');
  expect(refused.message).toContain(`this process (${process.pid})`);
  lock.release();
  (await nodeFs.lock(path)).release();
  expect(readdirSync(dir)).toEqual([]);
});

test('only one of many concurrent attempts in one process gets the lock', async () => {
  const results = await Promise.allSettled(Array.from({ length: 12 }, () => nodeFs.lock(path)));
  const held = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(held).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
  }
  held[0]!.release();
  expect(readdirSync(dir)).toEqual([]);
});

test('the lock of an older build is respected while its process lives, and taken over when that process is killed', async () => {
  const holder = spawnKept([process.execPath, '--input-type=module', '-e', OLDER_HOLDER, path]);
  await lineOf(holder);
  const refused = await refusal(path);
  expect(refused.message).toContain(`process ${holder.pid}`);
  expect(refused.message).toContain(`remove ${path}`);
  expect(refused.fields).toMatchObject({ pid: holder.pid });
  expect(readdirSync(dir)).toEqual(['lock']);
  await killed(holder);
  const lock = await nodeFs.lock(path);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  await refusal(path);
  lock.release();
  expect(readdirSync(dir)).toEqual([]);
});

test('a stale lock is taken over if its process died, its id was reused, the machine rebooted, or its bytes were lost', async () => {
  const mine = await describeSelf();
  const stale = [
    { ...mine, pid: 2 ** 22 + 1 },
    ...(mine.started === '' ? [] : [{ ...mine, started: '1' }]),
    ...(mine.boot === '' ? [] : [{ ...mine, boot: 'another' }]),
    ...(mine.pidNamespace === '' ? [] : [{ ...mine, pidNamespace: 'pid:[1]' }]),
  ].map((holder) => JSON.stringify(holder));
  for (const content of [...stale, '', '\0\0\0\0', '{"pid":', '{"pid":-1}', 'null']) {
    writeFileSync(path, content);
    const lock = await nodeFs.lock(path);
    expect(JSON.parse(readFileSync(path, 'utf8')), content).toMatchObject({ pid: mine.pid, started: mine.started });
    lock.release();
  }
  expect(readdirSync(dir)).toEqual([]);
});

test('a lock that another process has taken meanwhile is not released', async () => {
  const lock = await nodeFs.lock(path);
  writeFileSync(path, '{"pid":1}');
  lock.release();
  expect(readdirSync(dir)).toEqual(['lock']);
  expect(readFileSync(path, 'utf8')).toBe('{"pid":1}');
});

test('an unused lock does not keep its process alive', async () => {
  const child = spawnKept([process.execPath, '--input-type=module', '-e', TAKES_AND_ENDS, NODE_FS, path]);
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(readdirSync(dir)).toHaveLength(2);
  (await nodeFs.lock(path)).release();
  expect(readdirSync(dir)).toEqual([]);
});

test('a process that is stopped or busy still holds its lock and is named', async () => {
  const holder = await lockingChild([]);
  holder.child.kill('SIGSTOP');
  const refused = await refusal(path);
  expect(refused.message).toContain(`process ${holder.pid}`);
  await killed(holder.child);
  (await nodeFs.lock(path)).release();
});

test('a process that died while it took the lock leaves nothing; one that is stopped is waited for, and then named', async () => {
  const dead = createServer();
  await new Promise<void>((resolve) => void dead.listen(`${path}.aaaaaaaaaaaaaaaa.draft`, resolve));
  linkSync(`${path}.aaaaaaaaaaaaaaaa.draft`, `${path}.bbbbbbbbbbbbbbbb.draft`);
  linkSync(`${path}.aaaaaaaaaaaaaaaa.draft`, `${path}.0000000000000000.socket`);
  await new Promise((resolve) => dead.close(resolve));
  writeFileSync(`${path}.12.34.new`, '{"pid"');
  (await nodeFs.lock(path)).release();
  expect(readdirSync(dir)).toEqual([]);
  const silent = createServer(() => undefined);
  const socket = `${path}.0000000000000000.socket`;
  await new Promise<void>((resolve) => void silent.listen(socket, resolve));
  expect((await refusal(path)).message).toContain(`does not answer on ${socket}`);
  await new Promise((resolve) => {
    silent.close(resolve);
    silent.unref();
  });
}, 30_000);

test('paths that are too long for the address of a socket can be locked', async () => {
  const deep = `${dir}/${'d'.repeat(120)}/${'e'.repeat(120)}`;
  mkdirSync(deep, { recursive: true });
  for (const name of ['lock', `.${'n'.repeat(200)}.restoring.lock`]) {
    const lock = await nodeFs.lock(`${deep}/${name}`);
    expect((await refusal(`${deep}/${name}`)).code).toBe('conflict');
    lock.release();
  }
  expect(readdirSync(deep)).toEqual([]);
});

test('a lock works on a file system without hard links', async () => {
  const link = (): never => {
    throw Object.assign(new Error('EPERM: link'), { code: 'EPERM' });
  };
  const system = { link, listen: listenOn };
  writeFileSync(path, '{"pid":4194305}');
  const lock = await lockDirectory(path, system);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  await expect(lockDirectory(path, system)).rejects.toMatchObject({ code: 'conflict' });
  lock.release();
  expect(readdirSync(dir)).toEqual([]);
});

test('a lock on a file system without sockets is refused with advice on what to do', async () => {
  for (const code of ['EPERM', 'EOPNOTSUPP', 'EAFNOSUPPORT']) {
    const system = {
      link: linkSync,
      listen: (socket: string, describe: () => string) =>
        listenOn(socket, describe, () => Promise.reject(Object.assign(new Error(code), { code }))),
    };
    const error = await lockDirectory(path, system).then(
      () => null,
      (reason: HedgerowError) => reason,
    );
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(error!.message).toContain(`No Unix socket can be made in ${dir} (${code})`);
    expect(error!.message).toContain('Use a directory on a local file system');
  }
  expect(readdirSync(dir)).toEqual([]);
});

for (const [name, wrapper] of [
  ['PID', UNSHARE_PID],
  ['network', UNSHARE_NET],
] as const) {
  test(`a process in another ${name} namespace holds the lock until it is killed`, async () => {
    if (!canRun(wrapper)) return;
    const holder = await lockingChild(wrapper);
    const refused = await refusal(path);
    expect(refused.message).toContain(`process ${holder.pid}`);
    expect(refused.fields).toMatchObject({ pid: holder.pid, boot: (await describeSelf()).boot });
    // Now the other way round: the process in the namespace is refused, and names this process.
    await killed(holder.child);
    const lock = await lockWhenDead();
    const second = await lockingChild(wrapper);
    expect(second.pid).toBeNull();
    expect(second.line).toContain(`process ${process.pid}`);
    lock.release();
    expect(readdirSync(dir)).toEqual([]);
  });
}

test('only one of 20 concurrent processes in PID namespaces gets a stale lock, and holds it until it is killed', async () => {
  const wrapper = canRun(UNSHARE_PID) ? UNSHARE_PID : [];
  const first = await lockingChild(wrapper);
  await killed(first.child);
  const all = await Promise.all(Array.from({ length: 20 }, () => lockingChild(wrapper)));
  const holders = all.filter(({ pid }) => pid !== null);
  expect(holders).toHaveLength(1);
  for (const { pid, line } of all) if (pid === null) expect(line).toMatch(/^conflict /);
  await killed(holders[0]!.child);
  (await lockWhenDead()).release();
  expect(readdirSync(dir)).toEqual([]);
}, 120_000);

/**
 * A script that writes the lock file of older builds, which had no lock sockets. The file describes
 * the process of the script, which then waits. It is plain JavaScript, so that it runs without a
 * loader.
 */
const OLDER_HOLDER = `
import fs from 'node:fs';
const stat = fs.existsSync('/proc/self/stat') ? fs.readFileSync('/proc/self/stat', 'utf8') : '';
const started = stat === '' ? '' : stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
const boot = fs.existsSync('/proc/sys/kernel/random/boot_id') ? fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : '';
fs.writeFileSync(process.argv[1], JSON.stringify({ pid: process.pid, started, boot }));
console.log('locked');
process.stdin.resume();
`;

const TAKES_AND_ENDS = `
const { nodeFs } = await import(process.argv[1]);
await nodeFs.lock(process.argv[2]);
`;

const TAKES_AND_WAITS = `
const { nodeFs } = await import(process.argv[1]);
try {
  await nodeFs.lock(process.argv[2]);
  console.log('locked ' + process.pid);
} catch (error) {
  console.log(error.code + ' ' + error.message);
}
process.stdin.resume();
`;

function canRun(wrapper: readonly string[]): boolean {
  const { status, stderr } = spawnSync(wrapper[0]!, [...wrapper.slice(1), 'true'], { encoding: 'utf8' });
  if (status === 0) return true;
  process.stderr.write(
    `skipped: ${wrapper.join(' ')} is not permitted here (${stderr?.trim() ?? 'no such command'})\n`,
  );
  return false;
}

function spawnKept([command, ...rest]: readonly string[]): ChildProcess {
  const child = spawn(command!, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

/**
 * Starts a process that tries to take the lock. Returns the process, its own PID as it sees it
 * (null if it was refused), and its output.
 */
async function lockingChild(
  wrapper: readonly string[],
): Promise<{ child: ChildProcess; pid: number | null; line: string }> {
  const script = ['--input-type=module', '-e', TAKES_AND_WAITS, NODE_FS, path];
  const child = spawnKept([...wrapper, process.execPath, ...script]);
  const line = await lineOf(child);
  const pid = /^locked (\d+)$/.exec(line)?.[1];
  return { child, pid: pid === undefined ? null : Number(pid), line };
}

async function lineOf(child: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return line;
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/**
 * Takes the lock, retrying until it is free: `unshare` dies before the process in its namespace
 * does, so the lock becomes free a moment later.
 */
async function lockWhenDead(): Promise<{ release(): void }> {
  for (;;) {
    try {
      return await nodeFs.lock(path);
    } catch (error) {
      expect(error).toMatchObject({ code: 'conflict' });
    }
  }
}

async function refusal(lock: string): Promise<HedgerowError> {
  const error = await nodeFs.lock(lock).then(
    (held) => held.release(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HedgerowError);
  return error as HedgerowError;
}

async function describeSelf(): Promise<{ pid: number; started: string; boot: string; pidNamespace: string }> {
  const self = `${dir}/self`;
  const lock = await nodeFs.lock(self);
  const content = JSON.parse(readFileSync(self, 'utf8'));
  lock.release();
  return content;
}
