// Ends an answer that its client does not read: after a time in which the client takes nothing, and
// optionally after a total time.

export interface ReaderLimits {
  /** Time within which a client must take something, in milliseconds. */
  readonly stallMs: number;
  /** Total time for a streamed answer, in milliseconds; 0 means no limit. */
  readonly streamMs: number;
}

export type CutReason =
  | 'the client read nothing for too long'
  | 'the stream took longer than HEDGEROW_STREAM_MAX_SECONDS';

export class ReaderWatch {
  readonly #stallMs: number;
  readonly #cut: (reason: CutReason) => void;
  #stalled: NodeJS.Timeout | undefined;
  #whole: NodeJS.Timeout | undefined;

  /**
   * `cut` is called at most once, and not after `stop`. `isStream` is true if the answer is sent in
   * chunks.
   */
  constructor({ stallMs, streamMs }: ReaderLimits, isStream: boolean, cut: (reason: CutReason) => void) {
    this.#stallMs = stallMs;
    this.#cut = cut;
    if (isStream && streamMs > 0)
      this.#whole = this.#after(streamMs, 'the stream took longer than HEDGEROW_STREAM_MAX_SECONDS');
  }

  /** Call this when the client must read before more can be sent. */
  waits(): void {
    clearTimeout(this.#stalled);
    this.#stalled = this.#after(this.#stallMs, 'the client read nothing for too long');
  }

  /** Call this when the client has read. */
  reads(): void {
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
  }

  stop(): void {
    clearTimeout(this.#stalled);
    clearTimeout(this.#whole);
  }

  #after(ms: number, reason: CutReason): NodeJS.Timeout {
    return setTimeout(() => {
      this.stop();
      this.#cut(reason);
    }, ms).unref();
  }
}
