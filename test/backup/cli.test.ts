// The commands backup, restore and verify, on directories and against a running server.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backupCommand } from '../../src/cli/backup/command.ts';
import { startWorkProgress } from '../../src/cli/progress.ts';
import { restoreCommand } from '../../src/cli/restore/command.ts';
import { verifyCommand } from '../../src/cli/verify/command.ts';
import { lookInto, rowsOf, TestWorld } from '../cli/support.ts';
import { startServer } from '../http/support.ts';
import { addEdges } from './support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** Returns the path that `backup` printed. */
function madePath(): string {
  return /^(\/.*\.tar\.gz): \d+ bytes/m.exec(world.out)![1]!;
}

async function madeDirectory(): Promise<void> {
  await lookInto(world.path('db'), async (database) => {
    await addEdges(database.table(), 100);
    await database.compact({});
    await addEdges(database.table(), 20, 500);
  });
}

test('a directory is backed up, restored and verified', async () => {
  await madeDirectory();
  expect(await backupCommand({ data: 'db', to: 'out', compactFirst: true }, world)).toBe(0);
  expect(await restoreCommand(madePath(), { data: 'copy' }, world)).toBe(0);
  expect(world.out).toMatch(/restored .*copy: LSN \d+, \d+ files, tables hyperedges/);
  const rows = await lookInto(world.path('db'), (database) => rowsOf(database.table()));
  expect(await lookInto(world.path('copy'), (database) => rowsOf(database.table()))).toEqual(rows);
  world.out = '';
  expect(await verifyCommand('copy', {}, world)).toBe(0);
  expect(world.out).toMatch(/hyperedges +1 +1 +120 /);
  expect(world.out).toMatch(/OK: every checksum and every invariant holds\n$/);
  expect(world.err).toBe('');
});

test('verify reports file and offset of damage, as text and as JSON', async () => {
  await madeDirectory();
  const [name] = readdirSync(world.path('db/tables/1'));
  const path = world.path(`db/tables/1/${name}`);
  const bytes = readFileSync(path);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(path, bytes);
  expect(await verifyCommand('db', {}, world)).toBe(1);
  expect(world.out).toMatch(/PROBLEM .*seg-\S+ is corrupt at offset \d+/);
  expect(world.out).toMatch(/1 PROBLEMS\n$/);
  world.out = '';
  expect(await verifyCommand('db', { json: true }, world)).toBe(1);
  expect(JSON.parse(world.out).problems).toMatchObject([{ file: path, offset: expect.any(Number) }]);
});

test('verify reports that the database is open', async () => {
  await lookInto(world.path('db'), async (database) => {
    await addEdges(database.table(), 10);
    expect(await verifyCommand('db', {}, world)).toBe(0);
    expect(world.out).toMatch(/locked by .*a server may run on it/);
  });
});

test('a directory that is not a data directory is refused and left unchanged', async () => {
  mkdirSync(world.path('empty'));
  expect(await verifyCommand('empty', {}, world)).toBe(1);
  expect(await verifyCommand('nowhere', {}, world)).toBe(1);
  expect(await backupCommand({ data: 'empty', to: 'out' }, world)).toBe(1);
  expect(await backupCommand({ data: 'nowhere', to: 'out' }, world)).toBe(1);
  expect(world.err.match(/is not a data directory/g)?.length).toBe(4);
  expect(readdirSync(world.cwd)).toEqual(['empty']);
  expect(readdirSync(world.path('empty'))).toEqual([]);
});

test('a directory open in another process is not backed up', async () => {
  await lookInto(world.path('db'), async () => {
    expect(await backupCommand({ data: 'db', to: 'out' }, world)).toBe(1);
  });
  expect(world.err).toMatch(/already open .* --url lets it make the backup/);
});

test.each([
  [{ data: 'db' }, /--data needs --to/],
  [{ to: 'out' }, /--to goes with --data/],
  [{ data: 'db', to: 'out', url: 'http://127.0.0.1:1' }, /exclude each other/],
  [{ data: 'db', to: 'out', backupDir: 'x' }, /--backup-dir goes with --url/],
  [{ url: 'nonsense' }, /takes an address/],
  [{ config: 'x' }, /--config needs --data/],
])('backup %j is refused as a wrong call', async (flags, said) => {
  expect(await backupCommand(flags, world)).toBe(2);
  expect(world.err).toMatch(said);
});

test('restore needs --data and reports an unusable file or directory', async () => {
  expect(await restoreCommand('x', {}, world)).toBe(2);
  expect(await restoreCommand('none.tar.gz', { data: 'db' }, world)).toBe(1);
  world.file('junk.tar.gz', 'junk');
  expect(await restoreCommand('junk.tar.gz', { data: 'db' }, world)).toBe(1);
  expect(world.err).toMatch(/needs --data.*There is no file.*cannot be restored/s);
  await madeDirectory();
  await backupCommand({ data: 'db', to: 'out' }, world);
  expect(await restoreCommand(madePath(), { data: 'db' }, world)).toBe(1);
  expect(world.err).toMatch(/db is not empty/);
});

test('an interrupted restore leaves no files', async () => {
  await madeDirectory();
  await backupCommand({ data: 'db', to: 'out' }, world);
  const restoring = restoreCommand(madePath(), { data: 'copy' }, world);
  world.interrupt!();
  expect(await restoring).toBe(1);
  expect(world.err).toMatch(/Interrupted; nothing was left/);
  expect(readdirSync(world.cwd).sort()).toEqual(['db', 'out']);
  expect(world.interrupt).toBeUndefined();
});

test('an interrupted backup of a directory leaves no files', async () => {
  await madeDirectory();
  const making = backupCommand({ data: 'db', to: 'out' }, world);
  while (world.interrupt === undefined) await new Promise((resolve) => setImmediate(resolve));
  world.interrupt();
  expect(await making).toBe(1);
  expect(world.err).toMatch(/being closed; the backup was not made/);
  expect(readdirSync(world.cwd)).not.toContain('copy');
  const left = readdirSync(world.cwd).includes('out') ? readdirSync(world.path('out')) : [];
  expect(left).toEqual([]);
});

test('a running server writes the backup below its backup root when an admin asks', async () => {
  const server = await startServer({ auth: true });
  try {
    await addEdges(server.database.table(), 30);
    const flags = { url: server.url, apiKey: server.keys.admin };
    expect(await backupCommand({ ...flags, backupDir: 'nightly', compactFirst: true }, world)).toBe(0);
    expect(madePath()).toContain('/backups/nightly/');
    expect(await restoreCommand(madePath(), { data: 'copy' }, world)).toBe(0);
    expect(await lookInto(world.path('copy'), (database) => database.table().rowCount)).toBe(30);
    expect(await backupCommand({ ...flags, backupDir: '../out' }, world)).toBe(1);
    expect(await backupCommand({ url: server.url, apiKey: server.keys.readonly }, world)).toBe(1);
    expect(await backupCommand({ url: server.url }, world)).toBe(1);
    expect(world.err).toMatch(/backup_dir has the part "\.\.".*admin.*--api-key/s);
  } finally {
    await server.close();
  }
  expect(await backupCommand({ url: server.url }, world)).toBe(1);
  expect(world.err).toMatch(/No answer from/);
});

test('progress is shown on a terminal after one second', async () => {
  let shown = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      shown += chunk;
      done();
    },
  });
  const terminal = Object.assign(output, { isTTY: true, cursorTo() {}, clearLine() {}, columns: 120 });
  let nowMs = 0;
  const progress = startWorkProgress({ output: terminal, label: 'x.tar.gz', now: () => nowMs });
  nowMs = 900;
  progress.update(0.2);
  expect(shown).toBe('');
  nowMs = 2000;
  progress.update(0.5);
  await new Promise((resolve) => setTimeout(resolve, 300));
  progress.stop();
  expect(shown).toMatch(/x\.tar\.gz .*50% \| 2 s left/);
});
