// Produces the contents of a backup, in order: a description of the backup, the files of the data
// directory as of the backup's LSN, and the checksums of all entries. Segments and log files are
// checked while they are copied.

import { createHash } from 'node:crypto';
import { assertChecksum, type CoreModule, readSegmentFacts } from '../../core/index.ts';
import { corruption } from '../../errors.ts';
import { archivedLog, type Crc32c, type FileHandle, type Fs, readFully } from '../../storage/index.ts';
import { asCorruption } from '../table/segment-file.ts';
import { readSegmentHead, SectionCheck } from '../table/segment-sections.ts';
import type { BackupFacts } from './about-backup.ts';
import { ABOUT_NAME, MANIFEST_NAME, SUMS_NAME } from './archive-names.ts';
import type { PinnedFile, PinnedState } from './pinned-state.ts';
import type { TarFile } from './tar.ts';

/** Number of bytes read, hashed and passed on in one step, without a pause. */
const PIECE_BYTES = 2 ** 17;
/** Directory of the log inside the archive. */
const LOG_DIR = 'log';

export interface ContentsOptions {
  fs: Fs;
  crc32c: Crc32c;
  module: CoreModule;
  facts: BackupFacts;
  state: PinnedState;
  /** Yields to other work. */
  pause: () => Promise<void>;
}

/**
 * Yields the entries. Each must be read to its end before the next is requested. Throws `corrupt`
 * if a segment or the log differs from what was written, or if a file is too short.
 */
export async function* archiveContents(options: ContentsOptions): AsyncGenerator<TarFile> {
  const { state, facts } = options;
  const sums: string[] = [];
  const summed = (file: TarFile): TarFile => ({
    ...file,
    async *chunks() {
      const hash = createHash('sha256');
      for await (const piece of file.chunks()) {
        hash.update(piece);
        yield piece;
      }
      sums.push(`${hash.digest('hex')}  ${file.name}\n`);
    },
  });
  yield summed(wholeFile(ABOUT_NAME, Buffer.from(`${JSON.stringify(facts)}\n`)));
  if (state.manifest !== null) yield summed(wholeFile(MANIFEST_NAME, state.manifest));
  for (const segment of state.segments) yield summed(segmentFile(options, segment));
  for (const { name, handle, bytes } of state.answers)
    yield summed({ name, bytes, chunks: () => pieces(handle, 0, bytes) });
  for await (const file of archivedLog(LOG_DIR, state.log, options.crc32c, options.pause)) yield summed(file);
  yield wholeFile(SUMS_NAME, Buffer.from(sums.join('')));
}

function wholeFile(name: string, bytes: Uint8Array): TarFile {
  return { name, bytes: bytes.length, chunks: () => [bytes] };
}

/** Yields the bytes [from, to) of a file, in newly allocated buffers that the caller may keep. */
function* pieces(handle: FileHandle, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, to - at));
    const count = readFully(handle, piece, at);
    if (count < piece.length) throw corruption(handle.path, at + count, `it ends there, but it had ${to} bytes`);
    yield piece;
    at += count;
  }
}

/**
 * Opens a file, yields everything that `read` yields, and closes the file. A missing or unreadable
 * file is reported as corrupt.
 */
function* opened(fs: Fs, path: string, read: (handle: FileHandle) => Iterable<Uint8Array>): Generator<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = fs.open(path, 'read');
    yield* read(handle);
  } catch (error) {
    throw asCorruption(error, path);
  } finally {
    handle?.close();
  }
}

function segmentFile({ fs, crc32c, module }: ContentsOptions, { name, path, bytes, checksum }: PinnedFile): TarFile {
  return {
    name,
    bytes,
    *chunks() {
      yield* opened(fs, path, function* (handle) {
        const head = readSegmentHead(handle);
        assertChecksum(readSegmentFacts(module.instantiate(), head, bytes, path), checksum, path);
        const check = new SectionCheck(path, head, bytes, crc32c);
        for (const piece of pieces(handle, 0, bytes)) {
          check.add(piece);
          yield piece;
        }
        check.finish();
      });
    },
  };
}
