// Tests the real file system: that it behaves as the interface `Fs` documents, and that the log
// works on it.

import { spawnSync } from 'node:child_process';
import {
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { readWhole, writeWhole } from '../../src/storage/whole-file.ts';
import { framesOf, openTestLog, textFrame } from '../support/open-test-log.ts';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-storage-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('files, names and directories behave as `Fs` documents', async () => {
  const deep = `${dir}/one/two`;
  nodeFs.makeDir(deep);
  nodeFs.makeDir(deep);
  const path = `${deep}/file`;
  expect(nodeFs.exists(path)).toBe(false);
  expect(() => nodeFs.open(path, 'write')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  const handle = nodeFs.open(path, 'create');
  expect(() => nodeFs.open(path, 'create')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  await writeWhole(handle, new Uint8Array([1, 2, 3, 4]), 2);
  await handle.datasync();
  expect(handle.size()).toBe(6);
  await handle.truncate(5);
  await handle.sync();
  const target = new Uint8Array(10);
  expect(handle.read(target, 1)).toBe(4);
  expect(handle.read(target, 5)).toBe(0);
  handle.close();
  expect([...readWhole(nodeFs, path)]).toEqual([0, 0, 1, 2, 3]);
  await nodeFs.rename(path, `${deep}/b`);
  writeFileSync(`${deep}/a`, '');
  await nodeFs.syncDir(deep);
  expect(nodeFs.list(deep)).toEqual(['a', 'b']);
  await nodeFs.remove(`${deep}/a`);
  await expect(nodeFs.remove(`${deep}/a`)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(nodeFs.list(deep)).toEqual(['b']);
});

test('a durable write reaches the file that was opened, whatever its name is now', async () => {
  const handle = nodeFs.open(`${dir}/spare`, 'create');
  await writeWhole(handle, new Uint8Array(8), 0);
  await nodeFs.rename(`${dir}/spare`, `${dir}/log`);
  writeFileSync(`${dir}/spare`, 'another');
  await writeWhole(handle, new Uint8Array([1, 2]), 3, true);
  await writeWhole(handle, new Uint8Array([3]), 7, true);
  const opened = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === `${dir}/log`);
  if (process.platform === 'linux') {
    const flags = opened().map((fd) => /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!);
    // One descriptor for all durable writes.
    expect(flags.filter((octal) => (Number.parseInt(octal, 8) & constants.O_DSYNC) !== 0)).toHaveLength(1);
  }
  handle.close();
  if (process.platform === 'linux') expect(opened()).toEqual([]);
  expect([...readWhole(nodeFs, `${dir}/log`)]).toEqual([0, 0, 0, 1, 2, 0, 0, 3]);
  expect(readFileSync(`${dir}/spare`, 'utf8')).toBe('another');
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

test('directories are made with their parents, also through links, and never in place of something else', () => {
  symlinkSync(`${dir}/target`, `${dir}/link`);
  mkdirSync(`${dir}/target`);
  nodeFs.makeDir(`${dir}/link/a/b/c`);
  expect(nodeFs.kindOf(`${dir}/target/a/b/c`)).toBe('directory');
  nodeFs.makeDir(`${dir}/link/`);
  writeFileSync(`${dir}/file`, 'x');
  symlinkSync(`${dir}/nowhere`, `${dir}/dangling`);
  for (const path of ['file', 'file/below', 'file/far/below', 'dangling', 'dangling/below'])
    expect(() => nodeFs.makeDir(`${dir}/${path}`)).toThrow(/^(EEXIST|ENOTDIR)/);
  expect(nodeFs.list(dir)).toEqual(['dangling', 'file', 'link', 'target']);
});

// This runs in a separate process, because a test timeout cannot stop a call that never returns.
test.runIf(process.platform === 'linux')('a read-only place causes an error, not an endless loop', () => {
  const code = `
    import { nodeFs } from ${JSON.stringify(new URL('../../src/storage/node-fs.ts', import.meta.url).href)};
    for (const dir of ['/proc/nope', '/proc/nope/below', '/sys/nope']) {
      try { nodeFs.makeDir(dir); } catch (error) { console.log(error.code); }
    }`;
  const { stdout, signal } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    timeout: 20_000,
    encoding: 'utf8',
    killSignal: 'SIGKILL',
  });
  expect([signal, stdout.trim().split('\n')]).toEqual([
    null,
    ['ENOENT', 'ENOENT', expect.stringMatching(/^E(NOENT|PERM|ROFS|ACCES)$/)],
  ]);
});

test('a rename succeeds only if the new name is free', async () => {
  const from = `${dir}/from`;
  for (const make of [
    (to: string) => writeFileSync(to, 'there'),
    (to: string) => symlinkSync(`${dir}/nowhere`, to),
    (to: string) => mkdirSync(to),
  ]) {
    writeFileSync(from, 'mine');
    const to = `${dir}/to`;
    make(to);
    await expect(nodeFs.renameNew(from, to)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(from, 'utf8')).toBe('mine');
    rmSync(to, { recursive: true });
    await nodeFs.renameNew(from, to);
    expect(readFileSync(to, 'utf8')).toBe('mine');
    expect(nodeFs.exists(from)).toBe(false);
    rmSync(to);
  }
});

test('kinds of files, links and the removal of directories are as documented', async () => {
  writeFileSync(`${dir}/file`, '');
  mkdirSync(`${dir}/deep`);
  symlinkSync(`${dir}/deep`, `${dir}/link`);
  symlinkSync(`${dir}/nowhere`, `${dir}/dangling`);
  const kinds = ['file', 'deep', 'link', 'dangling', 'none', 'file/below'].map((name) =>
    nodeFs.kindOf(`${dir}/${name}`),
  );
  expect(kinds).toEqual(['file', 'directory', 'link', 'link', null, null]);
  expect(nodeFs.kindOf('/dev/null')).toBe('other');
  expect(nodeFs.realPath(`${dir}/link`)).toBe(nodeFs.realPath(`${dir}/deep`));
  expect(() => nodeFs.realPath(`${dir}/dangling`)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  await expect(nodeFs.removeDir(dir)).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  await nodeFs.removeDir(`${dir}/deep`);
  expect(nodeFs.kindOf(`${dir}/deep`)).toBeNull();
});

test('the log works on the real file system', async () => {
  const options = { dir: `${dir}/log`, fileBytes: 2 ** 16 };
  const first = await openTestLog(nodeFs, options);
  const wanted: string[] = [];
  for (let count = 1; count <= 500; count++) {
    const text = `${count}`.padEnd(1000, '.');
    first.log.append(1, textFrame(text));
    wanted.push(`${count}+1:${text}`);
    if (count % 50 === 0) await first.log.flush();
  }
  await first.log.close();
  const second = await openTestLog(nodeFs, options);
  expect(await framesOf(second.log)).toEqual(wanted);
  await second.log.truncate(400);
  await second.log.close();
});
