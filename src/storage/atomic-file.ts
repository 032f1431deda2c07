// Replacing a file so that a crash leaves the old bytes or the new ones, nothing between.

import type { Fs } from './fs.ts';
import { writeWhole } from './whole-file.ts';

/**
 * Writes `<path>.tmp`, syncs it, renames it to `path`, syncs the directory. Durable when it resolves. When it rejects before the rename the old
 * file stands; when the directory sync itself fails, either may be there after a crash.
 */
export async function writeFileAtomically(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  if (fs.exists(temporary)) await fs.remove(temporary);
  const handle = fs.open(temporary, 'create');
  try {
    await writeWhole(handle, bytes, 0);
    await handle.sync();
  } finally {
    handle.close();
  }
  await fs.rename(temporary, path);
  await fs.syncDir(directoryOf(path));
}

/** The directory part of a path, `.` when there is none. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}
