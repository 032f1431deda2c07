// Holds the very files that were found, so that DuckDB reads no others: a name that was looked at may lead elsewhere by the time it is opened.
//
// A file of rows is opened here, compared with what was found (device and inode), and given to DuckDB as a link in a private folder to its descriptor: reading
// the link opens that file, whatever its old name has become. A database is opened by DuckDB under its full name without links, so it gets a second name in the
// private folder (a hard link), or where there can be none, on another file system, a copy; its log is copied always.

import { constants, existsSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, mkdtemp, open, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DuckDbSource, SourceFile } from './duckdb-messages.ts';

/** Descriptors of this process as files: Linux. */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);

export interface HeldFiles {
  /** What DuckDB is to open. */
  readonly paths: readonly string[];
  /** A text of DuckDB with the names that the files had when they were found. */
  shown(text: string): string;
  close(): Promise<void>;
}

/** `parent`: a folder that only this service can write to. `mostCopied`: bytes of a database that is copied, at most. Rejects when a file is no longer the one found. */
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

/** The names keep what is before them: DuckDB looks at endings, and at folders such as `year=2024`. */
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
        `it has ${size} bytes and lies on another file system than the temporary folder, so that it would have to be copied: set TMPDIR to a folder on its file system and start the service again`,
      );
    await copyHeld(handle, file!, path);
  }
  if (log !== undefined) await copyHeld(await hold(log), log, `${path}.wal`);
  return path;
}

/** False: the file cannot have a second name there. */
async function linked(file: SourceFile, path: string): Promise<boolean> {
  try {
    await link(file.path, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw replaced();
    return false;
  }
  // What has got the second name may be another file by now. Under that name it stays what it is.
  await (await openFound({ ...file, path })).close();
  return true;
}

async function copyHeld({ fd }: FileHandle, file: SourceFile, path: string): Promise<void> {
  await copyFile(HAS_DESCRIPTORS ? `${DESCRIPTORS}/${fd}` : file.path, path, constants.COPYFILE_FICLONE);
}

async function openFound({ path, identity }: SourceFile): Promise<FileHandle> {
  // A pipe that nobody writes to must not be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' || error.code === 'ENOENT' || error.code === 'ENOTDIR' ? replaced() : error;
  });
  const stats = await handle.stat({ bigint: true });
  if (identityOf(stats) === identity) return handle;
  await handle.close();
  throw replaced();
}

/** Which file it is, whatever its name. */
export function identityOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev}:${ino}`;
}

function replaced(): Error {
  return new Error('it was replaced while it was being opened: ask again');
}
