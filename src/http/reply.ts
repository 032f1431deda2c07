// What a handler answers: a plain value with status, headers and body (or a source of chunks), and the one error body of the service.

import { HedgerowError } from '../errors.ts';
import { JSON_TYPE } from './media.ts';

/** Chunks of an answer too large to be held at once. */
export interface ChunkSource {
  /** The next bytes, null at the end. Synchronous, bounded to a few ms. */
  next(): Uint8Array | null;
  /** Frees what the source holds; called once, at the end or when the client has gone. */
  close(): void;
}

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Memory of the service's answer space at most until the handler's turn of the loop is over. */
  readonly body: string | Uint8Array;
  /** Log position the answer reflects; undefined: the newest one, on data routes. */
  readonly lsn: number | undefined;
  /** Further headers, already checked to hold no control characters. */
  readonly headers: readonly (readonly [string, string])[] | undefined;
  /** When set, `body` is ignored and the answer goes out in chunks. */
  readonly source: ChunkSource | undefined;
}

export function jsonReply(status: number, value: unknown, lsn?: number): Reply {
  return jsonTextReply(status, JSON.stringify(value), lsn);
}

/** `body` is JSON text already. */
export function jsonTextReply(status: number, body: string | Uint8Array, lsn?: number): Reply {
  return { status, contentType: JSON_TYPE, body, lsn, headers: undefined, source: undefined };
}

/** Fields of an error that its body shows; everything else (files, causes, stacks) stays inside. */
const PUBLIC_FIELDS = ['line', 'column', 'expected'] as const;

const RETRY_LATER: readonly (readonly [string, string])[] = [['Retry-After', '1']];

/** The error body of contract section 1. Anything thrown that is no HedgerowError is a bug and answers 500 without its text. */
export function errorReply(thrown: unknown, requestId: string): Reply {
  const error =
    thrown instanceof HedgerowError
      ? thrown
      : new HedgerowError('internal', `Something failed inside the server. Report it with request id ${requestId}.`);
  const body: Record<string, unknown> = {
    detail: error.message,
    code: error.code,
    status: error.status,
    request_id: requestId,
  };
  if (error.errors !== undefined) body.errors = error.errors;
  for (const field of PUBLIC_FIELDS) {
    const value = error.fields?.[field];
    if (value !== undefined) body[field] = value;
  }
  return {
    status: error.status,
    contentType: JSON_TYPE,
    body: JSON.stringify(body),
    lsn: undefined,
    headers: headersOf(error),
    source: undefined,
  };
}

function headersOf(error: HedgerowError): Reply['headers'] {
  if (error.status === 503) return RETRY_LATER;
  const allow = error.fields?.allow;
  return error.code === 'method_not_allowed' && typeof allow === 'string' ? [['Allow', allow]] : undefined;
}
