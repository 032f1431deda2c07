// Encodes and decodes the bytes of log files: the header page and the frames (FORMAT.md).

import { assert } from '../assert.ts';
import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';

/** Version of new files. Files of the previous version can still be read. */
export const LOG_FORMAT_VERSION = 2;
const OLDEST_FORMAT_VERSION = 1;
/** Offset of the first frame. */
export const FILE_HEADER_BYTES = 4096;
export const FRAME_HEADER_BYTES = 40;
export const MAX_PAYLOAD_BYTES = 2 ** 30;

const FILE_MAGIC = 'HGROWLOG';
const FILE_CRC_AT = FILE_HEADER_BYTES - 4;
const FRAME_MAGIC = 0x52464748;
const FRAME_CRC_AT = 4;
/** The checksum covers the bytes of the frame from this offset on. */
export const FRAME_CHECKED_FROM = 8;
const WORD = 2 ** 32;

export interface FileHeader {
  epoch: number;
  sequence: number;
  firstLsn: number;
  /**
   * Size of the file in bytes while it is the newest log file. A file is filled with zeros up to
   * this size, and synced, before it gets its name.
   */
  fileBytes: number;
}

/** A header that was read from a file. */
export interface FoundHeader extends FileHeader {
  version: number;
}

export interface FrameHeader {
  payloadBytes: number;
  epoch: number;
  firstLsn: number;
  durableLsn: number;
  /** Number of operations; 0 for a seal. */
  operations: number;
  /** When the frame was appended, in epoch seconds; 0 if unknown. */
  seconds: number;
}

/** Bytes with a DataView over them. */
export interface Region {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function regionOf(bytes: Uint8Array): Region {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** Returns the number of bytes that a frame takes in the file, including header and padding. */
export function frameBytes(payloadBytes: number): number {
  return FRAME_HEADER_BYTES + Math.ceil(payloadBytes / 8) * 8;
}

export function encodeFileHeader(header: FileHeader, crc32c: Crc32c): Uint8Array {
  const { bytes, view } = regionOf(new Uint8Array(FILE_HEADER_BYTES));
  for (let index = 0; index < FILE_MAGIC.length; index++) bytes[index] = FILE_MAGIC.charCodeAt(index);
  view.setUint32(8, LOG_FORMAT_VERSION, true);
  view.setUint32(12, header.epoch, true);
  putU64(view, 16, header.sequence);
  putU64(view, 24, header.firstLsn);
  putU64(view, 32, header.fileBytes);
  view.setUint32(FILE_CRC_AT, crc32c(bytes.subarray(0, FILE_CRC_AT), 0) >>> 0, true);
  return bytes;
}

/**
 * Decodes the header from the first bytes of a log file; `fileBytes` is 0 in version 1. Throws
 * `corrupt` with `path`.
 */
export function decodeFileHeader(path: string, bytes: Uint8Array, crc32c: Crc32c): FoundHeader {
  if (bytes.length < FILE_HEADER_BYTES) {
    throw corruption(
      path,
      0,
      `a log file starts with a header of ${FILE_HEADER_BYTES} bytes, this file has ${bytes.length}`,
    );
  }
  const { view } = regionOf(bytes);
  for (let index = 0; index < FILE_MAGIC.length; index++) {
    if (bytes[index] !== FILE_MAGIC.charCodeAt(index))
      throw corruption(path, index, 'this is not the magic of a log file');
  }
  const expected = crc32c(bytes.subarray(0, FILE_CRC_AT), 0) >>> 0;
  const found = view.getUint32(FILE_CRC_AT, true);
  if (expected !== found)
    throw corruption(path, 0, `the header's checksum is ${hex(found)}, its bytes give ${hex(expected)}`);
  const version = view.getUint32(8, true);
  if (version < OLDEST_FORMAT_VERSION || version > LOG_FORMAT_VERSION) {
    throw corruption(
      path,
      8,
      `its format version is ${version}, this build reads versions ${OLDEST_FORMAT_VERSION} to ${LOG_FORMAT_VERSION}`,
    );
  }
  const place = { epoch: view.getUint32(12, true), sequence: getU64(view, 16), firstLsn: getU64(view, 24) };
  // Version 1 does not record the size; the field is reserved and zero.
  return { version, ...place, fileBytes: version === OLDEST_FORMAT_VERSION ? 0 : getU64(view, 32) };
}

/**
 * Completes the frame at `offset` in `region`, whose payload and padding are already in place:
 * writes its header with the checksum. Takes separate numbers instead of an object because this
 * runs for every append.
 */
export function encodeFrame(
  region: Region,
  offset: number,
  payloadBytes: number,
  epoch: number,
  firstLsn: number,
  durableLsn: number,
  operations: number,
  crc32c: Crc32c,
  seconds = 0,
): void {
  putFrameHeader(region, offset, payloadBytes, epoch, firstLsn, durableLsn, operations, seconds);
  const checked = region.bytes.subarray(offset + FRAME_CHECKED_FROM, offset + frameBytes(payloadBytes));
  putFrameChecksum(region, offset, crc32c(checked, 0));
}

/** Writes a frame header except for the checksum. */
export function putFrameHeader(
  { view }: Region,
  offset: number,
  payloadBytes: number,
  epoch: number,
  firstLsn: number,
  durableLsn: number,
  operations: number,
  seconds = 0,
): void {
  assert(firstLsn > durableLsn, 'a frame is made before its LSNs are durable');
  view.setUint32(offset, FRAME_MAGIC, true);
  view.setUint32(offset + 8, payloadBytes, true);
  view.setUint32(offset + 12, epoch, true);
  putU64(view, offset + 16, firstLsn);
  putU64(view, offset + 24, durableLsn);
  view.setUint32(offset + 32, operations, true);
  view.setUint32(offset + 36, seconds, true);
}

/**
 * Writes the checksum of a frame; `sum` covers the frame from FRAME_CHECKED_FROM to the end of its
 * padding.
 */
export function putFrameChecksum({ view }: Region, offset: number, sum: number): void {
  view.setUint32(offset + FRAME_CRC_AT, sum >>> 0, true);
}

/**
 * Returns the frame header at `offset` without checking it. Returns null if fewer bytes than a
 * header are left or the magic number is missing.
 */
export function peekFrame(region: Region, offset: number): FrameHeader | null {
  const { bytes, view } = region;
  if (offset + FRAME_HEADER_BYTES > bytes.length || view.getUint32(offset, true) !== FRAME_MAGIC) return null;
  return {
    payloadBytes: view.getUint32(offset + 8, true),
    epoch: view.getUint32(offset + 12, true),
    firstLsn: getU64(view, offset + 16),
    durableLsn: getU64(view, offset + 24),
    operations: view.getUint32(offset + 32, true),
    seconds: view.getUint32(offset + 36, true),
  };
}

/**
 * Returns the header of the frame at `offset` if the frame is complete and its checksum matches,
 * else null. The caller checks epoch and LSN.
 */
export function readFrame(region: Region, offset: number, crc32c: Crc32c): FrameHeader | null {
  const header = peekFrame(region, offset);
  if (header === null || header.payloadBytes > MAX_PAYLOAD_BYTES) return null;
  const end = offset + frameBytes(header.payloadBytes);
  if (end > region.bytes.length) return null;
  const sum = crc32c(region.bytes.subarray(offset + FRAME_CHECKED_FROM, end), 0) >>> 0;
  return sum === region.view.getUint32(offset + FRAME_CRC_AT, true) ? header : null;
}

/**
 * Returns the checksum stored in the frame at `offset`, and the offset within the frame at which
 * the bytes covered by the checksum start. They end with the frame.
 */
export function frameChecksum(region: Region, offset: number): { start: number; expected: number } {
  return { start: FRAME_CHECKED_FROM, expected: region.view.getUint32(offset + FRAME_CRC_AT, true) };
}

/**
 * Returns the header of the frame at `offset` if the frame is complete and has this epoch and this
 * first LSN, else null.
 */
export function readExpectedFrame(
  region: Region,
  offset: number,
  epoch: number,
  lsn: number,
  crc32c: Crc32c,
): FrameHeader | null {
  const header = readFrame(region, offset, crc32c);
  return header !== null && header.epoch === epoch && header.firstLsn === lsn ? header : null;
}

/**
 * Searches for a complete frame of this epoch with a first LSN of at least `lsn`. Returns the
 * smallest offset, at least `from`, at which such a frame starts, or -1. Frames start at multiples
 * of 8.
 */
export function findFrame(region: Region, from: number, epoch: number, lsn: number, crc32c: Crc32c): number {
  const { bytes, view } = region;
  const last = bytes.length - FRAME_HEADER_BYTES;
  for (let offset = Math.ceil(from / 8) * 8; offset <= last; offset += 8) {
    if (view.getUint32(offset, true) !== FRAME_MAGIC || view.getUint32(offset + 12, true) !== epoch) continue;
    if (getU64(view, offset + 16) >= lsn && readFrame(region, offset, crc32c) !== null) return offset;
  }
  return -1;
}

/** Returns whether all bytes at and after the offset `from` are 0. */
export function isZeroFrom(region: Region, from: number): boolean {
  const { bytes, view } = region;
  let offset = from;
  for (; offset + 8 <= bytes.length; offset += 8) {
    if ((view.getUint32(offset, true) | view.getUint32(offset + 4, true)) !== 0) return false;
  }
  for (; offset < bytes.length; offset++) if (bytes[offset] !== 0) return false;
  return true;
}

export function putU64(view: DataView, offset: number, value: number): void {
  assert(value >= 0 && value <= Number.MAX_SAFE_INTEGER, 'a number of 8 bytes is a whole one below 2^53');
  view.setUint32(offset, value >>> 0, true);
  view.setUint32(offset + 4, Math.floor(value / WORD), true);
}

export function getU64(view: DataView, offset: number): number {
  return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * WORD;
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
