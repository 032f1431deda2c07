// Writes the files of a checked backup into a directory and syncs them.

import { createHash } from 'node:crypto';
import { directoryOf, type Fs, writeWhole } from '../../storage/index.ts';
import { noBackup } from './about-backup.ts';
import type { CheckedArchive } from './check-archive.ts';
import { type ReadOptions, readArchive } from './read-archive.ts';
import type { TarEntry } from './tar.ts';

/**
 * Writes the files of the backup into `target`, which must exist and be empty. When this resolves,
 * everything is synced. If it rejects, some files may remain.
 */
export async function extractArchive(options: ReadOptions, archive: CheckedArchive, target: string): Promise<void> {
  const { fs } = options;
  const dirs = new Set([target]);
  const written = new Set<string>();
  await readArchive(options, async (entry) => {
    const sum = archive.sums.get(entry.name);
    if (sum === undefined) {
      // This entry is the description of the backup or the list of checksums. Both were read when
      // the backup was checked.
      for await (const _piece of entry.content);
      return;
    }
    const path = `${target}/${entry.name}`;
    const dir = directoryOf(path);
    if (!dirs.has(dir)) fs.makeDir(dir);
    dirs.add(dir);
    if ((await writeEntry(fs, path, entry)) !== sum) throw changed();
    written.add(entry.name);
  });
  if (written.size !== archive.sums.size) throw changed();
  for (const dir of dirs) await fs.syncDir(dir);
}

function changed(): Error {
  return noBackup('it was changed while it was read');
}

/** Writes the content of an entry to a file and resolves with the content's SHA-256. */
async function writeEntry(fs: Fs, path: string, { content }: TarEntry): Promise<string> {
  const handle = fs.open(path, 'create');
  try {
    const hash = createHash('sha256');
    let position = 0;
    for await (const piece of content) {
      hash.update(piece);
      await writeWhole(handle, piece, position);
      position += piece.length;
    }
    await handle.sync();
    return hash.digest('hex');
  } finally {
    handle.close();
  }
}
