// How much of an answer is read before it begins: all limits of whole answers are here.

export interface Opening {
  /** An answer that ends within this many bytes is sent whole, with a Content-Length. */
  readonly bytes: number;
  /**
   * How many pieces are read before other requests are served. An empty piece, which took its time
   * for other work, is the last of them.
   */
  readonly pieces: number;
  /**
   * If true, reading continues in later turns of the event loop, until `bytes` are read or the
   * deadline has passed. Otherwise the answer begins after `pieces`, or, if the last of them is
   * empty, after the first later piece that is not, at most IDLE_PIECES later.
   */
  readonly waits: boolean;
  /**
   * True if the answer cannot begin before its text has been read to the end, because a header
   * depends on the end. If the text is longer than `bytes`, it is dropped, and read again while it
   * is sent.
   */
  readonly toEnd: boolean;
}

export const OPENINGS = {
  /** Stored rows of a range or a node, which are found quickly. */
  rows: { bytes: 64 * 1024, pieces: 8, waits: false, toEnd: false },
  /** Limited rows whose cursor is in a header. */
  counted: { bytes: 2 ** 20, pieces: 8, waits: true, toEnd: true },
  /** Stored rows of a statement: one piece with rows, and one that finds no more. */
  statement: { bytes: 64 * 1024, pieces: 2, waits: true, toEnd: false },
  /**
   * Computed rows of a statement. Computing a later row may still fail. If it does within these
   * bytes, the answer is the error, instead of an answer that breaks off.
   */
  computed: { bytes: 8 * 2 ** 20, pieces: 2, waits: true, toEnd: false },
  /** Results that are complete and only need to be written as text: a measure, or a list. */
  complete: { bytes: 64 * 1024, pieces: 8, waits: true, toEnd: false },
  /** Text that is still being produced while it is sent: rows from a backend, or a long proof. */
  relayed: { bytes: 256 * 1024, pieces: 2, waits: true, toEnd: false },
} as const satisfies Readonly<Record<string, Opening>>;

/**
 * How many empty pieces an answer that does not wait reads before it begins. An error that comes
 * after the beginning breaks the answer off, and reading a segment from disk takes a few pieces.
 */
export const IDLE_PIECES = 64;

/** Bytes of text that are read without serving other requests in between. */
export const BYTES_AT_ONCE = 64 * 1024;
