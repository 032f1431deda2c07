// Finds and removes segment files that are no longer needed. A crash leaves such files if it
// interrupts a compaction, or if it happens after a compaction or a drop but before the old files
// are removed.

import { corruption } from '../../errors.ts';
import type { Fs } from '../../storage/index.ts';
import { segmentNumber } from '../table/segment-file.ts';
import type { Table } from '../table/table.ts';
import { type Checkpoint, segmentsOf } from './checkpoint.ts';

type Notice = ((message: string, fields: Record<string, unknown>) => void) | undefined;

export interface Orphans {
  /** Files that no manifest ever listed: a compaction was interrupted before its commit point. */
  unlisted: string[];
  /** Files that an older manifest may list. */
  replaced: string[];
}

/**
 * Returns the segment files that belong to no table. Searches the directories of all table ids ever
 * assigned, including those of dropped tables. `checkpoint` is the manifest found at open.
 */
export function findOrphans(
  fs: Fs,
  tablesDir: string,
  nextTableId: number,
  checkpoint: Checkpoint | null,
  tableById: (id: number) => Table | undefined,
): Orphans {
  const orphans: Orphans = { unlisted: [], replaced: [] };
  const items = new Map(checkpoint?.tables.map((item) => [item.definition.id, item]));
  for (let id = 1; id < nextTableId; id++) {
    const dir = `${tablesDir}/${id}`;
    if (!fs.exists(dir)) continue;
    const table = tableById(id);
    const known = new Set(table === undefined ? [] : segmentsOf(table).map((entry) => entry.number));
    const isNew = id >= (checkpoint?.nextTableId ?? 1);
    const firstUnlisted = items.get(id)?.nextSegment ?? (isNew ? 0 : Infinity);
    for (const name of fs.list(dir)) {
      const number = segmentNumber(name);
      if (number === null || known.has(number)) continue;
      (number >= firstUnlisted ? orphans.unlisted : orphans.replaced).push(`${dir}/${name}`);
    }
  }
  return orphans;
}

/**
 * Removes the files. After a process was killed, the manifest found at open may exist only in the
 * page cache, while the disk has an older one that lists the replaced files. So `installManifest`
 * must first make a new manifest durable; if that fails, the replaced files are kept.
 */
export async function removeOrphans(
  fs: Fs,
  { unlisted, replaced }: Orphans,
  installManifest: () => Promise<unknown>,
  notice: Notice,
): Promise<void> {
  await removeFiles(fs, unlisted);
  if (replaced.length === 0) return;
  try {
    await installManifest();
  } catch (error) {
    const detail = (error as Error).message;
    notice?.('files that are not needed any more are kept: the manifest could not be written', { detail });
    return;
  }
  await removeFiles(fs, replaced);
}

/** Returns the segment files of all tables for which `isUnknown` returns true. */
export function unknownSegments(fs: Fs, tablesDir: string, isUnknown: (tableId: number) => boolean): string[] {
  const paths: string[] = [];
  if (!fs.exists(tablesDir)) return paths;
  for (const table of fs.list(tablesDir)) {
    const dir = `${tablesDir}/${table}`;
    if (!/^[1-9][0-9]*$/.test(table) || !isUnknown(Number(table)) || fs.kindOf(dir) !== 'directory') continue;
    for (const name of fs.list(dir)) if (segmentNumber(name) !== null) paths.push(`${dir}/${name}`);
  }
  return paths;
}

/**
 * Throws `corrupt` if there are segment files. Called when there is no manifest, and the log is
 * missing or has no operations: segment files then mean that the manifest was lost.
 */
export function refuseSegments(paths: readonly string[], manifest: string): void {
  if (paths.length === 0) return;
  throw corruption(
    manifest,
    0,
    `the file is missing, but there are ${paths.length} segment files that it must list, the first is ${paths[0]}`,
  );
}

/** Renames segment files that nothing lists to `<name>.aside`, since they may contain data. */
export async function setAside(fs: Fs, paths: readonly string[], notice: Notice): Promise<void> {
  for (const path of paths) {
    let aside = `${path}.aside`;
    for (let count = 2; fs.exists(aside); count++) aside = `${path}.aside-${count}`;
    await fs.renameNew(path, aside);
    notice?.('a segment file that no manifest lists was set aside', { file: path, aside });
  }
}

async function removeFiles(fs: Fs, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await fs.remove(path).catch((error: { code?: unknown }) => {
      // The file is already gone: the process that closed the database last had begun to remove it.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
