// Writes and reads files of stored answers (FORMAT.md, `replays/`): appends records durably, and
// reads the files that a manifest lists.

import { assert } from '../assert.ts';
import { corruption, HedgerowError } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import type { Fs } from './fs.ts';
import { readFully, readWhole, writeWhole } from './whole-file.ts';

/** A file as listed in the manifest: only its first `bytes` bytes are valid. */
export interface ReplayFile {
  number: number;
  bytes: number;
}

export interface ReplayRecord {
  lsn: number;
  payload: Uint8Array;
}

/**
 * One finding when a file is read: a record with a valid checksum, or a fault where there is
 * something else.
 */
export type KeptAnswerFinding =
  | (ReplayRecord & { kind: 'record'; offset: number })
  | { kind: 'fault'; offset: number; what: string };

/**
 * The version of new files. Version 1, in which all records have a body, is read in the same way.
 */
const FORMAT_VERSION = 2;
const OLDEST_VERSION = 1;
const MAGIC = 'HGROWRPL';
export const REPLAY_HEADER_BYTES = 16;
const RECORD_HEADER_BYTES = 16;
const VERSION_OFFSET = 8;
const NAME = /^replays-([0-9a-f]{8})$/;
const WORD = 2 ** 32;
/** A payload is a JSON object: it starts with a brace and has at least two bytes. */
const BRACE = 0x7b;
const LEAST_PAYLOAD_BYTES = 2;

export function replayFileName(number: number): string {
  return `replays-${number.toString(16).padStart(8, '0')}`;
}

/**
 * Returns the number in a file name, or null if the name has another form, such as the name of a
 * damaged file that was set aside.
 */
export function replayFileNumber(name: string): number | null {
  const found = NAME.exec(name);
  return found === null ? null : Number.parseInt(found[1]!, 16);
}

/** Returns the number of bytes that a record takes in a file. */
export function recordBytes({ payload }: ReplayRecord): number {
  return RECORD_HEADER_BYTES + payload.length;
}

/**
 * Writes records after the first `file.bytes` bytes of a file. Creates the file if `bytes` is 0.
 * Resolves with the new size in bytes when everything is durable. If this rejects, the content
 * after these bytes is unknown, so later records must be written to another file.
 */
export async function appendRecords(
  fs: Fs,
  dir: string,
  file: ReplayFile,
  records: readonly ReplayRecord[],
  crc32c: Crc32c,
): Promise<number> {
  const isNew = file.bytes === 0;
  const bytes = encodeRecords(isNew ? file.number : null, records, crc32c);
  const path = `${dir}/${replayFileName(file.number)}`;
  if (isNew) fs.makeDir(dir);
  const handle = fs.open(path, isNew ? 'create' : 'write');
  try {
    await writeWhole(handle, bytes, file.bytes);
    await handle.sync();
  } finally {
    handle.close();
  }
  if (isNew) await fs.syncDir(dir);
  return file.bytes + bytes.length;
}

/**
 * Encodes records. If `number` is not null, writes the header of the file with that number before
 * them.
 */
function encodeRecords(number: number | null, records: readonly ReplayRecord[], crc32c: Crc32c): Uint8Array {
  const start = number === null ? 0 : REPLAY_HEADER_BYTES;
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + recordBytes(record), start));
  const view = new DataView(bytes.buffer);
  if (number !== null) bytes.set(headerOf(number));
  let at = start;
  for (const { lsn, payload } of records) {
    view.setUint32(at + 4, payload.length, true);
    view.setUint32(at + 8, lsn >>> 0, true);
    view.setUint32(at + 12, Math.floor(lsn / WORD), true);
    bytes.set(payload, at + RECORD_HEADER_BYTES);
    const end = at + RECORD_HEADER_BYTES + payload.length;
    view.setUint32(at, crc32c(bytes.subarray(at + 4, end), 0) >>> 0, true);
    at = end;
  }
  assert(at === bytes.length, 'records of answers fill their bytes');
  return bytes;
}

function headerOf(number: number): Uint8Array {
  const header = new Uint8Array(REPLAY_HEADER_BYTES);
  for (let index = 0; index < MAGIC.length; index++) header[index] = MAGIC.charCodeAt(index);
  const view = new DataView(header.buffer);
  view.setUint32(VERSION_OFFSET, FORMAT_VERSION, true);
  view.setUint32(12, number, true);
  return header;
}

/**
 * Returns the format version in the header of a file, or null if the file is missing or shorter
 * than a header.
 */
export function replayFileVersion(fs: Fs, dir: string, number: number): number | null {
  const path = `${dir}/${replayFileName(number)}`;
  if (!fs.exists(path)) return null;
  const handle = fs.open(path, 'read');
  try {
    const header = new Uint8Array(REPLAY_HEADER_BYTES);
    return readFully(handle, header, 0) < header.length
      ? null
      : new DataView(header.buffer).getUint32(VERSION_OFFSET, true);
  } finally {
    handle.close();
  }
}

/**
 * Yields the records of a file that the manifest lists, in order, with their offsets. Throws
 * `corrupt` with file and offset. The payloads remain valid after the iteration.
 */
export function* readRecords(
  fs: Fs,
  dir: string,
  file: ReplayFile,
  crc32c: Crc32c,
): Generator<ReplayRecord & { offset: number }> {
  for (const found of examineRecords(fs, dir, file, crc32c)) {
    if (found.kind === 'fault') throw corruption(`${dir}/${replayFileName(file.number)}`, found.offset, found.what);
    yield found;
  }
}

/**
 * Yields everything that is readable in a file that the manifest lists, and the faults. Each record
 * has its own checksum, so after a damaged record the next complete one can be found. A missing or
 * truncated file counts as one fault. Invalid content never leads to an error; throws `disk_failed`
 * if the disk cannot read the file.
 */
export function* examineRecords(fs: Fs, dir: string, file: ReplayFile, crc32c: Crc32c): Generator<KeptAnswerFinding> {
  const path = `${dir}/${replayFileName(file.number)}`;
  const fault = (offset: number, what: string): KeptAnswerFinding => ({ kind: 'fault', offset, what });
  if (!fs.exists(path)) return yield fault(0, 'the manifest lists it, but it is missing');
  let found: Uint8Array;
  try {
    found = readWhole(fs, path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EIO') throw error;
    // A later attempt may succeed, so the content is not treated as lost.
    throw new HedgerowError(
      'disk_failed',
      `The disk cannot read ${path}, a file of stored answers (EIO). Check the disk and start again. Without this file the database opens, but for 24 hours it refuses requests with an Idempotency-Key that it does not know.`,
      { fields: { file: path }, cause: error },
    );
  }
  const isCut = found.length < file.bytes;
  if (isCut) yield fault(found.length, `it ends here, the manifest lists ${file.bytes} bytes`);
  const bytes = found.subarray(0, file.bytes);
  const wrong = headerFault(bytes, file.number);
  if (wrong >= 0 && wrong < bytes.length)
    yield fault(wrong, `this is not the header of stored answers number ${file.number}`);
  for (let at = REPLAY_HEADER_BYTES; at < bytes.length; ) {
    const what = recordFault(bytes, at, crc32c);
    if (what !== null) {
      // If the file is truncated, the incomplete record at its end was reported with the
      // truncation.
      const next = nextRecord(bytes, at + 1, crc32c);
      if (!isCut || next < bytes.length) yield fault(at, what);
      at = next;
      continue;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = at + RECORD_HEADER_BYTES + view.getUint32(at + 4, true);
    yield { kind: 'record', lsn: lsnAt(view, at), payload: bytes.subarray(at + RECORD_HEADER_BYTES, end), offset: at };
    at = end;
  }
}

/** Returns the offset of the first wrong byte in the header, or -1 if the header is correct. */
function headerFault(bytes: Uint8Array, number: number): number {
  const header = headerOf(number);
  const isOlder = bytes.length >= REPLAY_HEADER_BYTES && bytes[VERSION_OFFSET] === OLDEST_VERSION;
  if (isOlder) header[VERSION_OFFSET] = OLDEST_VERSION;
  return header.findIndex((byte, index) => bytes[index] !== byte);
}

/** Returns the reason why there is no complete record at `at`, or null if there is one. */
function recordFault(bytes: Uint8Array, at: number, crc32c: Crc32c): string | null {
  const start = at + RECORD_HEADER_BYTES;
  if (start > bytes.length) return 'a record is cut off';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = start + view.getUint32(at + 4, true);
  if (end > bytes.length) return 'a record passes the end';
  if (crc32c(bytes.subarray(at + 4, end), 0) >>> 0 !== view.getUint32(at, true))
    return 'the checksum of a record does not match';
  return null;
}

function lsnAt(view: DataView, at: number): number {
  return view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * WORD;
}

/**
 * Returns the first offset, not before `from`, at which a complete record starts; if there is none,
 * the length of `bytes`. Computes checksums only where length, LSN and first byte are plausible.
 */
function nextRecord(bytes: Uint8Array, from: number, crc32c: Crc32c): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = from; at + RECORD_HEADER_BYTES + LEAST_PAYLOAD_BYTES <= bytes.length; at++) {
    const length = view.getUint32(at + 4, true);
    if (length < LEAST_PAYLOAD_BYTES || at + RECORD_HEADER_BYTES + length > bytes.length) continue;
    if (bytes[at + RECORD_HEADER_BYTES] !== BRACE || !Number.isSafeInteger(lsnAt(view, at))) continue;
    if (recordFault(bytes, at, crc32c) === null) return at;
  }
  return bytes.length;
}
