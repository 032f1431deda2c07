// What a handler answers: a plain value with status, headers and body (or a source of chunks), and the one error body of the service.

import { type FieldError, HedgerowError, refusal } from '../errors.ts';
import type { AuditEvent, QueryFacts } from '../observe/observer.ts';
import { maskPatterns } from '../observe/redact.ts';
import type { EntityTag } from './entity-tag.ts';
import { JSON_TYPE } from './media.ts';

/** Chunks of an answer too large to be held at once. */
export interface ChunkSource {
  /** The next bytes, null at the end. Synchronous, bounded to a few ms. */
  next(): Uint8Array | null;
  /**
   * Asked after an empty chunk, when others make the bytes. True: `resume` is called once there are more; false, or left out: `next` is to be called
   * again at once.
   */
  wait?(resume: () => void): boolean;
  /** Frees what the source holds; called once, at the end or when the client has gone. */
  close(): void;
}

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Memory of the service's answer space at most until the handler's turn of the loop is over. */
  readonly body: string | Uint8Array;
  /** The body as gzip, where it was made before: sent to clients that take it so. */
  readonly packed?: Uint8Array | undefined;
  /** Log position the answer reflects; undefined: the newest one, on data routes. */
  readonly lsn: number | undefined;
  /** Further headers, already checked to hold no control characters. */
  readonly headers: readonly (readonly [string, string])[] | undefined;
  /** When set, `body` is ignored and the answer goes out in chunks. */
  readonly source: ChunkSource | undefined;
  /** State the answer shows; undefined: not told. */
  readonly tag: EntityTag | undefined;
  /** What log, metrics and audit log are told besides the answer. */
  readonly facts: ReplyFacts | undefined;
}

/** Facts about an answer that its body need not show. */
export interface ReplyFacts {
  /** A read of rows; getters are read when the answer has ended, of a stream too. */
  readonly query?: QueryFacts;
  /** Completes the line of the audit log, on routes that have one; `none`: there is nothing to tell. */
  readonly audit?: AuditDetail | 'none';
  /** False: not kept under an Idempotency-Key, since nothing was written, or not yet. */
  readonly kept?: boolean;
  /** The answer to an earlier request: nothing was done for it. */
  readonly replayed?: boolean;
}

/** What the line of the audit log says. */
export interface AuditDetail {
  /** Instead of the route's own. */
  readonly event?: AuditEvent;
  readonly table?: string;
  readonly statement?: string;
}

export function jsonReply(status: number, value: unknown, lsn?: number, facts?: ReplyFacts): Reply {
  return jsonTextReply(status, JSON.stringify(value), lsn, facts);
}

/** `body` is JSON text already. */
export function jsonTextReply(status: number, body: string | Uint8Array, lsn?: number, facts?: ReplyFacts): Reply {
  return { status, contentType: JSON_TYPE, body, lsn, headers: undefined, source: undefined, tag: undefined, facts };
}

/** An answer of another type than JSON: text for a scraper, a page, a file. */
export function contentReply(
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers?: Reply['headers'],
): Reply {
  return { status, contentType, body, lsn: undefined, headers, source: undefined, tag: undefined, facts: undefined };
}

/** The same answer with the tag of the state it shows. */
export function tagged(reply: Reply, tag: EntityTag | undefined): Reply {
  return { ...reply, tag };
}

/** The client holds the answer already. */
export function notModified(tag: EntityTag, contentType: string = JSON_TYPE): Reply {
  return { ...contentReply(304, contentType, ''), tag };
}

/** Fields of an error that its body shows; everything else (files, causes, stacks) stays inside. */
const PUBLIC_FIELDS = ['line', 'column', 'expected', 'lsn', 'ids', 'ranges_left_off', 'id'] as const;

/** Headers that errors bring along, by the field that holds the value. */
const HEADER_FIELDS = [
  ['allow', 'Allow'],
  ['challenge', 'WWW-Authenticate'],
  ['retryAfter', 'Retry-After'],
] as const;

/** Errors of status 503 pass by themselves, as a rule soon. */
const RETRY_LATER: Reply['headers'] = [['Retry-After', '1']];

/**
 * The error body of contract section 1. Anything thrown that is no HedgerowError is a bug and answers 500 without its text. What looks like a key is masked:
 * a sentence may repeat what the client sent, and answers end up in the logs of clients. `unprocessable`: what is invalid answers 422 instead of 400.
 */
export function errorReply(thrown: unknown, requestId: string, unprocessable = false): Reply {
  const error =
    thrown instanceof HedgerowError
      ? thrown
      : refusal('internal', `Something failed inside the server. Report it with request id ${requestId}.`);
  const status = unprocessable && error.status === 400 ? 422 : error.status;
  const body: Record<string, unknown> = {
    detail: maskPatterns(error.message),
    code: error.code,
    status,
    request_id: requestId,
  };
  if (error.errors !== undefined) body.errors = error.errors.map(maskedField);
  for (const field of PUBLIC_FIELDS) {
    const value = error.fields?.[field];
    if (value !== undefined) body[field] = value;
  }
  return {
    status,
    contentType: JSON_TYPE,
    body: JSON.stringify(body),
    lsn: undefined,
    headers: headersOf(error),
    source: undefined,
    tag: undefined,
    facts: undefined,
  };
}

/** Where a wrong value may stand. What the engine names is a field of the body. */
const PLACES: ReadonlySet<unknown> = new Set(['body', 'query', 'path', 'header']);

function maskedField({ loc, msg }: FieldError): FieldError {
  const place = PLACES.has(loc[0]) ? loc : ['body', ...loc];
  return { loc: place.map((part) => (typeof part === 'string' ? maskPatterns(part) : part)), msg: maskPatterns(msg) };
}

function headersOf({ status, fields }: HedgerowError): Reply['headers'] {
  if (fields === undefined) return status === 503 ? RETRY_LATER : undefined;
  const headers: [string, string][] = [];
  for (const [field, name] of HEADER_FIELDS) {
    const value = fields[field];
    if (value !== undefined) headers.push([name, String(value)]);
  }
  if (status === 503 && fields.retryAfter === undefined) headers.push(['Retry-After', '1']);
  return headers;
}
