// Writes an answer from the pieces of its text: whole if the text ends soon, otherwise as a stream
// that begins with what was read. Most answers that may be large are written here.
//
// A piece is copied once on its way: into the body of a whole answer, or by the transport. Only the
// beginning of a stream is copied twice, since it was read as if the answer were small.

import type { WorkKind } from '../../schedule/scheduler.ts';
import type { ChunkSource, Reply } from '../reply.ts';
import type { Call } from '../route.ts';
import type { AnswerFormat } from './format.ts';
import { BYTES_AT_ONCE, IDLE_PIECES, type Opening } from './openings.ts';

/** What is written around the pieces of a text. */
export interface AnswerFrame {
  /** Maximum total size of head and tail, in bytes. */
  readonly frameBytes: number;
  /** Writes the head, before the first piece; returns the offset after it. */
  writeHead(into: Uint8Array): number;
  /** Writes the tail, after the last piece, at the offset `from`; returns the offset after it. */
  writeTail(into: Uint8Array, from: number): number;
}

/** The text of an answer. A piece is valid until `next` or any function of the engine is called. */
export interface AnswerText extends ChunkSource {
  /** True once `next` has returned the last piece. If false, `next` may still return null. */
  readonly isEnded: boolean;
  readonly format: AnswerFormat;
  /** Written around the pieces, unless the format consists of rows only (NDJSON). */
  readonly frame: AnswerFrame | undefined;
  /** Called before each piece until the answer begins. Throws if it is too late to begin. */
  look(): void;
  /**
   * Returns the reply with this body or, if the body is undefined, with this source. Called once,
   * before `close`.
   */
  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply;
  /** Starts again from the first piece, for an answer that had to be read to its end first. */
  restart?(): void;
}

/**
 * Answers synchronously if the first pieces are enough. `atOnce` means that the caller passes the
 * reply on in the same turn, without awaiting anything, so that the body may be in the shared
 * space. If the text throws, closes the text, and throws or rejects with that error.
 */
export function writeAnswer(call: Call, text: AnswerText, opening: Opening, atOnce: boolean): Reply | Promise<Reply> {
  try {
    // With an Idempotency-Key the answer is sent later, when the space may contain another one.
    const answer = new OpenAnswer(call, text, opening, atOnce && call.once === undefined);
    return answer.readAtOnce() ? answer.replyLater() : answer.reply();
  } catch (error) {
    text.close();
    throw error;
  }
}

const NOTHING = Buffer.alloc(0);
/** Bytes of the first buffer: few enough to be allocated from Node's pool. */
const FIRST_BYTES = 4000;

// One is created for every answer with rows. It has plain fields only, which are faster than
// `#private` ones.
class OpenAnswer implements ChunkSource {
  private readonly call: Call;
  private readonly text: AnswerText;
  private readonly opening: Opening;
  /** The bytes read so far, in the shared space or in memory of this answer. */
  private bytes: Uint8Array;
  private length: number;
  private isShared: boolean;
  /** True if the last piece was empty. */
  private isIdle: boolean;
  private isEnded: boolean;
  /** True if the text was too long to be kept, so that it must be read again. */
  private isDropped: boolean;

  constructor(call: Call, text: AnswerText, opening: Opening, isShared: boolean) {
    this.call = call;
    this.text = text;
    this.opening = opening;
    this.bytes = isShared ? call.services.space.bytes : NOTHING;
    this.length = 0;
    this.isShared = isShared;
    this.isIdle = false;
    this.isEnded = false;
    this.isDropped = false;
    const frame = frameOf(text);
    if (frame === undefined) return;
    this.reserve(frame.frameBytes);
    this.length = frame.writeHead(this.bytes);
  }

  get work(): WorkKind {
    return this.text.work ?? 'answer';
  }

  /** Reads the first pieces. Returns false if the answer can begin. */
  readAtOnce(): boolean {
    const { pieces, waits } = this.opening;
    for (let count = 0; count < pieces && this.length < BYTES_AT_ONCE; count++) {
      if (!this.read()) return false;
      if (this.isIdle) return true;
    }
    return waits;
  }

  /** Reads a piece. Returns false if the answer can begin, or if its client has disconnected. */
  private read(): boolean {
    if (this.call.client.gone) return false;
    const { text, opening } = this;
    text.look();
    const piece = text.next();
    if (piece === null) this.isEnded = true;
    else {
      this.add(piece);
      this.isIdle = piece.length === 0;
      this.isEnded = text.isEnded;
    }
    if (this.isEnded) return false;
    if (this.length < opening.bytes) return true;
    if (opening.toEnd) this.drop();
    return opening.toEnd;
  }

  private add(piece: Uint8Array): void {
    if (this.isDropped) return;
    this.reserve(piece.length);
    this.bytes.set(piece, this.length);
    this.length += piece.length;
  }

  private drop(): void {
    this.isDropped = true;
    this.isShared = false;
    this.bytes = NOTHING;
    this.length = 0;
  }

  private reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.length, FIRST_BYTES));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
    this.isShared = false;
  }

  /** Moves what was read out of the shared space, which the next answer overwrites. */
  private own(): void {
    if (!this.isShared) return;
    this.isShared = false;
    this.bytes = Buffer.from(this.bytes.subarray(0, this.length));
  }

  async replyLater(): Promise<Reply> {
    try {
      this.own();
      await this.readOn();
      return this.reply();
    } catch (error) {
      this.text.close();
      throw error;
    }
  }

  /** Reads in steps beside other work, until the answer can begin. */
  private readOn(): Promise<void> {
    const { scheduler } = this.call.services;
    const { work } = this;
    return new Promise((resolve, reject) => {
      const resume = () => scheduler.add(work, step);
      let idle = 0;
      const mayBegin = () => !this.opening.waits && (!this.isIdle || ++idle >= IDLE_PIECES);
      const step = () => {
        try {
          if (!this.read() || mayBegin()) resolve();
          else return !this.waits(resume);
        } catch (error) {
          reject(error);
        }
        return false;
      };
      if (!this.waits(resume)) resume();
    });
  }

  /** Returns true if `resume` will be called once there is more to read. */
  private waits(resume: () => void): boolean {
    return this.isIdle && this.wait(resume);
  }

  reply(): Reply {
    const { text } = this;
    if (this.isDropped && this.isEnded) {
      text.restart!();
      this.isEnded = false;
    }
    if (this.isEnded) {
      const reply = text.reply(this.whole(), undefined);
      text.close();
      return reply;
    }
    this.own();
    return text.reply(undefined, this);
  }

  private whole(): Uint8Array {
    const frame = frameOf(this.text);
    if (frame !== undefined) {
      this.reserve(frame.frameBytes);
      this.length = frame.writeTail(this.bytes, this.length);
    }
    return this.isShared ? this.call.services.space.view(this.length) : this.bytes.subarray(0, this.length);
  }

  // The answer as a source: first the bytes read so far, then further pieces, then the tail.

  next(): Uint8Array | null {
    if (this.length > 0) {
      const first = this.bytes.subarray(0, this.length);
      this.bytes = NOTHING;
      this.length = 0;
      return first;
    }
    if (this.isEnded) return null;
    const piece = this.text.next();
    if (piece !== null) return piece;
    this.isEnded = true;
    const frame = frameOf(this.text);
    if (frame === undefined) return null;
    const tail = new Uint8Array(frame.frameBytes);
    return tail.subarray(0, frame.writeTail(tail, 0));
  }

  wait(resume: () => void): boolean {
    return this.text.wait?.(resume) === true;
  }

  close(): void {
    this.text.close();
  }
}

function frameOf({ format, frame }: AnswerText): AnswerFrame | undefined {
  return format.rows === 'json' ? frame : undefined;
}
