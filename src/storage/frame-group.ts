// Collects frames in memory, which are then appended to the log with one write.

import { assert } from '../assert.ts';
import type { Crc32c } from './crc32c.ts';
import {
  encodeFrame,
  FRAME_CHECKED_FROM,
  FRAME_HEADER_BYTES,
  frameBytes,
  peekFrame,
  putFrameChecksum,
  putFrameHeader,
  type Region,
  regionOf,
} from './frame.ts';

const INITIAL_BYTES = 2 ** 18;
/** If a group has grown beyond this size, it releases its memory when it is cleared. */
const KEPT_BYTES = 2 ** 22;
/**
 * Number of bytes in a slice of a frame that is built in slices. Copying a slice, or computing its
 * checksum, takes at most a millisecond.
 */
const SLICE_BYTES = 2 ** 20;
const FEW_FRAMES = 12;

export class FrameGroup {
  /** Number of bytes at the start of `bytes` that complete frames occupy. */
  used = 0;
  frames = 0;
  operations = 0;
  /** Newest LSN in the group; has no meaning while `frames` is 0. */
  lastLsn = 0;
  #region: Region;

  constructor(bytes: number = INITIAL_BYTES) {
    this.#region = regionOf(new Uint8Array(bytes));
  }

  /**
   * Whether the group is best written and synced by one call. That takes the least time; but with
   * many writers, the time between two calls lets more frames share the next sync.
   */
  get isSmall(): boolean {
    return this.frames <= FEW_FRAMES;
  }

  get bytes(): Uint8Array {
    return this.#region.bytes;
  }

  /**
   * Appends `parts`, which have `payloadBytes` bytes in total, as one frame. This is the hot path
   * of the log, so it allocates nothing but the view for the checksum.
   */
  add(
    parts: readonly Uint8Array[],
    payloadBytes: number,
    epoch: number,
    firstLsn: number,
    durableLsn: number,
    operations: number,
    crc32c: Crc32c,
    seconds = 0,
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
    assert(at === start + FRAME_HEADER_BYTES + payloadBytes, 'the parts of a frame are its payload');
    while (at < end) bytes[at++] = 0;
    encodeFrame(this.#region, start, payloadBytes, epoch, firstLsn, durableLsn, operations, crc32c, seconds);
    this.#added(end, firstLsn, operations);
  }

  /**
   * Like `add`, but for a large frame: awaits `pause` between slices. The group must not be used
   * until this resolves.
   */
  async addInSlices(
    parts: readonly Uint8Array[],
    payloadBytes: number,
    epoch: number,
    firstLsn: number,
    durableLsn: number,
    operations: number,
    crc32c: Crc32c,
    pause: () => Promise<void>,
    seconds = 0,
  ): Promise<void> {
    const start = this.used;
    const end = start + frameBytes(payloadBytes);
    if (end > this.#region.bytes.length) this.#grow(end);
    const { bytes } = this.#region;
    let at = start + FRAME_HEADER_BYTES;
    let paused = at;
    for (const part of parts) {
      for (let from = 0; from < part.length; from += SLICE_BYTES) {
        const piece = part.subarray(from, from + SLICE_BYTES);
        bytes.set(piece, at);
        at += piece.length;
        if (at - paused < SLICE_BYTES) continue;
        paused = at;
        await pause();
      }
    }
    assert(at === start + FRAME_HEADER_BYTES + payloadBytes, 'the parts of a sliced frame are its payload');
    bytes.fill(0, at, end);
    putFrameHeader(this.#region, start, payloadBytes, epoch, firstLsn, durableLsn, operations, seconds);
    let sum = 0;
    for (let from = start + FRAME_CHECKED_FROM; from < end; from += SLICE_BYTES) {
      sum = crc32c(bytes.subarray(from, Math.min(end, from + SLICE_BYTES)), sum);
      await pause();
    }
    putFrameChecksum(this.#region, start, sum);
    this.#added(end, firstLsn, operations);
  }

  #added(end: number, firstLsn: number, operations: number): void {
    assert(this.frames === 0 || firstLsn === this.lastLsn + 1, 'the frames of a group follow one another');
    this.used = end;
    this.frames++;
    this.operations += operations;
    this.lastLsn = firstLsn + operations - 1;
  }

  /** Returns the size in bytes and the first LSN of the frame that starts at `offset`. */
  frameAt(offset: number): { bytes: number; firstLsn: number } {
    const header = peekFrame(this.#region, offset);
    assert(header !== null && offset < this.used, 'a group is walked from frame to frame');
    return { bytes: frameBytes(header.payloadBytes), firstLsn: header.firstLsn };
  }

  /** Returns the last frame boundary that is at most `room` bytes after `from`. */
  boundaryWithin(from: number, room: number): number {
    if (this.used - from <= room) return this.used;
    let boundary = from;
    while (boundary < this.used) {
      const next = boundary + this.frameAt(boundary).bytes;
      if (next - from > room) break;
      boundary = next;
    }
    assert(boundary <= this.used, 'the frames of a group end where its bytes do');
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
