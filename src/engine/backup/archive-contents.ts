// What goes into a backup, in order: what it is, the data directory's files at its LSN, and the sums of all of them. Files are checked as they are copied.

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

/** Bytes of one step: read, summed and handed on without a pause. */
const PIECE_BYTES = 2 ** 17;
/** Where the log is in the archive. */
const LOG_DIR = 'log';

export interface ContentsOptions {
  fs: Fs;
  crc32c: Crc32c;
  module: CoreModule;
  facts: BackupFacts;
  state: PinnedState;
  /** Lets other work have its turn. */
  pause: () => Promise<void>;
}

/** The entries. Each must be read to its end before the next one is asked for. Throws `corrupt` when a file is not what was written. */
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

/** The bytes of a file from `from` to `to`, in fresh memory: whoever takes them may keep them. */
function* pieces(handle: FileHandle, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, to - at));
    const count = readFully(handle, piece, at);
    if (count < piece.length) throw corruption(handle.path, at + count, `it ends there, but it had ${to} bytes`);
    yield piece;
    at += count;
  }
}

/** What `read` gives of a file, which is open meanwhile. A file that is missing or cannot be read is corrupt. */
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
