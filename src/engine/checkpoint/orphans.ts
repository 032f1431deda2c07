// Files that nothing needs: what a crash left between a compaction, a drop or a checkpoint and the removal of its files.

import { corruption } from '../../errors.ts';
import type { Fs } from '../../storage/index.ts';
import { segmentNumber } from '../table/segment-file.ts';
import type { Table } from '../table/table.ts';
import { type Checkpoint, segmentsOf } from './checkpoint.ts';

type Notice = ((message: string, fields: Record<string, unknown>) => void) | undefined;

export interface Orphans {
  /** No manifest ever listed them: a compaction was cut before its commit point. */
  unlisted: string[];
  /** An older manifest lists them. */
  replaced: string[];
}

/** Segment files that no table has. Looks at every table id ever given out, dropped ones too. `checkpoint`: the manifest that was found at open. */
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
 * Removes them. After a kill the manifest that was found may be in the page cache only, and an older one on the disk, which lists the replaced
 * files: so `installManifest` puts the present one there before they go. When that fails they stay.
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

/** Segment files of the tables that `isUnknown` names by number. */
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

/** Segments without a manifest and without operations in the log: the manifest was lost. Throws `corrupt`. */
export function refuseSegments(paths: readonly string[], manifest: string): void {
  if (paths.length === 0) return;
  throw corruption(
    manifest,
    0,
    `the file is missing, but there are ${paths.length} segment files that it must list, the first is ${paths[0]}`,
  );
}

/** Renames segment files that nothing lists to `<name>.aside`: they could be data. */
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
      // The removal that the last close did not wait for came first.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
