// The bytes that a worker and its leader exchange over their local socket.
//
//     u32  length of what follows, little endian
//     u8   kind of the frame
//     u32  number of the request, little endian; the worker counts them from 1
//     ...  payload
//
// From the worker:
//
//     REQUEST  u8 flags (OWN, WITH_BODY), u8 length of the client's address, the address, then the
//              head as UTF-8: "POST /v1/query?a=b", and for each header CRLF and "name: value"
//     BODY     a piece of the request's body
//     LAST     its last piece, which may be empty
//     ABORT    the client has disconnected; no payload
//
// From the leader:
//
//     WHOLE    u32 length of the head, the head as UTF-8 ("200 OK", then headers as above), and
//              the body
//     HEAD     a head; pieces follow
//     PIECE    a piece of the answer's body
//     END      the answer is complete; no payload
//     CUT      the answer has no end: it could not be completed; no payload
//
// Both ends are processes of one service and of the same version, so there is no number of a
// version. Frames of different requests may alternate.

import type { Duplex } from 'node:stream';
import { assert } from '../assert.ts';

export const REQUEST = 1;
export const BODY = 2;
export const LAST = 3;
export const ABORT = 4;
export const WHOLE = 5;
export const HEAD = 6;
export const PIECE = 7;
export const END = 8;
export const CUT = 9;

/** Flag of a request that the worker makes for itself, and not for a client. */
export const OWN = 1;
/** Flag of a request whose body follows. */
export const WITH_BODY = 2;

/** Bodies are sent in pieces of at most this size. */
export const PIECE_BYTES = 64 * 1024;
const LENGTH_BYTES = 4;
const HEADER_BYTES = 9;
/** A head has some kilobytes, and an answer without pieces at most `PIECE_BYTES` more. */
const MOST_BYTES = 2 ** 20;
/** While more than this waits to be sent, answers in pieces pause. */
const MOST_WAITING = 2 ** 20;

/** Writes frames to a socket. All frames of a turn of the event loop are written together. */
export class FrameWriter {
  readonly #socket: Duplex;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** True from the first frame of a turn of the event loop to its end. */
  #isGathering = false;
  #isEnded = false;
  readonly #drained: () => void;

  /** `drained` is called when more may be sent, after `isFull` was true. */
  constructor(socket: Duplex, drained: () => void = () => undefined) {
    this.#socket = socket;
    this.#drained = drained;
    socket.on('drain', drained);
  }

  /** True while the other side reads more slowly than this one writes. */
  get isFull(): boolean {
    return this.#waitingBytes + this.#socket.writableLength > MOST_WAITING;
  }

  /** Sends a frame. The parts are copied. Does nothing once the socket is closed. */
  send(kind: number, request: number, ...parts: Uint8Array[]): void {
    if (this.#isEnded) return;
    let bytes = HEADER_BYTES;
    for (const part of parts) bytes += part.length;
    assert(bytes <= MOST_BYTES, 'a frame of the link is short');
    const frame = Buffer.allocUnsafe(bytes);
    frame.writeUInt32LE(bytes - LENGTH_BYTES, 0);
    frame[LENGTH_BYTES] = kind;
    frame.writeUInt32LE(request, LENGTH_BYTES + 1);
    let at = HEADER_BYTES;
    for (const part of parts) {
      frame.set(part, at);
      at += part.length;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += bytes;
    if (this.#isGathering) return;
    // The first frame of a turn is not held back, since long work may come before the next
    // callback. Those that follow in this turn are sent together.
    this.#isGathering = true;
    setImmediate(this.#endTurn);
    this.#flush();
  }

  /** Sends a body in pieces of `kind`, and then a frame of the kind `last`. */
  sendPieces(kind: number, last: number, request: number, body: Uint8Array): void {
    let at = 0;
    for (; body.length - at > PIECE_BYTES; at += PIECE_BYTES)
      this.send(kind, request, body.subarray(at, at + PIECE_BYTES));
    this.send(last, request, body.subarray(at));
  }

  end(): void {
    this.#isEnded = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  readonly #endTurn = (): void => {
    this.#isGathering = false;
    this.#flush();
  };

  #flush(): void {
    const waiting = this.#waiting;
    const wasFull = this.isFull;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (waiting.length === 0) return;
    const isTaken = this.#socket.write(waiting.length === 1 ? waiting[0] : Buffer.concat(waiting));
    // If the socket takes everything at once, no event `drain` follows.
    if (wasFull && isTaken) this.#drained();
  }
}

/** Receives a frame. The payload is valid only during the call. */
export type TakeFrame = (kind: number, request: number, payload: Buffer) => void;

/** Reads frames from the pieces that a socket receives. */
export class FrameReader {
  readonly #take: TakeFrame;
  /** The beginning of a frame whose end has not arrived; empty if there is none. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(take: TakeFrame) {
    this.#take = take;
  }

  receive(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
      assert(end - at <= MOST_BYTES && end - at >= HEADER_BYTES, 'a frame of the link has a possible length');
      if (end > bytes.length) break;
      const kind = bytes[at + LENGTH_BYTES]!;
      this.#take(kind, bytes.readUInt32LE(at + LENGTH_BYTES + 1), bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    // Copied, because the socket's piece is much larger.
    this.#rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
  }
}

const EMPTY = Buffer.alloc(0);
