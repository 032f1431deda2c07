// Tests recovery of more rows than memtables may hold. Recovery compacts on the way, and a disk
// failure meanwhile loses nothing.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import type { Checkpoint } from '../../src/engine/checkpoint/checkpoint.ts';
import { Database, InlineRunner } from '../../src/engine/index.ts';
import type { FileHandle, Fs } from '../../src/storage/fs.ts';
import { readManifestFile } from '../../src/storage/manifest.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { crc32c } from '../support/crc32c.ts';
import { drain, simOptions } from '../support/sim-engine.ts';

/** This many rows take several times the 16 MB that memtables may always use. */
const ROWS = 440_000;
const BATCH = 20_000;

let root: string;
let expected: string;

/** Returns the real disk, with errors injected into chosen operations. */
function failing(fault: (operation: string, path: string) => Error | undefined): Fs {
  const check = (operation: string, path: string): void => {
    const error = fault(operation, path);
    if (error !== undefined) throw error;
  };
  const guard = (handle: FileHandle): FileHandle => ({
    path: handle.path,
    size: () => handle.size(),
    read: (target, position) => handle.read(target, position),
    write: async (bytes, position) => {
      check('write', handle.path);
      return handle.write(bytes, position);
    },
    writeDurably: (bytes, position) => handle.writeDurably(bytes, position),
    datasync: () => handle.datasync(),
    sync: async () => {
      check('sync', handle.path);
      return handle.sync();
    },
    writeNow: (bytes, position) => handle.writeNow(bytes, position),
    truncate: (size) => handle.truncate(size),
    close: () => handle.close(),
  });
  return {
    ...nodeFs,
    open: (path, mode) => guard(nodeFs.open(path, mode)),
    rename: async (from, to) => {
      check('rename', from);
      return nodeFs.rename(from, to);
    },
    remove: async (path) => {
      check('remove', path);
      return nodeFs.remove(path);
    },
  };
}

function open(dir: string, fs: Fs, memoryBudgetBytes: number): Promise<Database> {
  const options = simOptions(fs, {
    dir,
    core: 'release',
    segmentRows: 65536,
    memoryBudgetBytes,
    logFileBytes: 2 ** 22,
  });
  return Database.open({ ...options, runner: new InlineRunner(fs, loadCore()) });
}

function rowsOf(database: Database): string {
  return (
    drain(database.table().scan({ format: 'ndjson', nodes: [77] })) +
    drain(database.table('other').scan({ format: 'ndjson' }))
  );
}

function copy(name: string): string {
  const dir = join(root, name);
  cpSync(join(root, 'made'), dir, { recursive: true });
  return dir;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-recovery-'));
  const database = await open(join(root, 'made'), nodeFs, 2 ** 30);
  const table = database.table();
  for (let from = 0; from < ROWS; from += BATCH) {
    const bulk = table.bulk();
    for (let row = from; row < from + BATCH; row++)
      bulk.add({ event_ts: (row * 7) % 100_003, members: [row % 1000, 5000 + (row % 77)] });
    await bulk.commit();
    const matched = (await table.delete((from * 7) % 100_003, [from % 1000, 5000 + (from % 77)])).matched;
    if (matched < 1) throw new Error('nothing was deleted');
    if (from === 200_000) await database.createTable({ name: 'gone' });
    if (from === 240_000) await database.table('gone').insert({ event_ts: 1, members: [1] });
    if (from === 400_000) await database.dropTable('gone');
    if (from === 300_000)
      await (await database.createTable({ name: 'other' })).insert({ event_ts: from, members: [1] });
  }
  expected = rowsOf(database);
  await database.close();
});

afterAll(() => rmSync(root, { recursive: true }));

test('recovery with a small budget compacts on the way, and every row is there', async () => {
  const dir = copy('small');
  const database = await open(dir, nodeFs, 1);
  expect(database.table().version.segments.length).toBeGreaterThan(0);
  expect(database.health().memtable_bytes).toBeLessThan(2 ** 25);
  expect(rowsOf(database)).toBe(expected);
  expect(database.health().total_records).toBe(ROWS - ROWS / BATCH + 1);
  await database.close();
  const again = await open(dir, nodeFs, 2 ** 30);
  expect(rowsOf(again)).toBe(expected);
  await again.compact({});
  expect(rowsOf(again)).toBe(expected);
  await again.close();
});

test('recovery never writes a manifest with an older catalog than the one it found', async () => {
  const dir = copy('manifests');
  const lsnOf = (path: string): number => (readManifestFile(nodeFs, path, crc32c) as Checkpoint).lsn;
  const found = lsnOf(join(dir, 'manifest'));
  const made: number[] = [];
  const disk = failing((operation, path) => {
    if (operation === 'rename' && path.endsWith('manifest.tmp')) made.push(lsnOf(path));
    return undefined;
  });
  await (await open(dir, disk, 1)).close();
  expect(made.length).toBeGreaterThan(0);
  for (const lsn of made) expect(lsn).toBeGreaterThanOrEqual(found);
});

test('recovery opens the database on a full disk', async () => {
  const dir = copy('full');
  const full = failing((operation, path) =>
    operation === 'write' && path.includes('/tables/')
      ? Object.assign(new Error('ENOSPC: simulated'), { code: 'ENOSPC' })
      : undefined,
  );
  const database = await open(dir, full, 1);
  expect(rowsOf(database)).toBe(expected);
  await database.close();
  const again = await open(dir, nodeFs, 1);
  expect(rowsOf(again)).toBe(expected);
  await again.close();
});

test.each([
  ['write', 'manifest.tmp', 1],
  ['rename', 'manifest.tmp', 1],
  ['sync', 'seg-', 1],
  ['write', 'seg-', 2],
])('recovery on a disk that fails (%s of %s, number %i) loses nothing', async (wanted, name, nth) => {
  const dir = copy(`${wanted}-${name}`);
  let times = 0;
  const disk = failing((operation, path) =>
    operation === wanted && path.split('/').pop()!.startsWith(name) && ++times === nth
      ? Object.assign(new Error('EIO: simulated'), { code: 'EIO' })
      : undefined,
  );
  const database = await open(dir, disk, 1);
  expect(times).toBeGreaterThanOrEqual(nth);
  expect(rowsOf(database)).toBe(expected);
  await database.close();
  const again = await open(dir, nodeFs, 1);
  expect(rowsOf(again)).toBe(expected);
  expect(again.tables().map((table) => table.name)).toEqual(['hyperedges', 'other']);
  await again.close();
});
