// An answer that is kept under its Idempotency-Key, and how a write takes it along into its frame.

import { corruption } from '../../errors.ts';

/** Edges with consecutive ids that a write inserted into one table. */
export interface IdRange {
  table: string;
  first_id: number;
  last_id: number;
}

/** What a write gave for ids: kept when its answer is not. */
export interface WrittenIds {
  /** Of edges: at most MAX_ID_RANGES, in the order of the write. */
  ids?: IdRange[];
  /** Further ranges that are not listed. */
  ranges_left_off?: number;
  /** Of what was stored: a virtual graph, a rule. */
  id?: string;
}

export const MAX_ID_RANGES = 8;

/** The first answer to a write that carried an Idempotency-Key (contract section 1). */
export interface AnswerToKeep {
  /** Scope and key as the service joins them; the engine compares it only. */
  id: string;
  /** Of the request's body. */
  bodyHash: string;
  status: number;
  contentType: string;
  /** Null: the answer was too large to be kept, or was let go. */
  body: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** Where the write gave ids that its body repeats. */
  written?: WrittenIds;
}

/** An answer as it is found again. */
export interface KeptAnswer extends AnswerToKeep {
  /** Of the answer itself: the write's operations have smaller ones. */
  lsn: number;
}

/**
 * Makes the answer that is stored with a write. Called synchronously, when the write can no longer be refused and is not yet in the log, with what the
 * write will answer but for its LSN. It must not call the engine. When it throws, nothing is logged or applied.
 */
export type Attach<T> = (outcome: T) => AnswerToKeep;

/**
 * A longer body is not kept at all: not in the log, not in the files, not in memory. UTF-8 bytes.
 */
export const MAX_KEPT_BODY_BYTES = 2 ** 20;
/**
 * A body of at most so many characters is never let go before its key: it takes about as much as
 * the rest of the entry.
 */
export const SMALL_BODY_LENGTH = 256;

/** The body as it is kept: null when it is too large. */
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

/** The entry in bytes whose checksum held. Throws `corrupt`, naming `where` and `offset`. */
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

/** Gathers the ids of inserted edges, one after the other, into ranges. */
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

  /** Undefined when nothing was inserted. */
  written(): WrittenIds | undefined {
    if (this.#ids.length === 0) return undefined;
    return { ids: this.#ids, ...(this.#leftOff > 0 ? { ranges_left_off: this.#leftOff } : {}) };
  }
}
