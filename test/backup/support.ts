// Opens databases to back up, restores copies to inspect, and lists the contents of archives.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { checkArchive } from '../../src/engine/backup/check-archive.ts';
import { restoreBackup } from '../../src/engine/backup/restore.ts';
import { Database, type EngineOptions, InlineRunner, type Table } from '../../src/engine/index.ts';
import { type VerifyReport, verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

const core = loadCore();
export const crc32c = makeChecksum(core.instantiate());

export function temporaryDir(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'hedgerow-backup-')));
}

export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Opens a database on real files. Segments and log files are small so that there are several of
 * them, and compactions run without a worker.
 */
export function openSmall(dir: string, more: Partial<EngineOptions> = {}): Promise<Database> {
  return Database.open({
    dir,
    fs: nodeFs,
    runner: new InlineRunner(more.fs ?? nodeFs, core),
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    schedule: (callback, delayMs) => void setTimeout(callback, delayMs).unref(),
    primaryTable: 'hyperedges',
    maxMembers: 64,
    durability: 'fsync',
    memoryBudgetBytes: 2 ** 26,
    segmentRows: 500,
    logFileBytes: 2 ** 16,
    ...more,
  });
}

/** Adds `count` edges with times from `from` on, as one commit. */
export async function addEdges(table: Table, count: number, from = 0): Promise<void> {
  const bulk = table.bulk();
  for (let i = from; i < from + count; i++)
    bulk.add({
      event_ts: i,
      members: [i % 20, 100 + i],
      properties: { weight: i / 3, formation: i % 4 ? null : `f${i}` },
    });
  await bulk.commit();
}

export function rowTexts(table: Table): string[] {
  const slices: Uint8Array[] = [];
  const scan = table.scan({ format: 'ndjson' });
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice);
  return Buffer.concat(slices).toString().split('\n').slice(0, -1);
}

export function restore(file: string, dir: string, more: { fs?: Fs; checkStopped?: () => void } = {}) {
  return restoreBackup({
    fs: nodeFs,
    crc32c,
    core,
    file,
    dir,
    progress: () => undefined,
    checkStopped: () => undefined,
    ...more,
  });
}

export function check(file: string) {
  return checkArchive({ fs: nodeFs, path: file, progress: () => undefined });
}

export function verify(dir: string, pause: () => Promise<void> = () => Promise.resolve()): Promise<VerifyReport> {
  return verifyDirectory({ fs: nodeFs, crc32c, core }, dir, pause);
}

/** Returns the names of the entries, as the program `tar` lists them. */
export function entriesOf(file: string): string[] {
  return execFileSync('tar', ['tzf', file], { encoding: 'utf8' }).split('\n').slice(0, -1);
}

/** Returns the bytes of every file below `dir`, by path. */
export function filesBelow(dir: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path.slice(dir.length + 1), readFileSync(path));
  }
  return files;
}
