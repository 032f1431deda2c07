// An answer that is kept under its Idempotency-Key, and how a write takes it along into its frame.

import { corruption } from '../errors.ts';

/** The first answer to a write that carried an Idempotency-Key (contract section 1). */
export interface ReplayEntry {
  /** Scope and key as the service joins them; the engine compares it only. */
  id: string;
  /** Of the request's body. */
  bodyHash: string;
  status: number;
  contentType: string;
  body: string;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * Makes the answer that is stored with a write. Called synchronously, once, when the write can no longer be refused and is not yet in the log, with what the
 * write will answer but for its LSN. It must not call the engine. When it throws, nothing is logged or applied.
 */
export type Attach<T> = (outcome: T) => ReplayEntry;

export function encodeReplay(entry: ReplayEntry): Uint8Array {
  const { id, bodyHash, status, contentType, body, at } = entry;
  return Buffer.from(JSON.stringify({ id, bodyHash, status, contentType, body, at }));
}

/** The entry in bytes whose checksum held. Throws `corrupt`, naming `where` and `offset`. */
export function decodeReplay(bytes: Uint8Array, where: string, offset: number): ReplayEntry {
  let value: Partial<ReplayEntry> | null;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as typeof value;
  } catch (error) {
    throw corruption(where, offset, `a stored answer is not JSON (${(error as Error).message})`);
  }
  const texts = [value?.id, value?.bodyHash, value?.contentType, value?.body];
  if (
    !texts.every((text) => typeof text === 'string') ||
    !Number.isFinite(value?.at) ||
    !Number.isFinite(value?.status)
  )
    throw corruption(where, offset, 'a stored answer lacks a field');
  return value as ReplayEntry;
}
