// Reads the bytes of a file in chunks and decompresses them if the file is gzip.

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HedgerowError } from '../../errors.ts';
import type { FileHandle } from '../../storage/index.ts';

/**
 * Maximum size in bytes of a chunk. Other work runs between two chunks; parsing one chunk of CSV
 * takes a few milliseconds.
 */
const CHUNK_BYTES = 32 * 1024;

/**
 * Yields chunks, each of which is a separate buffer. Throws `invalid_input` if a file that should
 * be gzip is not gzip or is truncated.
 */
export function fileChunks(handle: FileHandle, packed: boolean): AsyncIterable<Buffer> | Iterable<Buffer> {
  return packed ? unpacked(handle) : piecesOf(handle, { ended: false });
}

function* piecesOf(handle: FileHandle, reader: { readonly ended: boolean }): Generator<Buffer, void, undefined> {
  let position = 0;
  while (!reader.ended) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = handle.read(chunk, position);
    if (count === 0) return;
    position += count;
    yield chunk.subarray(0, count);
  }
}

async function* unpacked(handle: FileHandle): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // The stream reads ahead; it must not read after the handle is closed.
  const reader = { ended: false };
  // Errors on either side of the pipeline are thrown when `gunzip` is iterated.
  pipeline(Readable.from(piecesOf(handle, reader), { objectMode: false }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error;
    throw new HedgerowError('invalid_input', `The file is not whole gzip: ${(error as Error).message}.`, {
      cause: error,
    });
  } finally {
    reader.ended = true;
  }
}
