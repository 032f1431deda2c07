// Writes and reads held files (FORMAT.md). They contain operations of a corrupt table that were
// copied out of the log, and are kept until the table is repaired. Each file is written once.

import { assert } from '../assert.ts';
import { corruption } from '../errors.ts';
import { directoryOf } from './atomic-file.ts';
import type { Crc32c } from './crc32c.ts';
import type { FileHandle, Fs } from './fs.ts';
import { readFully, writeWhole } from './whole-file.ts';

/**
 * A run of operations of one kind, as stored in a log frame, with the LSN of the first operation.
 */
export interface HeldRecord {
  lsn: number;
  payload: Uint8Array;
}

const FORMAT_VERSION = 1;
const MAGIC = 'HGROWHLD';
const HEADER_BYTES = 16;
const RECORD_HEADER_BYTES = 16;
const WORD = 2 ** 32;

export function heldFileName(number: number): string {
  return `held-${number.toString(16).padStart(8, '0')}.hgo`;
}

/**
 * Writes records, which must be in ascending LSN order, to a new file. Resolves with the size of
 * the file in bytes once it is durable. If this rejects, the file is removed if possible.
 */
export async function writeHeldFile(
  fs: Fs,
  path: string,
  tableId: number,
  records: AsyncIterable<HeldRecord>,
  crc32c: Crc32c,
): Promise<number> {
  // A file that exists here was left by a crash before a manifest listed it.
  if (fs.exists(path)) await fs.remove(path);
  const handle = fs.open(path, 'create');
  let bytes = HEADER_BYTES;
  let isWhole = false;
  try {
    await writeWhole(handle, headerOf(tableId), 0);
    let lastLsn = 0;
    for await (const { lsn, payload } of records) {
      assert(lsn > lastLsn, 'the LSNs of held operations ascend');
      lastLsn = lsn;
      const record = new Uint8Array(RECORD_HEADER_BYTES + payload.length);
      const view = new DataView(record.buffer);
      view.setUint32(4, payload.length, true);
      view.setUint32(8, lsn >>> 0, true);
      view.setUint32(12, Math.floor(lsn / WORD), true);
      record.set(payload, RECORD_HEADER_BYTES);
      view.setUint32(0, crc32c(record.subarray(4), 0) >>> 0, true);
      await writeWhole(handle, record, bytes);
      bytes += record.length;
    }
    await handle.sync();
    isWhole = true;
  } finally {
    handle.close();
    if (!isWhole) await fs.remove(path).catch(() => undefined);
  }
  await fs.syncDir(directoryOf(path));
  return bytes;
}

/**
 * Yields the records in a file, in order. `bytes` is the size of the file according to the
 * manifest. Throws `corrupt` or the system error.
 */
export function* readHeldFile(
  fs: Fs,
  path: string,
  tableId: number,
  bytes: number,
  crc32c: Crc32c,
): Generator<HeldRecord> {
  const handle = fs.open(path, 'read');
  try {
    if (handle.size() !== bytes)
      throw corruption(
        path,
        Math.min(bytes, handle.size()),
        `it has ${handle.size()} bytes, the manifest says ${bytes}`,
      );
    const header = headerOf(tableId);
    const found = read(handle, 0, HEADER_BYTES);
    const bad = header.findIndex((byte, index) => byte !== found[index]);
    if (bad >= 0) throw corruption(path, bad, `it does not begin as the operations of table number ${tableId} do`);
    let lastLsn = 0;
    for (let at = HEADER_BYTES; at < bytes; ) {
      const record = readRecord(handle, path, at, bytes, crc32c);
      if (record.lsn <= lastLsn) throw corruption(path, at + 8, `LSN ${record.lsn} comes after ${lastLsn}`);
      lastLsn = record.lsn;
      at += RECORD_HEADER_BYTES + record.payload.length;
      yield record;
    }
  } finally {
    handle.close();
  }
}

function readRecord(handle: FileHandle, path: string, at: number, bytes: number, crc32c: Crc32c): HeldRecord {
  const head = read(handle, at, Math.min(RECORD_HEADER_BYTES, bytes - at));
  const view = new DataView(head.buffer);
  const length = head.length === RECORD_HEADER_BYTES ? view.getUint32(4, true) : Infinity;
  if (at + RECORD_HEADER_BYTES + length > bytes) throw corruption(path, at, 'a record of operations is cut off');
  const payload = read(handle, at + RECORD_HEADER_BYTES, length);
  const sum = crc32c(payload, crc32c(head.subarray(4), 0)) >>> 0;
  if (payload.length !== length || sum !== view.getUint32(0, true))
    throw corruption(path, at, 'the checksum of a record of operations does not match');
  return { lsn: view.getUint32(12, true) * WORD + view.getUint32(8, true), payload };
}

function headerOf(tableId: number): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  for (let index = 0; index < MAGIC.length; index++) header[index] = MAGIC.charCodeAt(index);
  new DataView(header.buffer).setUint32(8, FORMAT_VERSION, true);
  new DataView(header.buffer).setUint32(12, tableId, true);
  return header;
}

function read(handle: FileHandle, position: number, bytes: number): Uint8Array<ArrayBuffer> {
  const target = new Uint8Array(bytes);
  return target.subarray(0, readFully(handle, target, position));
}
