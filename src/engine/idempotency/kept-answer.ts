// An answer kept under its Idempotency-Key, and how a write stores it in its own log frame.

import { corruption } from '../../errors.ts';
import { type AnswerToKeep, type IdRange, MAX_ID_RANGES, type WrittenIds } from '../../model/kept-answer.ts';

/** Longer bodies are not kept at all: not in the log, the files or memory. In bytes of UTF-8. */
export const MAX_KEPT_BODY_BYTES = 2 ** 20;

/** The body to keep; null if it is too large. */
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
 * Decodes an entry from bytes whose checksum was verified. Throws `corrupt`, naming `where` and
 * `offset`.
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

  /** Undefined if nothing was inserted. */
  written(): WrittenIds | undefined {
    if (this.#ids.length === 0) return undefined;
    return { ids: this.#ids, ...(this.#leftOff > 0 ? { ranges_left_off: this.#leftOff } : {}) };
  }
}
