// Writes and reads the tar format as streams of files. This is the only module that uses
// tar-stream.

import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Pack, pack } from 'tar-stream';

/**
 * A file to write. `chunks` is called when the previous files have been written; it must yield
 * exactly `bytes` bytes.
 */
export interface TarFile {
  name: string;
  bytes: number;
  chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** An entry that was read. Its content must be read to the end before the next entry. */
export interface TarEntry {
  name: string;
  isFile: boolean;
  bytes: number;
  content: AsyncIterable<Uint8Array>;
}

const OWNER_ONLY = 0o600;

/**
 * Returns the bytes of an archive with the files in the given order. Contents are read only as fast
 * as the caller consumes the bytes.
 */
export function tarStream(files: AsyncIterable<TarFile>): AsyncIterable<Uint8Array> {
  const packer = pack();
  writeAll(packer, files).then(
    () => packer.finalize(),
    (error: Error) => packer.destroy(error),
  );
  return packer as unknown as AsyncIterable<Uint8Array>;
}

async function writeAll(packer: Pack, files: AsyncIterable<TarFile>): Promise<void> {
  for await (const file of files) {
    await new Promise<void>((resolve, reject) => {
      const sink = packer.entry({ name: file.name, size: file.bytes, mode: OWNER_ONLY, type: 'file' }, (error) => {
        if (error) reject(error);
        else resolve();
      });
      // The entry's callback reports the error; without a listener it would end the process.
      sink.on('error', () => undefined);
      writeFile(sink, file.chunks).catch(reject);
    });
  }
}

async function writeFile(sink: NodeJS.WritableStream & { destroyed?: boolean }, chunks: TarFile['chunks']) {
  for await (const chunk of chunks()) {
    if (!sink.write(chunk)) await drained(sink);
    if (sink.destroyed === true) return; // the reader has stopped; the entry's callback reports it
  }
  sink.end();
}

/** Resolves when the stream accepts more data, or is closed and will never accept any. */
function drained(sink: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sink.off('drain', done);
      sink.off('close', done);
      resolve();
    };
    sink.on('drain', done);
    sink.on('close', done);
  });
}

/**
 * Reads an archive and calls `visit` for each entry in order. Rejects with the error of the source,
 * the format or `visit`.
 */
export async function readTar(source: Readable, visit: (entry: TarEntry) => Promise<void>): Promise<void> {
  const extractor = extract();
  const feeding = pipeline(source, extractor);
  // The error is reported by the loop below or by the `await` after it.
  feeding.catch(() => undefined);
  for await (const entry of extractor) {
    const { name, type, size } = entry.header;
    await visit({
      name,
      isFile: type === 'file' || type === 'contiguous-file',
      bytes: size ?? 0,
      content: entry as AsyncIterable<Uint8Array>,
    });
    entry.resume();
  }
  await feeding;
}
