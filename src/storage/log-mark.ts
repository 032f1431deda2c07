// Encodes and decodes the file `log/mark` (FORMAT.md, "Mark"). The file has a watermark and two
// slots, which record what the log must contain and which process writes the log.

import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import { getU64, putU64, type Region, regionOf } from './frame.ts';
import type { Fs } from './fs.ts';
import { readWhole } from './whole-file.ts';

export const MARK_NAME = 'mark';
export const MARK_PAGE_BYTES = 4096;
export const MARK_BYTES = 3 * MARK_PAGE_BYTES;
export const WATERMARK_AT = 2 * MARK_PAGE_BYTES;
export const WATERMARK_BYTES = 32;

const SLOT_MAGIC = 'HGROWMRK';
const SLOT_VERSION = 1;
const SLOT_BYTES = 64;
const SLOT_CRC_AT = SLOT_BYTES - 4;
const WATERMARK_MAGIC = 'HGROWWTM';
const WATERMARK_CRC_AT = WATERMARK_BYTES - 4;
const SLOTS = 2;

export interface MarkSlot {
  epoch: number;
  /** Starts at 1; of the two slots, the one with the greater counter is current. */
  counter: number;
  /** Random number of the process that wrote the slot. */
  owner: number;
  /** Sequence number of the newest log file; 0 if there is none yet. */
  sequence: number;
  /** First LSN of that file; 0 if there is none yet. */
  firstLsn: number;
  /** Everything up to this LSN is durable in the log. */
  reachedLsn: number;
  /** Whether the log was closed in order. If so, `reachedLsn` is its last LSN. */
  closed: boolean;
}

/** A decoded mark. */
export interface FoundMark {
  slot: MarkSlot;
  /** Everything up to this LSN was durable; 0 if there is no valid watermark. */
  watermarkLsn: number;
}

export function markPath(dir: string): string {
  return `${dir}/${MARK_NAME}`;
}

/** Returns the offset of the slot with this counter. */
export function slotOffset(counter: number): number {
  return (counter % SLOTS) * MARK_PAGE_BYTES;
}

export function encodeSlot(slot: MarkSlot, crc32c: Crc32c): Uint8Array {
  const { bytes, view } = regionOf(new Uint8Array(MARK_PAGE_BYTES));
  putMagic(bytes, SLOT_MAGIC);
  view.setUint32(8, SLOT_VERSION, true);
  view.setUint32(12, slot.epoch, true);
  putU64(view, 16, slot.counter);
  putU64(view, 24, slot.owner);
  putU64(view, 32, slot.sequence);
  putU64(view, 40, slot.firstLsn);
  putU64(view, 48, slot.reachedLsn);
  view.setUint32(56, slot.closed ? 1 : 0, true);
  view.setUint32(SLOT_CRC_AT, crc32c(bytes.subarray(0, SLOT_CRC_AT), 0) >>> 0, true);
  return bytes;
}

/** Returns the bytes of a mark with one slot and no watermark. */
export function encodeMark(slot: MarkSlot, crc32c: Crc32c): Uint8Array {
  const bytes = new Uint8Array(MARK_BYTES);
  bytes.set(encodeSlot(slot, crc32c), slotOffset(slot.counter));
  return bytes;
}

/** Returns a buffer for the watermarks of an epoch; `putWatermark` sets the LSN. */
export function startWatermark(epoch: number): Region {
  const region = regionOf(new Uint8Array(WATERMARK_BYTES));
  putMagic(region.bytes, WATERMARK_MAGIC);
  region.view.setUint32(8, epoch, true);
  return region;
}

/**
 * Sets the LSN of a watermark. The buffer is reused, because this runs for every group of frames.
 */
export function putWatermark({ bytes, view }: Region, lsn: number, crc32c: Crc32c): void {
  putU64(view, 16, lsn);
  view.setUint32(WATERMARK_CRC_AT, crc32c(bytes.subarray(0, WATERMARK_CRC_AT), 0) >>> 0, true);
}

/** Returns the mark in a log directory, or null if there is none. Throws `corrupt`. */
export function readMark(fs: Fs, dir: string, crc32c: Crc32c): FoundMark | null {
  const path = markPath(dir);
  return fs.exists(path) ? decodeMark(path, readWhole(fs, path), crc32c) : null;
}

/** Decodes a mark file. Throws `corrupt` with `path` if the file is invalid. */
export function decodeMark(path: string, bytes: Uint8Array, crc32c: Crc32c): FoundMark {
  if (bytes.length !== MARK_BYTES) {
    throw corruption(
      path,
      Math.min(bytes.length, MARK_BYTES),
      `the mark of a log has ${MARK_BYTES} bytes, this file has ${bytes.length}`,
    );
  }
  let newest: MarkSlot | null = null;
  for (let index = 0; index < SLOTS; index++) {
    const slot = decodeSlot(bytes, index * MARK_PAGE_BYTES, crc32c);
    if (slot !== null && slotOffset(slot.counter) === index * MARK_PAGE_BYTES && slot.counter > (newest?.counter ?? 0))
      newest = slot;
  }
  if (newest === null) throw corruption(path, 0, 'neither of its two slots is valid');
  return { slot: newest, watermarkLsn: decodeWatermark(bytes, crc32c) };
}

/**
 * Returns the offsets of slots that were written but are invalid, because a crash interrupted the
 * write or because they are damaged.
 */
export function badSlots(bytes: Uint8Array, crc32c: Crc32c): number[] {
  const offsets: number[] = [];
  for (let offset = 0; offset < SLOTS * MARK_PAGE_BYTES && offset < bytes.length; offset += MARK_PAGE_BYTES) {
    const isWritten = bytes.subarray(offset, offset + SLOT_BYTES).some((byte) => byte !== 0);
    if (isWritten && decodeSlot(bytes, offset, crc32c) === null) offsets.push(offset);
  }
  return offsets;
}

/**
 * Returns null if the slot is invalid, for example because it was never written, or only partly.
 */
function decodeSlot(file: Uint8Array, offset: number, crc32c: Crc32c): MarkSlot | null {
  const { bytes, view } = regionOf(file.subarray(offset, offset + SLOT_BYTES));
  if (!hasMagic(bytes, SLOT_MAGIC) || view.getUint32(8, true) !== SLOT_VERSION) return null;
  if (crc32c(bytes.subarray(0, SLOT_CRC_AT), 0) >>> 0 !== view.getUint32(SLOT_CRC_AT, true)) return null;
  return {
    epoch: view.getUint32(12, true),
    counter: getU64(view, 16),
    owner: getU64(view, 24),
    sequence: getU64(view, 32),
    firstLsn: getU64(view, 40),
    reachedLsn: getU64(view, 48),
    closed: view.getUint32(56, true) === 1,
  };
}

function decodeWatermark(file: Uint8Array, crc32c: Crc32c): number {
  const { bytes, view } = regionOf(file.subarray(WATERMARK_AT, WATERMARK_AT + WATERMARK_BYTES));
  if (!hasMagic(bytes, WATERMARK_MAGIC)) return 0;
  const sum = crc32c(bytes.subarray(0, WATERMARK_CRC_AT), 0) >>> 0;
  return sum === view.getUint32(WATERMARK_CRC_AT, true) ? getU64(view, 16) : 0;
}

function putMagic(bytes: Uint8Array, magic: string): void {
  for (let index = 0; index < magic.length; index++) bytes[index] = magic.charCodeAt(index);
}

function hasMagic(bytes: Uint8Array, magic: string): boolean {
  for (let index = 0; index < magic.length; index++) if (bytes[index] !== magic.charCodeAt(index)) return false;
  return true;
}
