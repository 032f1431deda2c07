// The files of stored answers (FORMAT.md, `replays/`): appending records durably, and reading those that a manifest lists.

import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import type { Fs } from './fs.ts';
import { readWhole, writeWhole } from './whole-file.ts';

/** A file as the manifest lists it: its first `bytes` bytes count. */
export interface ReplayFile {
  number: number;
  bytes: number;
}

export interface ReplayRecord {
  lsn: number;
  payload: Uint8Array;
}

const FORMAT_VERSION = 1;
const MAGIC = 'HGROWRPL';
export const REPLAY_HEADER_BYTES = 16;
const RECORD_HEADER_BYTES = 16;
const NAME = /^replays-([0-9a-f]{8})$/;
const WORD = 2 ** 32;

export function replayFileName(number: number): string {
  return `replays-${number.toString(16).padStart(8, '0')}`;
}

/** The number in a file's name, null when it is no such name. */
export function replayFileNumber(name: string): number | null {
  const found = NAME.exec(name);
  return found === null ? null : Number.parseInt(found[1]!, 16);
}

/** Bytes a record takes. */
export function recordBytes({ payload }: ReplayRecord): number {
  return RECORD_HEADER_BYTES + payload.length;
}

/**
 * Writes records behind the first `file.bytes` bytes of a file, or makes it (0 bytes). Returns its bytes then; all durable. When it rejects, what
 * stands behind those bytes is unknown: go on in another file.
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

/** Records in their bytes, behind the header of file `number` unless that is null. */
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
  return bytes;
}

function headerOf(number: number): Uint8Array {
  const header = new Uint8Array(REPLAY_HEADER_BYTES);
  for (let index = 0; index < MAGIC.length; index++) header[index] = MAGIC.charCodeAt(index);
  const view = new DataView(header.buffer);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, number, true);
  return header;
}

/** The records of a listed file, each with its offset, in order. Throws `corrupt`, naming file and offset. Payloads stay valid. */
export function* readRecords(
  fs: Fs,
  dir: string,
  file: ReplayFile,
  crc32c: Crc32c,
): Generator<ReplayRecord & { offset: number }> {
  const path = `${dir}/${replayFileName(file.number)}`;
  if (!fs.exists(path)) throw corruption(path, 0, 'the manifest lists it, but it is missing');
  const found = readWhole(fs, path);
  if (found.length < file.bytes)
    throw corruption(path, found.length, `it ends here, the manifest lists ${file.bytes} bytes`);
  const bytes = found.subarray(0, file.bytes);
  const header = headerOf(file.number);
  const wrong = header.findIndex((byte, index) => bytes[index] !== byte);
  if (wrong >= 0) throw corruption(path, wrong, `this is not the header of stored answers number ${file.number}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = REPLAY_HEADER_BYTES;
  while (at < bytes.length) {
    if (at + RECORD_HEADER_BYTES > bytes.length) throw corruption(path, at, 'a record is cut off');
    const start = at + RECORD_HEADER_BYTES;
    const end = start + view.getUint32(at + 4, true);
    if (end > bytes.length) throw corruption(path, at, 'a record passes the end');
    if (crc32c(bytes.subarray(at + 4, end), 0) >>> 0 !== view.getUint32(at, true))
      throw corruption(path, at, 'the checksum of a record does not hold');
    const lsn = view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * WORD;
    yield { lsn, payload: bytes.subarray(start, end), offset: at };
    at = end;
  }
}
