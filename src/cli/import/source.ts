// Opens one input of an import, a file or stdin. Decompresses it when it begins with the magic
// bytes of gzip, and converts texts in other encodings to UTF-8.

import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { KIND_BYTES, unreadableKind, wideEncoding } from './file-kinds.ts';

export interface Source {
  /** `-` for stdin. */
  readonly path: string;
  /** Name for messages and file names: the name of the file, or `stdin`. */
  readonly label: string;
  /** Size on disk in bytes; undefined when the size is unknown (stdin, pipes). */
  readonly totalBytes: number | undefined;
  /** Returns the number of bytes read so far, before decompression. */
  bytesRead(): number;
  /** Returns whether the input is compressed; known once its first bytes have been read. */
  packed(): boolean;
  /**
   * Returns the encoding from which the input is converted; undefined when it is read unchanged.
   * Known once the first bytes of the input have been read.
   */
  decodedFrom(): string | undefined;
  /**
   * The decompressed input, converted to UTF-8 if `decodedFrom` returns an encoding. Iterating
   * throws when the input cannot be read or is incomplete gzip.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /** Stops reading, even while waiting for more bytes; iterating may then throw. */
  close(): void;
}

const CHUNK_BYTES = 256 * 1024;

interface Facts {
  bytes: number;
  packed: boolean;
  encoding: string | undefined;
}

/**
 * Opens an input. `encoding` is a name that TextDecoder accepts. When it is undefined, UTF-16 is
 * recognized. Throws when the file does not exist.
 */
export function openSource(path: string, stdin: ByteStream, encoding?: string): Source {
  const label = path === '-' ? 'stdin' : basename(path);
  const totalBytes = path === '-' ? undefined : sizeOf(path);
  const tally: Facts = { bytes: 0, packed: false, encoding };
  let raw: ByteStream | undefined;
  const open = (): ByteStream => {
    raw = path === '-' ? stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
    return raw;
  };
  return {
    path,
    label,
    totalBytes,
    bytesRead: () => tally.bytes,
    packed: () => tally.packed,
    decodedFrom: () => (tally.encoding === 'utf-8' ? undefined : tally.encoding),
    chunks: decoded(unpacked(open, tally, label), tally, label),
    close: () => raw?.destroy?.(),
  };
}

type ByteStream = AsyncIterable<Uint8Array> & { destroy?: () => unknown };

function sizeOf(path: string): number | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) throw new Error(`There is no file ${path}.`);
  if (facts.isDirectory()) throw new Error(`${path} is a directory; name the files in it.`);
  return facts.isFile() ? facts.size : undefined;
}

async function* unpacked(open: () => AsyncIterable<Uint8Array>, tally: Facts, label: string): AsyncGenerator<Buffer> {
  const raw = counted(open(), tally);
  const head = await firstBytes(raw);
  if (head.length < 2 || head[0] !== 0x1f || head[1] !== 0x8b) {
    yield head;
    yield* raw;
    return;
  }
  tally.packed = true;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Errors of both streams are thrown while iterating over `gunzip`.
  pipeline(Readable.from(joined(head, raw), { objectMode: false }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    throw new Error(`${label} is not whole gzip: ${(error as Error).message}.`, { cause: error });
  }
}

async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < KIND_BYTES) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

/**
 * Converts other encodings to UTF-8; bytes that are invalid in the encoding become U+FFFD. UTF-8 is
 * passed on unchanged.
 */
async function* decoded(chunks: AsyncGenerator<Buffer>, facts: Facts, label: string): AsyncGenerator<Buffer> {
  const head = await firstBytes(chunks);
  const kind = unreadableKind(head);
  if (kind !== undefined) throw new Error(`${label} ${kind}.`);
  facts.encoding ??= wideEncoding(head);
  if (facts.encoding === undefined || facts.encoding === 'utf-8') {
    yield head;
    yield* chunks;
    return;
  }
  const decoder = new TextDecoder(facts.encoding);
  for await (const chunk of joined(head, chunks)) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield Buffer.from(text);
  }
  const rest = decoder.decode();
  if (rest !== '') yield Buffer.from(rest);
}

async function* counted(raw: AsyncIterable<Uint8Array>, tally: Facts): AsyncGenerator<Buffer> {
  for await (const chunk of raw) {
    tally.bytes += chunk.length;
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }
}

async function* joined(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

/** The beginning of an input, together with the whole input. */
export interface Peeked {
  /** At least as many bytes as were asked for, or the whole input when it is shorter. */
  readonly head: Buffer;
  readonly isWhole: boolean;
  /** The whole input, including the head. */
  readonly chunks: AsyncIterable<Buffer>;
}

export async function peek(chunks: AsyncIterable<Buffer>, bytes: number): Promise<Peeked> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let isWhole = false;
  while (head.length < bytes) {
    const next = await iterator.next();
    if (next.done === true) {
      isWhole = true;
      break;
    }
    head = Buffer.concat([head, next.value]);
  }
  const rest = { [Symbol.asyncIterator]: () => iterator };
  return { head, isWhole, chunks: isWhole ? only(head) : joined(head, rest) };
}

async function* only(head: Buffer): AsyncGenerator<Buffer> {
  yield head;
}

/** Yields the chunks without the first `bytes` bytes of the input. */
export async function* without(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield left === 0 ? chunk : chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}
