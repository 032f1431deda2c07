// An answer kept under an Idempotency-Key, as the service hands it to the engine and gets it back.

/** Edges with consecutive ids that a write inserted into one table. */
export interface IdRange {
  table: string;
  first_id: number;
  last_id: number;
}

/** Ids that a write assigned; kept even when the body of its answer is not. */
export interface WrittenIds {
  /** Edge ids: at most MAX_ID_RANGES ranges, in the order of the write. */
  ids?: IdRange[];
  /** Number of further ranges not listed. */
  ranges_left_off?: number;
  /** Id of a stored object, such as a virtual graph or a rule. */
  id?: string;
}

export const MAX_ID_RANGES = 8;

/** The first answer to a write that carried an Idempotency-Key. */
export interface AnswerToKeep {
  /** Scope and key, joined by the service; the engine only compares it. */
  id: string;
  /** Hash of the request body. */
  bodyHash: string;
  status: number;
  contentType: string;
  /** Null if the answer was too large to be kept or has been dropped. */
  body: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** Present if the write assigned ids, which the body repeats. */
  written?: WrittenIds;
}

/** A stored answer as returned by a lookup. */
export interface KeptAnswer extends AnswerToKeep {
  /** LSN of the answer itself; the write's operations have smaller ones. */
  lsn: number;
}

/**
 * Builds the answer to store with a write. Called synchronously once the write can no longer be
 * refused, before it is logged, with the outcome of the write except its LSN; called again if the
 * log first needs room, and the last call counts. It must not call the engine. If it throws,
 * nothing is logged or applied.
 */
export type Attach<T> = (outcome: T) => AnswerToKeep;

/**
 * Bodies of at most this many characters are never dropped before their key: they take about as
 * much memory as the rest of the entry.
 */
export const SMALL_BODY_LENGTH = 256;
