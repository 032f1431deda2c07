// Sends a source of chunks to a client, at the client's pace and within the time that the service's
// scheduler grants.

import type { Scheduler } from '../../schedule/scheduler.ts';
import { type CutReason, type ReaderLimits, ReaderWatch } from '../reader-watch.ts';
import type { ChunkSource } from '../reply.ts';
import type { TransportResponse } from '../transport.ts';

/**
 * Maximum size of a piece passed to the transport at once. A piece of this size fits with its chunk
 * header into the transport's own buffer. A longer piece would be sent together with that buffer;
 * if the socket then accepts only part of both, the chunk header may be sent twice.
 */
const PIECE_BYTES = 15 * 1024;
const NOTHING = new Uint8Array(0);

export interface ChunkStreamOptions {
  transport: TransportResponse;
  source: ChunkSource;
  scheduler: Scheduler;
  limits: ReaderLimits;
  /** Called once the last byte has been passed to the transport. */
  ended: () => void;
  /** Called if the source threw; the connection is closed right after. */
  failed: (error: unknown) => void;
  /** Called if the client is too slow; the connection must be closed. */
  cut: (reason: CutReason) => void;
}

export class ChunkStream {
  readonly #options: ChunkStreamOptions;
  readonly #watch: ReaderWatch;
  #waiting = false;
  #stopped = false;
  /** The rest of the last chunk, in `#kept`. */
  #rest: Uint8Array | undefined;
  /**
   * Reused, because V8 marks its whole heap whenever 64 MB of buffers were allocated: nine times a
   * second while one client read an export.
   */
  #kept = NOTHING;

  constructor(options: ChunkStreamOptions) {
    this.#options = options;
    this.#watch = new ReaderWatch(options.limits, true, options.cut);
  }

  /** Starts sending. Call this after the headers are written. */
  start(): void {
    const { transport } = this.#options;
    transport.onWritable(() => {
      if (this.#waiting) {
        this.#waiting = false;
        this.#watch.reads();
        this.#schedule();
      }
      return true;
    });
    this.#schedule();
  }

  /** Frees the source; the transport is not used any more. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#watch.stop();
    this.#options.source.close();
  }

  #schedule(): void {
    const { scheduler, source } = this.#options;
    scheduler.add(source.work ?? 'answer', this.#sendChunk);
  }

  readonly #resume = (): void => {
    if (!this.#stopped) this.#schedule();
  };

  /**
   * Returns true while more can be sent at once. If the client does not read, the stream pauses
   * until the connection is writable again.
   */
  readonly #sendChunk = (): boolean => {
    if (this.#stopped) return false;
    const { transport, source, ended, failed } = this.#options;
    const rest = this.#rest;
    let chunk: Uint8Array | null;
    try {
      chunk = rest ?? source.next();
    } catch (error) {
      // The status has already been sent: a truncated chunked body is the only way left to signal
      // that the answer is incomplete.
      failed(error);
      transport.close();
      return false;
    }
    if (chunk?.length === 0 && source.wait?.(this.#resume) === true) return false;
    this.#rest = undefined;
    let isWritable = true;
    if (chunk === null) transport.cork(() => transport.end(''));
    else isWritable = this.#write(chunk, rest !== undefined);
    if (chunk === null) {
      this.stop();
      ended();
      return false;
    }
    this.#waiting = !isWritable;
    if (!isWritable && !this.#stopped) this.#watch.waits();
    return isWritable;
  };

  /**
   * Passes on as much as the client takes. Returns false if the connection is no longer writable.
   * `isOurs` is true if the bytes are already a copy.
   */
  #write(chunk: Uint8Array, isOurs: boolean): boolean {
    const { transport } = this.#options;
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      let isWritable = true;
      transport.cork(() => {
        isWritable = transport.write(piece);
      });
      if (isWritable && !this.#stopped) continue;
      // The rest is copied, since the source may reuse the memory for another answer in the
      // meantime. `slice` of a Buffer would not copy.
      const left = chunk.subarray(at + piece.length);
      if (left.length > 0) this.#rest = isOurs ? left : this.#keep(left);
      return false;
    }
    return true;
  }

  #keep(bytes: Uint8Array): Uint8Array {
    if (this.#kept.length < bytes.length) this.#kept = new Uint8Array(bytes.length);
    this.#kept.set(bytes);
    return this.#kept.subarray(0, bytes.length);
  }
}
