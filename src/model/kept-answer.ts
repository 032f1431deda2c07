// An answer kept under an Idempotency-Key, as the service passes it to the engine and gets it back.

/** A range of consecutive ids of edges that a write inserted into one table. */
export interface IdRange {
  table: string;
  first_id: number;
  last_id: number;
}

/** Ids that a write assigned. They are kept even if the body of the answer is not. */
export interface WrittenIds {
  /** Edge ids: at most MAX_ID_RANGES ranges, in the order of the write. */
  ids?: IdRange[];
  /** Number of further ranges, which are not listed. */
  ranges_left_off?: number;
  /** Id of a stored object, such as a virtual graph or a rule. */
  id?: string;
}

export const MAX_ID_RANGES = 8;

/**
 * The answer to the first request that carried an Idempotency-Key. Later requests with the same key
 * get this answer again and are not executed.
 */
export interface AnswerToKeep {
  /** Scope and key, joined into one text by the service. The engine only compares these texts. */
  id: string;
  /** Hash of the request body. */
  bodyHash: string;
  status: number;
  contentType: string;
  /** Null if the body was too large to be kept or has been dropped. */
  body: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** The ids that the write assigned, if any. The body contains them too. */
  written?: WrittenIds;
}

/** A stored answer as returned by a lookup. */
export interface KeptAnswer extends AnswerToKeep {
  /** LSN of the answer itself; the operations of the write have smaller LSNs. */
  lsn: number;
}

/**
 * Builds the answer to store with a write. The engine calls this function synchronously when the
 * write can no longer be refused, before it is logged, and passes the outcome of the write without
 * its LSN. If space in the log must first be made, the function is called again, and the result of
 * the last call counts. The function must not call the engine. If it throws, nothing is logged or
 * applied.
 */
export type Attach<T> = (outcome: T) => AnswerToKeep;

/**
 * Bodies of at most this many characters are kept as long as their key, because they take only
 * about as much memory as the rest of the entry.
 */
export const SMALL_BODY_LENGTH = 256;
