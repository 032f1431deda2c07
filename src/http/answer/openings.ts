// How much of an answer is read before it begins: all limits of whole answers are here.

export interface Opening {
  /** An answer that ends within this many bytes is sent whole, with a Content-Length. */
  readonly bytes: number;
  /** How many pieces are read before other requests are served. */
  readonly pieces: number;
  /**
   * Whether reading goes on in later turns of the event loop, until there are `bytes` or the
   * deadline has passed. Otherwise the answer begins after `pieces`.
   */
  readonly waits: boolean;
  /**
   * Whether the answer cannot begin before its text has ended, because its headers say how. Above
   * `bytes` what was read is dropped, and read again while being sent.
   */
  readonly toEnd: boolean;
}

export const OPENINGS = {
  /** Stored rows of a range or a node, which are found at once or not far away. */
  rows: { bytes: 64 * 1024, pieces: 8, waits: false, toEnd: false },
  /** Limited rows whose cursor is in a header. */
  counted: { bytes: 2 ** 20, pieces: 8, waits: true, toEnd: true },
  /** Stored rows of a statement: one piece with rows, and one that finds no more. */
  statement: { bytes: 64 * 1024, pieces: 2, waits: true, toEnd: false },
  /**
   * Computed rows of a statement. A later row may still fail: the error is then the answer, rather
   * than cutting off one that has begun.
   */
  computed: { bytes: 8 * 2 ** 20, pieces: 2, waits: true, toEnd: false },
  /** What is complete but for its text: the result of a measure, or a list. */
  complete: { bytes: 64 * 1024, pieces: 8, waits: true, toEnd: false },
  /** Text that others produce while it is sent: a backend, or a long proof. */
  relayed: { bytes: 256 * 1024, pieces: 2, waits: true, toEnd: false },
} as const satisfies Readonly<Record<string, Opening>>;

/** Bytes of text that are read without serving other requests in between. */
export const BYTES_AT_ONCE = 64 * 1024;
