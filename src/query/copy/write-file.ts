// Creates a file atomically. The file has a temporary name until it is durable, so its final name
// never refers to an incomplete file.

import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { writeFailure } from '../../engine/index.ts';
import { directoryOf, type FileHandle, type Fs, joined, writeWhole } from '../../storage/index.ts';
import { type CopyFile, inTheWay } from './copy-file.ts';

export interface WriteOptions {
  readonly fs: Fs;
  readonly file: CopyFile;
  readonly temporaries: TemporaryNames;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Makes the names of incomplete files, `.hedgerow-copy-<hash of data directory>-<id>.tmp`. Only one
 * process at a time holds a data directory. If a file has the prefix for this directory but is not
 * being written by this process, a killed process has left it. Files of servers with other data
 * directories are not touched.
 */
export class TemporaryNames {
  readonly #prefix: string;
  readonly #newId: () => string;
  readonly #used = new Set<string>();

  constructor(dataDir: string, newId: () => string) {
    const digest = createHash('sha256').update(dataDir).digest('hex');
    this.#prefix = `.hedgerow-copy-${digest.slice(0, 16)}-`;
    this.#newId = newId;
  }

  take(): string {
    const name = `${this.#prefix}${this.#newId()}.tmp`;
    this.#used.add(name);
    return name;
  }

  give(name: string): void {
    this.#used.delete(name);
  }

  isStale(name: string): boolean {
    return name.startsWith(this.#prefix) && name.endsWith('.tmp') && !this.#used.has(name);
  }
}

/**
 * Writes the file; resolves when it is durable under its name. Rejects with `file_exists`, with
 * `disk_full`, or with the error of `pieces`; in these cases no new file remains. Incomplete files
 * that a killed process left in the directory are removed first.
 */
export async function writeFile({ fs, file, temporaries, pieces }: WriteOptions): Promise<void> {
  const { path, packed } = file;
  const dir = directoryOf(path);
  const name = temporaries.take();
  const temporary = joined(dir, name);
  let placed = false;
  try {
    fs.makeDir(dir);
    await removeStale(fs, dir, temporaries);
    await writePieces(fs.open(temporary, 'create'), packed, pieces);
    await fs.renameNew(temporary, path).catch((error: { code?: unknown }) => {
      throw error.code === 'EEXIST' ? inTheWay(path) : error;
    });
    placed = true;
    await fs.syncDir(dir);
  } catch (error) {
    await fs.remove(temporary).catch(() => undefined);
    if (placed) await fs.remove(path).catch(() => undefined);
    throw writeFailure(error, path);
  } finally {
    temporaries.give(name);
  }
}

/**
 * Removes incomplete files of killed processes. If one cannot be removed, it is left for the next
 * call.
 */
async function removeStale(fs: Fs, dir: string, temporaries: TemporaryNames): Promise<void> {
  for (const name of fs.list(dir))
    if (temporaries.isStale(name)) await fs.remove(joined(dir, name)).catch(() => undefined);
}

async function writePieces(handle: FileHandle, packed: boolean, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    let position = 0;
    const write = async (piece: Uint8Array): Promise<void> => {
      await writeWhole(handle, piece, position);
      position += piece.length;
    };
    if (packed) await pack(pieces, write);
    else for await (const piece of pieces) await write(piece);
    await handle.sync();
  } finally {
    handle.close();
  }
}

/**
 * Compresses the pieces with gzip. Rejects with the original error of `pieces` or `write`, not with
 * the error of the stream between them.
 */
async function pack(pieces: AsyncIterable<Uint8Array>, write: (piece: Uint8Array) => Promise<void>): Promise<void> {
  let failure: unknown;
  const sink = async (packed: AsyncIterable<Uint8Array>): Promise<void> => {
    try {
      for await (const piece of packed) await write(piece);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  const source = async function* () {
    try {
      yield* pieces;
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  try {
    await pipeline(source, createGzip(), sink);
  } catch (error) {
    throw failure ?? error;
  }
}
