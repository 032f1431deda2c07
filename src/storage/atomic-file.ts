// Replaces a file atomically: after a crash the file has either the old contents or the new, never
// a mixture.

import type { Fs } from './fs.ts';
import { writeWhole } from './whole-file.ts';

/**
 * Thrown when replacing a file failed at or after the rename. Either the old or the new file may be
 * in place, and only a restart shows which.
 */
export class FileInDoubt extends Error {
  /** System error code of the cause, if it has one. */
  readonly code: unknown;

  constructor(path: string, cause: unknown) {
    super(`${path}: ${(cause as Error).message}`, { cause });
    this.code = (cause as { code?: unknown }).code;
  }
}

/**
 * Replaces the file at `path`: writes `<path>.tmp`, syncs it, renames it to `path` and syncs the
 * directory. The new file is durable when this resolves. If it rejects with `FileInDoubt`, the
 * rename was attempted, and after a crash either the old or the new file may be there. After any
 * other error the old file is unchanged, and the temporary file was removed if possible, because it
 * would take up space on a full disk.
 */
export async function writeFileAtomically(fs: Fs, path: string, ...pieces: readonly Uint8Array[]): Promise<void> {
  const temporary = `${path}.tmp`;
  await writeTemporary(fs, temporary, pieces);
  try {
    await fs.rename(temporary, path);
    await fs.syncDir(directoryOf(path));
  } catch (error) {
    throw new FileInDoubt(path, error);
  }
}

async function writeTemporary(fs: Fs, temporary: string, pieces: readonly Uint8Array[]): Promise<void> {
  if (fs.exists(temporary)) await fs.remove(temporary);
  const handle = fs.open(temporary, 'create');
  let isWhole = false;
  try {
    let at = 0;
    for (const piece of pieces) {
      await writeWhole(handle, piece, at);
      at += piece.length;
    }
    await handle.sync();
    isWhole = true;
  } finally {
    handle.close();
    // If the removal fails too, the original error is more informative.
    if (!isWhole) await fs.remove(temporary).catch(() => undefined);
  }
}

/** Returns the directory part of a path, or `.` if there is none. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}
