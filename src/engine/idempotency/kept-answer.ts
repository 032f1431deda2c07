// The answer to a write, stored under the request's Idempotency-Key, and its encoding as an
// operation in the log frame of that write.

import { corruption } from '../../errors.ts';
import { type AnswerToKeep, type IdRange, MAX_ID_RANGES, type WrittenIds } from '../../model/kept-answer.ts';

/**
 * Size limit for bodies, in bytes of UTF-8. Larger bodies are not kept in the log, in files or in
 * memory.
 */
export const MAX_KEPT_BODY_BYTES = 2 ** 20;

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

/** Collects the ids of inserted edges. Joins a range with the one added before if they adjoin. */
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
