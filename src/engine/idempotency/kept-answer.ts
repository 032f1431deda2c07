// The answer to a write, stored under the request's Idempotency-Key, and its encoding as an
// operation in the log frame of that write.

import { corruption } from '../../errors.ts';

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
  /** Number of further ranges not listed. */
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
 * its LSN. If the log first needs room, the function is called again, and the last call counts. It
 * must not call the engine. If it throws, nothing is logged or applied.
 */
export type Attach<T> = (outcome: T) => AnswerToKeep;

/**
 * Size limit for bodies, in bytes of UTF-8. Larger bodies are not kept in the log, in files or in
 * memory.
 */
export const MAX_KEPT_BODY_BYTES = 2 ** 20;
/**
 * Bodies of at most this many characters are kept as long as their key, because they take only
 * about as much memory as the rest of the entry.
 */
export const SMALL_BODY_LENGTH = 256;

/** Returns the body, or null if it is too large to be kept. */
export function keptBody(body: string | null): string | null {
  if (body === null || body.length > MAX_KEPT_BODY_BYTES) return null;
  return body.length * 3 > MAX_KEPT_BODY_BYTES && Buffer.byteLength(body) > MAX_KEPT_BODY_BYTES ? null : body;
}

export function encodeReplay(entry: AnswerToKeep): Uint8Array {
  const { id, bodyHash, status, contentType, at, written } = entry;
  return Buffer.from(
    JSON.stringify({ id, bodyHash, status, contentType, body: keptBody(entry.body), at, ...(written && { written }) }),
  );
}

/**
 * Decodes an answer from bytes whose checksum was verified. Throws `corrupt`, with `where` and
 * `offset` as the place, if the bytes are not an answer.
 */
export function decodeReplay(bytes: Uint8Array, where: string, offset: number): AnswerToKeep {
  let value: Partial<AnswerToKeep> | null;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as typeof value;
  } catch (error) {
    throw corruption(where, offset, `a stored answer is not JSON (${(error as Error).message})`);
  }
  const texts = [value?.id, value?.bodyHash, value?.contentType];
  if (
    !texts.every((text) => typeof text === 'string') ||
    !(value?.body === null || typeof value?.body === 'string') ||
    !Number.isFinite(value?.at) ||
    !Number.isFinite(value?.status) ||
    !(value?.written === undefined || (typeof value.written === 'object' && value.written !== null))
  )
    throw corruption(where, offset, 'a stored answer lacks a field');
  return value as AnswerToKeep;
}

/** Collects the ids of inserted edges, added one by one, into ranges. */
export class IdRanges {
  readonly #ids: IdRange[] = [];
  #leftOff = 0;
  #newest: IdRange | undefined;

  add(table: string, firstId: number, lastId: number): void {
    const newest = this.#newest;
    if (newest !== undefined && newest.table === table && newest.last_id + 1 === firstId) {
      newest.last_id = lastId;
      return;
    }
    this.#newest = { table, first_id: firstId, last_id: lastId };
    if (this.#ids.length < MAX_ID_RANGES) this.#ids.push(this.#newest);
    else this.#leftOff++;
  }

  /** Returns the ranges; undefined if nothing was inserted. */
  written(): WrittenIds | undefined {
    if (this.#ids.length === 0) return undefined;
    return { ids: this.#ids, ...(this.#leftOff > 0 ? { ranges_left_off: this.#leftOff } : {}) };
  }
}
