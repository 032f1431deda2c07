// Files of stored answers (FORMAT.md, `replays/`): appends records durably, and reads the files
// that a manifest lists.

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
 * Findings from reading a file, in order: records with a valid checksum, and faults where something
 * else is.
 */
export type KeptAnswerFinding =
  | (ReplayRecord & { kind: 'record'; offset: number })
  | { kind: 'fault'; offset: number; what: string };

/**
 * The version that is written. Version 1, in which all records have a body, is read by the same
 * rules.
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
 * The number in a file name; null if the name has another form (as does that of a damaged file that
 * was set aside).
 */
export function replayFileNumber(name: string): number | null {
  const found = NAME.exec(name);
  return found === null ? null : Number.parseInt(found[1]!, 16);
}

/** Bytes that a record takes in the file. */
export function recordBytes({ payload }: ReplayRecord): number {
  return RECORD_HEADER_BYTES + payload.length;
}

/**
 * Writes records after the first `file.bytes` bytes of a file, or creates the file (0 bytes).
 * Resolves to its new size in bytes, all durable. If it rejects, what follows those bytes is
 * unknown: continue in another file.
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

/** Encodes records, preceded by the header of file `number` unless that is null. */
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

/** Format version in the header of a file, null if it has no header. */
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
 * The records of a listed file with their offsets, in order. Throws `corrupt`, naming file and
 * offset. Payloads stay valid.
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
 * Everything readable in a listed file. Each record has its own checksum, so after a damaged record
 * a search finds the next complete one. A missing or truncated file is one fault. Never throws for
 * the contents of the file; throws `disk_failed` if the disk cannot read it.
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
    // A later attempt may succeed, so the contents are not given up.
    throw new HedgerowError(
      'disk_failed',
      `The disk cannot read ${path}, a file of stored answers (EIO). Check the disk and start again. Without the file the database opens, and refuses requests with an Idempotency-Key that it does not know for 24 hours.`,
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
      // What truncation left of the last record was already reported as truncation.
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

/** Offset of the first wrong byte of the header, -1 if it is correct. */
function headerFault(bytes: Uint8Array, number: number): number {
  const header = headerOf(number);
  const isOlder = bytes.length >= REPLAY_HEADER_BYTES && bytes[VERSION_OFFSET] === OLDEST_VERSION;
  if (isOlder) header[VERSION_OFFSET] = OLDEST_VERSION;
  return header.findIndex((byte, index) => bytes[index] !== byte);
}

/** Why there is no complete record at `at`; null if there is one. */
function recordFault(bytes: Uint8Array, at: number, crc32c: Crc32c): string | null {
  const start = at + RECORD_HEADER_BYTES;
  if (start > bytes.length) return 'a record is cut off';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = start + view.getUint32(at + 4, true);
  if (end > bytes.length) return 'a record passes the end';
  if (crc32c(bytes.subarray(at + 4, end), 0) >>> 0 !== view.getUint32(at, true))
    return 'the checksum of a record does not hold';
  return null;
}

function lsnAt(view: DataView, at: number): number {
  return view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * WORD;
}

/**
 * The next offset from `from` on at which a complete record starts, or the end. Computes checksums
 * only where length, LSN and first byte are plausible.
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
