// The bytes of a stream of frames, by which a follower receives its leader's log.
//
// The stream consists of messages. All integers are little-endian.
//
//   0  u32  magic `HGFS` = 0x53464748
//   4  u32  payload length in bytes, at most 2^30
//   8  u32  operations; 0 = a heartbeat
//  12  u32  when the leader appended the frame, in epoch seconds; 0 = unknown, or a heartbeat
//  16  u64  LSN of the first operation; of a heartbeat, the leader's monotonic time in
//           microseconds, or 0 (earlier versions)
//  24  u64  the leader's newest durable LSN; of a heartbeat, the newest LSN that its clients could
//           know at that time
//  32  the payload, as it is in the leader's log (storage/FORMAT.md); of the first heartbeat, the
//           secret with which the leader signs cursors; of the others, nothing
//      u32  CRC32C of everything before it
//
// A leader sends a heartbeat each second while there is nothing else to send, and one after each
// batch of frames, so that a follower knows how old its state is, however long the messages were on
// their way.

import { corruption } from '../errors.ts';
import type { Crc32c, LogFrame } from '../storage/index.ts';

const MAGIC = 0x53464748;
const HEADER_BYTES = 32;
const SUM_BYTES = 4;
const MAX_PAYLOAD_BYTES = 2 ** 30;
const WORD = 2 ** 32;
/** Bytes of a payload that are sent, or whose checksum is computed, at once. */
const SLICE_BYTES = 2 ** 18;

/** Yields the bytes of frames in pieces that take less than a millisecond each. */
export function* encodeFrames(frames: readonly LogFrame[], headLsn: number, crc32c: Crc32c): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  for (const frame of frames) {
    const { payload, operations, seconds, firstLsn } = frame;
    const header = headerOf(payload.length, operations, seconds, firstLsn, headLsn);
    let sum = crc32c(header, 0);
    if (payload.length <= SLICE_BYTES) {
      small.push(header, payload, sumOf(crc32c(payload, sum)));
      continue;
    }
    yield Buffer.concat([...small, header]);
    small = [];
    for (let at = 0; at < payload.length; at += SLICE_BYTES) {
      const slice = payload.slice(at, at + SLICE_BYTES);
      sum = crc32c(slice, sum);
      yield slice;
    }
    small.push(sumOf(sum));
  }
  if (small.length > 0) yield Buffer.concat(small);
}

/**
 * Returns the bytes of a heartbeat: at `timeMs` of the leader's monotonic clock, `headLsn` was the
 * newest LSN that its clients could know.
 */
export function encodeHeartbeat({ timeMs, headLsn, cursorSecret }: Heartbeat, crc32c: Crc32c): Uint8Array {
  const payload = cursorSecret ?? new Uint8Array(0);
  const header = headerOf(payload.length, 0, 0, Math.round(timeMs * 1000), headLsn);
  return Buffer.concat([header, payload, sumOf(crc32c(payload, crc32c(header, 0)))]);
}

function headerOf(
  payloadBytes: number,
  operations: number,
  seconds: number,
  lsnOrTime: number,
  headLsn: number,
): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, payloadBytes, true);
  view.setUint32(8, operations, true);
  view.setUint32(12, seconds, true);
  putInteger(view, 16, lsnOrTime);
  putInteger(view, 24, headLsn);
  return bytes;
}

function putInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, Math.floor(value / WORD), true);
}

function integerAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * WORD;
}

function sumOf(sum: number): Uint8Array {
  const bytes = new Uint8Array(SUM_BYTES);
  new DataView(bytes.buffer).setUint32(0, sum >>> 0, true);
  return bytes;
}

/** The newest LSN that clients could know at a time of the leader's clock, in milliseconds. */
export interface Heartbeat {
  /** 0 if the leader, of an earlier version, does not send it. */
  readonly timeMs: number;
  readonly headLsn: number;
  /** The secret with which the leader signs cursors; only in the first heartbeat. */
  readonly cursorSecret?: Uint8Array | undefined;
}

/** The messages that ended in a part of the stream. */
export interface Received {
  readonly frames: readonly LogFrame[];
  /** The leader's newest durable LSN; undefined if no message has ended. */
  readonly headLsn: number | undefined;
  /** The last heartbeat, with the secret of an earlier one; undefined if there was none. */
  readonly heartbeat: Heartbeat | undefined;
}

/** Decodes a stream that arrives in pieces of any size. */
export class FrameDecoder {
  readonly #crc32c: Crc32c;
  #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  /** The payload and the checksum of the message that is being received. */
  #body: Uint8Array | undefined;
  #bodyBytes = 0;
  #sum = 0;
  #announcedLsn: number | undefined;

  constructor(crc32c: Crc32c) {
    this.#crc32c = crc32c;
  }

  /** Number of bytes that are held of a message that has not ended. */
  get heldBytes(): number {
    return this.#body?.length ?? 0;
  }

  /**
   * The leader's newest durable LSN according to the header that was received last, or undefined.
   * The checksum of its message may not have been seen yet.
   */
  get announcedLsn(): number | undefined {
    return this.#announcedLsn;
  }

  /** Throws `corrupt` if the bytes are not those of a stream of frames. */
  receive(piece: Uint8Array): Received {
    const frames: LogFrame[] = [];
    let headLsn: number | undefined;
    let heartbeat: Heartbeat | undefined;
    for (let at = 0; at < piece.length; ) {
      if (this.#body === undefined) {
        const taken = Math.min(HEADER_BYTES - this.#headerBytes, piece.length - at);
        this.#header.set(piece.subarray(at, at + taken), this.#headerBytes);
        this.#headerBytes += taken;
        at += taken;
        if (this.#headerBytes === HEADER_BYTES) this.#begin();
        continue;
      }
      const taken = Math.min(this.#body.length - this.#bodyBytes, piece.length - at);
      this.#take(this.#body, piece.subarray(at, at + taken));
      at += taken;
      if (this.#bodyBytes < this.#body.length) continue;
      const message = this.#end(this.#body);
      headLsn = message.headLsn;
      if ('timeMs' in message)
        heartbeat = { ...message, cursorSecret: message.cursorSecret ?? heartbeat?.cursorSecret };
      else frames.push(message.frame);
    }
    return { frames, headLsn, heartbeat };
  }

  #begin(): void {
    const view = new DataView(this.#header.buffer);
    const payloadBytes = view.getUint32(4, true);
    if (view.getUint32(0, true) !== MAGIC || payloadBytes > MAX_PAYLOAD_BYTES)
      throw corruption("the stream of the leader's log", 0, 'this is not the beginning of a message');
    this.#announcedLsn = integerAt(view, 24);
    this.#sum = this.#crc32c(this.#header, 0);
    this.#body = new Uint8Array(payloadBytes + SUM_BYTES);
    this.#bodyBytes = 0;
  }

  #take(body: Uint8Array, piece: Uint8Array): void {
    body.set(piece, this.#bodyBytes);
    const payloadBytes = body.length - SUM_BYTES;
    const own = body.subarray(Math.min(this.#bodyBytes, payloadBytes), this.#bodyBytes + piece.length);
    const checked = own.subarray(0, Math.max(0, payloadBytes - this.#bodyBytes));
    this.#sum = this.#crc32c(checked, this.#sum);
    this.#bodyBytes += piece.length;
  }

  #end(body: Uint8Array): Heartbeat | { frame: LogFrame; headLsn: number } {
    const view = new DataView(this.#header.buffer);
    const payload = body.subarray(0, body.length - SUM_BYTES);
    const expected = new DataView(body.buffer, payload.length).getUint32(0, true);
    if (this.#sum >>> 0 !== expected)
      throw corruption("the stream of the leader's log", 0, 'the checksum of a message does not match');
    const operations = view.getUint32(8, true);
    const seconds = view.getUint32(12, true);
    const headLsn = integerAt(view, 24);
    this.#body = undefined;
    this.#headerBytes = 0;
    if (operations === 0) {
      const cursorSecret = payload.length === 0 ? undefined : payload;
      return { timeMs: integerAt(view, 16) / 1000, headLsn, cursorSecret };
    }
    return { frame: { firstLsn: integerAt(view, 16), operations, seconds, payload }, headLsn };
  }
}
