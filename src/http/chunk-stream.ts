// Sends a source of chunks to a client, at the client's pace and within the time that the service's scheduler gives.

import type { Scheduler } from '../schedule/scheduler.ts';
import { type CutReason, type ReaderLimits, ReaderWatch } from './reader-watch.ts';
import type { ChunkSource } from './reply.ts';
import type { TransportResponse } from './transport.ts';

/**
 * Bytes handed to the transport at once: with the head of its chunk it fits into the transport's own buffer. A longer one is sent together with that buffer,
 * and when the socket takes a part of the two, the head may be sent twice.
 */
const PIECE_BYTES = 15 * 1024;

export interface ChunkStreamOptions {
  transport: TransportResponse;
  source: ChunkSource;
  scheduler: Scheduler;
  limits: ReaderLimits;
  /** Called once the last byte is handed over. */
  ended: () => void;
  /** The source threw; the connection has been cut. */
  failed: (error: unknown) => void;
  /** The client is too slow; the connection is to be cut. */
  cut: (reason: CutReason) => void;
}

export class ChunkStream {
  readonly #options: ChunkStreamOptions;
  readonly #watch: ReaderWatch;
  #waiting = false;
  #stopped = false;
  /** What is left of the last chunk. */
  #rest: Uint8Array | undefined;

  constructor(options: ChunkStreamOptions) {
    this.#options = options;
    this.#watch = new ReaderWatch(options.limits, true, options.cut);
  }

  /** Call after the headers are written. */
  start(): void {
    const { transport, scheduler } = this.#options;
    transport.onWritable(() => {
      if (this.#waiting) {
        this.#waiting = false;
        this.#watch.reads();
        scheduler.add(this.#sendChunk);
      }
      return true;
    });
    scheduler.add(this.#sendChunk);
  }

  /** Frees the source; the transport is not touched any more. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#watch.stop();
    this.#options.source.close();
  }

  readonly #resume = (): void => {
    if (!this.#stopped) this.#options.scheduler.add(this.#sendChunk);
  };

  /** True while more can be sent at once; a client that does not read pauses its stream until it is writable again. */
  readonly #sendChunk = (): boolean => {
    if (this.#stopped) return false;
    const { transport, source, ended, failed } = this.#options;
    const rest = this.#rest;
    let chunk: Uint8Array | null;
    try {
      chunk = rest ?? source.next();
    } catch (error) {
      // The status is out already: a cut-off chunked body is the only way left to say that the answer is not whole.
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

  /** Hands over as much as the client takes; false when it is not writable any more. `isOurs`: the bytes are a copy already. */
  #write(chunk: Uint8Array, isOurs: boolean): boolean {
    const { transport } = this.#options;
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      let isWritable = true;
      transport.cork(() => {
        isWritable = transport.write(piece);
      });
      if (isWritable && !this.#stopped) continue;
      // A copy: the source may use its memory for another answer meanwhile.
      const left = chunk.subarray(at + piece.length);
      if (left.length > 0) this.#rest = isOurs ? left : left.slice();
      return false;
    }
    return true;
  }
}
