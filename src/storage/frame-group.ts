// Frames gathered in memory until one write takes them to the log.

import type { Crc32c } from './crc32c.ts';
import { encodeFrame, FRAME_HEADER_BYTES, frameBytes, peekFrame, type Region, regionOf } from './frame.ts';

const INITIAL_BYTES = 2 ** 18;
/** A group that grew past this gives its memory back when it is emptied. */
const KEPT_BYTES = 2 ** 22;

export class FrameGroup {
  /** Bytes of whole frames in `bytes`. */
  used = 0;
  frames = 0;
  operations = 0;
  /** Newest LSN in the group; meaningless while `frames` is 0. */
  lastLsn = 0;
  #region: Region = regionOf(new Uint8Array(INITIAL_BYTES));

  get bytes(): Uint8Array {
    return this.#region.bytes;
  }

  /** Copies `parts`, `payloadBytes` in all, as one frame behind the others. The hot path of the log: no allocation but the checked view. */
  add(
    parts: readonly Uint8Array[],
    payloadBytes: number,
    epoch: number,
    firstLsn: number,
    durableLsn: number,
    operations: number,
    crc32c: Crc32c,
  ): void {
    const start = this.used;
    const end = start + frameBytes(payloadBytes);
    if (end > this.#region.bytes.length) this.#grow(end);
    const bytes = this.#region.bytes;
    let at = start + FRAME_HEADER_BYTES;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      bytes.set(part, at);
      at += part.length;
    }
    while (at < end) bytes[at++] = 0;
    encodeFrame(this.#region, start, payloadBytes, epoch, firstLsn, durableLsn, operations, crc32c);
    this.used = end;
    this.frames++;
    this.operations += operations;
    this.lastLsn = firstLsn + operations - 1;
  }

  /** Bytes of the frame that starts at `offset`, and its first LSN. */
  frameAt(offset: number): { bytes: number; firstLsn: number } {
    const header = peekFrame(this.#region, offset);
    if (header === null) throw new Error(`no frame starts at ${offset} of the group`);
    return { bytes: frameBytes(header.payloadBytes), firstLsn: header.firstLsn };
  }

  /** The furthest frame boundary at most `room` bytes behind `from`. */
  boundaryWithin(from: number, room: number): number {
    if (this.used - from <= room) return this.used;
    let boundary = from;
    while (boundary < this.used) {
      const next = boundary + this.frameAt(boundary).bytes;
      if (next - from > room) break;
      boundary = next;
    }
    return boundary;
  }

  clear(): void {
    this.used = 0;
    this.frames = 0;
    this.operations = 0;
    if (this.#region.bytes.length > KEPT_BYTES) this.#region = regionOf(new Uint8Array(INITIAL_BYTES));
  }

  #grow(needed: number): void {
    let size = this.#region.bytes.length;
    while (size < needed) size *= 2;
    const grown = new Uint8Array(size);
    grown.set(this.#region.bytes.subarray(0, this.used));
    this.#region = regionOf(grown);
  }
}
