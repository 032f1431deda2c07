// Reads a backup file: checks its seal, unpacks gzip and tar, and passes on the entries one by one.
// Whatever the bytes of the file are, the result is either entries or an `invalid_input` error.

import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HedgerowError } from '../../errors.ts';
import { type FileHandle, type Fs, readFully } from '../../storage/index.ts';
import { noBackup } from './about-backup.ts';
import { SEAL_BYTES, sealedSum } from './archive-seal.ts';
import { readTar, type TarEntry } from './tar.ts';

const PIECE_BYTES = 2 ** 17;

export interface ReadOptions {
  fs: Fs;
  /** The backup file. */
  path: string;
  /**
   * Called with the number of bytes of the file read since the last call. An exception aborts the
   * work.
   */
  progress: (bytes: number) => void;
}

/**
 * Calls `visit` for each entry in order; `visit` must read the entry's content to the end. Rejects
 * with `invalid_input` if any byte of the file differs from what a backup wrote. Rejects with the
 * error of `visit`, or with the system's error if the file cannot be read.
 */
export async function readArchive(options: ReadOptions, visit: (entry: TarEntry) => Promise<void>): Promise<void> {
  const handle = options.fs.open(options.path, 'read');
  try {
    const { packedBytes, sum } = readSeal(handle);
    const packed = new PackedBytes(handle, packedBytes, options.progress);
    // Errors are thrown in the loop over the entries, but `pipeline` still requires a callback.
    const unpacked = pipeline(Readable.from(packed.pieces(), { highWaterMark: 1 }), createGunzip(), () => undefined);
    let failure: unknown;
    try {
      await readTar(unpacked, async (entry) => {
        try {
          await visit({ ...entry, content: unbroken(entry.content) });
        } catch (error) {
          failure = error;
          throw error;
        }
      });
    } catch (error) {
      throw packed.failure ?? failure ?? notUnpacked(error);
    } finally {
      unpacked.destroy();
    }
    if (packed.sum() !== sum) throw noBackup('its bytes are not those that were written (SHA-256)');
  } finally {
    handle.close();
  }
}

/** Yields the content; turns the error of a broken stream into `invalid_input`. */
async function* unbroken(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of content) yield piece;
  } catch (error) {
    throw notUnpacked(error);
  }
}

function notUnpacked(error: unknown): HedgerowError {
  return noBackup(`it cannot be unpacked (${(error as Error).message})`);
}

function readSeal(handle: FileHandle): { packedBytes: number; sum: string } {
  const packedBytes = handle.size() - SEAL_BYTES;
  const seal = new Uint8Array(SEAL_BYTES);
  if (packedBytes > 0) readFully(handle, seal, packedBytes);
  const sum = sealedSum(seal);
  if (sum === null) throw noBackup('it does not end as a backup does: it is truncated, or it is not a backup');
  return { packedBytes, sum };
}

/** Reads the file up to its seal, and hashes the bytes read. */
class PackedBytes {
  /** The error, if reading the file itself failed (as opposed to processing its bytes). */
  failure: unknown;
  readonly #handle: FileHandle;
  readonly #bytes: number;
  readonly #progress: (bytes: number) => void;
  readonly #hash = createHash('sha256');

  constructor(handle: FileHandle, bytes: number, progress: (bytes: number) => void) {
    this.#handle = handle;
    this.#bytes = bytes;
    this.#progress = progress;
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#bytes; ) {
      const piece = this.#read(at);
      at += piece.length;
      yield piece;
    }
  }

  #read(at: number): Uint8Array {
    try {
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.#bytes - at));
      if (readFully(this.#handle, piece, at) < piece.length) throw noBackup('it became shorter while it was read');
      this.#hash.update(piece);
      this.#progress(piece.length);
      return piece;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  /** Returns the SHA-256 of the bytes read. May be called once, after everything has been read. */
  sum(): string {
    return this.#hash.digest('hex');
  }
}

/**
 * Returns the content of a small entry as text. Throws `invalid_input` if the entry exceeds
 * `mostBytes`.
 */
export async function textOf({ name, bytes, content }: TarEntry, mostBytes: number): Promise<string> {
  if (bytes > mostBytes) throw noBackup(`its entry ${name} has ${bytes} bytes`);
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/**
 * Turns a system error about the backup file into an `invalid_input` error that explains it.
 * Returns any other error unchanged.
 */
export function readFailure(error: unknown, path: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (error instanceof HedgerowError || typeof code !== 'string') return error;
  if (code === 'ENOENT') return new HedgerowError('invalid_input', `There is no file ${path}.`, { cause: error });
  return new HedgerowError('invalid_input', `${path} cannot be read (${code}).`, { cause: error });
}
