// Replacing a file so that a crash leaves the old bytes or the new ones, nothing between.

import type { Fs } from './fs.ts';
import { writeWhole } from './whole-file.ts';

/** A file was to be replaced, and the step that failed may have been the last one: the old or the new one is there, only a restart tells which. */
export class FileInDoubt extends Error {
  /** The system's name for what happened, when it has one. */
  readonly code: unknown;

  constructor(path: string, cause: unknown) {
    super(`${path}: ${(cause as Error).message}`, { cause });
    this.code = (cause as { code?: unknown }).code;
  }
}

/**
 * Writes `<path>.tmp`, syncs it, renames it to `path`, syncs the directory. Durable when it resolves. When it rejects with `FileInDoubt` the rename was
 * reached, and after a crash either file may be there; with anything else the old file is there, and the temporary one was removed when that was possible:
 * on a full disk it would take the room.
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
    // The first error says more than that of a removal which fails too.
    if (!isWhole) await fs.remove(temporary).catch(() => undefined);
  }
}

/** The directory part of a path, `.` when there is none. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}
