// Makes sure that DuckDB reads exactly the files that were found. By the time DuckDB opens a path,
// the path may lead to another file.
//
// This module opens each data file and compares its device and inode with those that were found. On
// Linux, DuckDB then gets a symbolic link, in a private folder, to the open descriptor; elsewhere
// it gets the path that was found. Reading the link reads the opened file, even if the old path now
// leads to another file. This does not work for a database, which DuckDB opens by its resolved
// path. A database therefore gets a hard link in the private folder, or a copy if the folder is on
// another file system. Its WAL is always copied.

import { constants, existsSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, mkdtemp, open, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DuckDbSource, SourceFile } from './duckdb-messages.ts';

/** Folder with the open descriptors of this process as files; Linux only. */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);

export interface HeldFiles {
  /** The paths that DuckDB opens. */
  readonly paths: readonly string[];
  /** Replaces the private paths in a message from DuckDB with the original paths. */
  shown(text: string): string;
  close(): Promise<void>;
}

/**
 * Opens the files and gives them private paths. `parent` is a folder that only this service can
 * write to. `mostCopied` is the size in bytes up to which a database is copied. Rejects if a path
 * now leads to another file than the one that was found.
 */
export async function holdFiles(source: DuckDbSource, parent: string, mostCopied: number): Promise<HeldFiles> {
  const folder = await mkdtemp(join(parent, 'held-'));
  const handles: FileHandle[] = [];
  const close = async () => {
    await Promise.all(handles.map((handle) => handle.close()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const hold = async (file: SourceFile): Promise<FileHandle> => {
      const handle = await openFound(file);
      handles.push(handle);
      return handle;
    };
    const paths =
      source.opened.kind === 'database'
        ? [await holdDatabase(source, source.opened.log, folder, hold, mostCopied)]
        : await holdRows(source.files, folder, hold);
    return { paths, shown: (text) => text.replaceAll(folder, ''), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Hold = (file: SourceFile) => Promise<FileHandle>;

/**
 * Opens data files. The private paths contain the original paths, because DuckDB interprets
 * extensions and folder names such as `year=2024`.
 */
async function holdRows(files: readonly SourceFile[], folder: string, hold: Hold): Promise<string[]> {
  const paths: string[] = [];
  for (const file of files) {
    const { fd } = await hold(file);
    const path = folder + file.path;
    paths.push(HAS_DESCRIPTORS ? path : file.path);
    if (!HAS_DESCRIPTORS) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await symlink(`${DESCRIPTORS}/${fd}`, path);
  }
  return paths;
}

async function holdDatabase(
  { files: [file] }: DuckDbSource,
  log: SourceFile | undefined,
  folder: string,
  hold: Hold,
  mostCopied: number,
): Promise<string> {
  const path = folder + file!.path;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await hold(file!);
  if (!(await linked(file!, path))) {
    const { size } = await handle.stat();
    if (size > mostCopied)
      throw new Error(
        `it has ${size} bytes and is on another file system than the temporary folder, so that it would have to be copied: set TMPDIR to a folder on its file system and start the service again`,
      );
    await copyHeld(handle, file!, path);
  }
  if (log !== undefined) await copyHeld(await hold(log), log, `${path}.wal`);
  return path;
}

/** Hard-links the file at `path`. Returns false if that is not possible. */
async function linked(file: SourceFile, path: string): Promise<boolean> {
  try {
    await link(file.path, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw replaced();
    return false;
  }
  // Another file may have been put at the path before it was linked, so the new link is checked.
  // From then on the link always leads to the same file.
  await (await openFound({ ...file, path })).close();
  return true;
}

async function copyHeld({ fd }: FileHandle, file: SourceFile, path: string): Promise<void> {
  await copyFile(HAS_DESCRIPTORS ? `${DESCRIPTORS}/${fd}` : file.path, path, constants.COPYFILE_FICLONE);
}

async function openFound({ path, identity }: SourceFile): Promise<FileHandle> {
  // Non-blocking, so that opening a pipe without a writer does not hang.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' || error.code === 'ENOENT' || error.code === 'ENOTDIR' ? replaced() : error;
  });
  const stats = await handle.stat({ bigint: true });
  if (identityOf(stats) === identity) return handle;
  await handle.close();
  throw replaced();
}

/** Returns a text that identifies a file independently of its name. */
export function identityOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev}:${ino}`;
}

function replaced(): Error {
  return new Error('it was replaced while it was being opened: ask again');
}
