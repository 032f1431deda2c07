// Opens one input of an import, a file or stdin, unpacks it when it begins with the magic bytes of
// gzip, and turns texts of other encodings into UTF-8.

import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { KIND_BYTES, unreadableKind, wideEncoding } from './file-kinds.ts';

export interface Source {
  /** `-` for stdin. */
  readonly path: string;
  /** For people and file names: the file's own name, or `stdin`. */
  readonly label: string;
  /** Bytes on disk; undefined for what has no size (stdin, pipes). */
  readonly totalBytes: number | undefined;
  /** Bytes read so far, packed ones when the input is packed. */
  bytesRead(): number;
  /** It is packed; known once its first bytes were read. */
  packed(): boolean;
  /**
   * The encoding that it was decoded from; undefined: it is read as it is. Known once its first
   * bytes were read.
   */
  decodedFrom(): string | undefined;
  /**
   * The unpacked bytes, of a text in UTF-8. Iterating throws when the input cannot be read or is
   * not whole gzip.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /** Gives up reading, also while it waits for more; iterating may throw then. */
  close(): void;
}

const CHUNK_BYTES = 256 * 1024;

interface Facts {
  bytes: number;
  packed: boolean;
  encoding: string | undefined;
}

/**
 * `encoding`: as TextDecoder calls it; undefined: UTF-16 is recognised. Throws when there is no
 * such file.
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
  // Errors of both sides come out of iterating `gunzip`.
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

/** Bytes that mean nothing in the encoding become U+FFFD. */
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

/** What an input begins with, and all of it. */
export interface Peeked {
  /** `bytes` of it, or what there is. */
  readonly head: Buffer;
  readonly isWhole: boolean;
  /** With the head. */
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

/** Without that many bytes at the beginning. */
export async function* without(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield left === 0 ? chunk : chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}
