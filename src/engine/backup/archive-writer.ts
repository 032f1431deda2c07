// Writes a backup file under a temporary name and renames it once it is complete and durable. So
// the final name never refers to a partial file.

import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { HedgerowError } from '../../errors.ts';
import { type FileHandle, type Fs, writeWhole } from '../../storage/index.ts';
import { sealOf } from './archive-seal.ts';
import { type TarFile, tarStream } from './tar.ts';

/** Higher levels do not make packed columns of segments smaller and take several times as long. */
const GZIP_LEVEL = 4;
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const NOT_WRITABLE: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT', 'ENAMETOOLONG'];

export interface ArchiveOptions {
  fs: Fs;
  /** Must exist. */
  dir: string;
  name: string;
  /**
   * Name used while the archive is being written. An existing file with this name was left by a
   * killed process.
   */
  temporary: string;
  files: AsyncIterable<TarFile>;
  /** Called between pieces; an exception aborts the work. */
  checkStopped: () => void;
}

/**
 * Writes the archive; resolves with the size of the file once it is durable under its final name.
 * Rejects with `backup_exists`, `disk_full` or the error of `files`. If it rejects, it leaves no
 * file of its own under either name.
 */
export async function writeArchive(options: ArchiveOptions): Promise<number> {
  const { fs, dir } = options;
  const path = `${dir}/${options.name}`;
  const temporary = `${dir}/${options.temporary}`;
  let placed = false;
  try {
    if (fs.kindOf(path) !== null) throw inTheWay(path);
    if (fs.kindOf(temporary) !== null) await fs.remove(temporary);
    const bytes = await writeFile(options, temporary);
    await fs.renameNew(temporary, path).catch((error: { code?: unknown }) => {
      throw error.code === 'EEXIST' ? inTheWay(path) : error;
    });
    placed = true;
    await fs.syncDir(dir);
    return bytes;
  } catch (error) {
    await fs.remove(temporary).catch(() => undefined);
    if (placed) await fs.remove(path).catch(() => undefined);
    throw writeFailure(error, path);
  }
}

async function writeFile(options: ArchiveOptions, path: string): Promise<number> {
  const handle = options.fs.open(path, 'create');
  try {
    const sum = createHash('sha256');
    let position = 0;
    const write = async (piece: Uint8Array): Promise<void> => {
      options.checkStopped();
      await writeWhole(handle, piece, position);
      position += piece.length;
    };
    await packInto(options.files, async (piece) => {
      sum.update(piece);
      await write(piece);
    });
    await write(sealOf(sum.digest('hex')));
    await handle.sync();
    return position;
  } finally {
    closeQuietly(handle);
  }
}

/**
 * Packs the files and passes the bytes to `take`. Rejects with the original error of `files` or
 * `take`, not with an error of the streams in between.
 */
async function packInto(files: AsyncIterable<TarFile>, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  let failure: unknown;
  const write = async (packed: AsyncIterable<Uint8Array>): Promise<void> => {
    try {
      for await (const piece of packed) await take(piece);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  try {
    await pipeline(tarStream(files), createGzip({ level: GZIP_LEVEL }), write);
  } catch (error) {
    throw failure ?? error;
  }
}

/** Yields the bytes of an archive. Throws the error of `files`. */
export async function* archiveBytes(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array, void, undefined> {
  const sum = createHash('sha256');
  const packed = createGzip({ level: GZIP_LEVEL });
  const packing = pipeline(tarStream(files), packed);
  // The loop below ends with the same error.
  packing.catch(() => undefined);
  for await (const piece of packed as AsyncIterable<Uint8Array>) {
    sum.update(piece);
    yield piece;
  }
  await packing;
  yield sealOf(sum.digest('hex'));
}

function closeQuietly(handle: FileHandle): void {
  try {
    handle.close();
  } catch {
    // Either the data is already synced, or the caller gets another error anyway.
  }
}

function inTheWay(path: string): HedgerowError {
  return new HedgerowError('backup_exists', `${path} exists already and is not overwritten. Try again in a second.`);
}

/** Translates a failure to create or write `path` into an error that a person can act on. */
export function writeFailure(error: unknown, path: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  const cause = { cause: error };
  if (FULL.includes(code)) {
    const detail = `There is no space left to write ${path}; no part of it was kept. Free space or name another directory.`;
    return new HedgerowError('disk_full', detail, cause);
  }
  if (NOT_WRITABLE.includes(code)) {
    const detail = `${path} cannot be written (${String(code)}). Check the directory and who may write in it.`;
    return new HedgerowError('internal', detail, cause);
  }
  if (code === 'EIO' || (error instanceof Error && error.message.startsWith('short write'))) {
    const detail = `${path} could not be written whole (${(error as Error).message}); no part of it was kept. Check the disk, then try again.`;
    return new HedgerowError('disk_failed', detail, cause);
  }
  return error;
}
