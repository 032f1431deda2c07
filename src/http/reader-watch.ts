// Ends an answer whose client does not read it: after a time in which it takes nothing, and, where that is set, after a time altogether.

export interface ReaderLimits {
  /** Time in which a client must take something, in milliseconds. */
  readonly stallMs: number;
  /** Time for all of an answer in chunks, in milliseconds; 0: no limit. */
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

  /** `cut` is called once at most, and not after `stop`. `isStream`: the answer goes out in chunks. */
  constructor({ stallMs, streamMs }: ReaderLimits, isStream: boolean, cut: (reason: CutReason) => void) {
    this.#stallMs = stallMs;
    this.#cut = cut;
    if (isStream && streamMs > 0)
      this.#whole = this.#after(streamMs, 'the stream took longer than HEDGEROW_STREAM_MAX_SECONDS');
  }

  /** The client must read before more can be sent. */
  waits(): void {
    clearTimeout(this.#stalled);
    this.#stalled = this.#after(this.#stallMs, 'the client read nothing for too long');
  }

  /** The client has read. */
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
