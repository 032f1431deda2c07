// The reply of a handler: a plain value with status, headers and body (or a source of chunks). Also
// makes the error body, which is the same for the whole service.

import { messageWithSettings } from '../config/setting-names.ts';
import { type FieldError, HedgerowError, refusal } from '../errors.ts';
import type { AuditEvent, QueryFacts } from '../observe/observer.ts';
import { maskPatterns } from '../observe/redact.ts';
import type { EntityTag } from './entity-tag.ts';
import { JSON_TYPE } from './media.ts';

/** The chunks of an answer that is too large to be held at once. */
export interface ChunkSource {
  /** Returns the next bytes, or null at the end. Takes a few ms at most. */
  next(): Uint8Array | null;
  /**
   * Called after an empty chunk. Returns true if `resume` will be called once there are more bytes.
   * If it returns false, or if there is no `wait`, `next` can be called again immediately.
   */
  wait?(resume: () => void): boolean;
  /**
   * Frees the resources of the source. Called once, at the end or when the client has disconnected.
   */
  close(): void;
}

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /**
   * May be in the service's answer space, but only until the end of the handler's turn of the event
   * loop.
   */
  readonly body: string | Uint8Array;
  /** The body as gzip, if it was compressed earlier: sent to clients that accept it. */
  readonly packed?: Uint8Array | undefined;
  /** Log position that the answer reflects; undefined means the newest one, on data routes. */
  readonly lsn: number | undefined;
  /** Further headers, already checked to contain no control characters. */
  readonly headers: readonly (readonly [string, string])[] | undefined;
  /** If set, `body` is ignored and the answer is sent in chunks. */
  readonly source: ChunkSource | undefined;
  /** Tag of the state that the answer shows; undefined sends none. */
  readonly tag: EntityTag | undefined;
  /** What log, metrics and audit log record in addition to the answer. */
  readonly facts: ReplyFacts | undefined;
}

/** Facts about an answer that its body need not contain. */
export interface ReplyFacts {
  /**
   * Set for a read of rows. The getters are read when the answer has ended, even if it is a stream.
   */
  readonly query?: QueryFacts;
  /** Completes the audit line on routes that have one; `none` suppresses it. */
  readonly audit?: AuditDetail | 'none';
  /**
   * False if the answer is not stored under an Idempotency-Key because nothing has been written
   * (yet).
   */
  readonly kept?: boolean;
  /** True if this is the stored answer to an earlier request: nothing was done for this request. */
  readonly replayed?: boolean;
}

/** Content of the audit line. */
export interface AuditDetail {
  /** Replaces the event of the route. */
  readonly event?: AuditEvent;
  readonly table?: string;
  readonly statement?: string;
}

export function jsonReply(status: number, value: unknown, lsn?: number, facts?: ReplyFacts): Reply {
  return jsonTextReply(status, JSON.stringify(value), lsn, facts);
}

/** `body` is already JSON text. */
export function jsonTextReply(status: number, body: string | Uint8Array, lsn?: number, facts?: ReplyFacts): Reply {
  return { status, contentType: JSON_TYPE, body, lsn, headers: undefined, source: undefined, tag: undefined, facts };
}

/** Returns a reply of a type other than JSON: text for a scraper, a page, a file. */
export function contentReply(
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers?: Reply['headers'],
): Reply {
  return { status, contentType, body, lsn: undefined, headers, source: undefined, tag: undefined, facts: undefined };
}

/** Returns the same answer with the tag of the state that it shows. */
export function tagged(reply: Reply, tag: EntityTag | undefined): Reply {
  return { ...reply, tag };
}

/** Returns the reply for a client that already has the answer. */
export function notModified(tag: EntityTag, contentType: string = JSON_TYPE): Reply {
  return { ...contentReply(304, contentType, ''), tag };
}

/**
 * Fields of an error that its body shows; everything else (files, causes, stacks) stays internal.
 */
const PUBLIC_FIELDS = ['line', 'column', 'expected', 'lsn', 'ids', 'ranges_left_off', 'id'] as const;

/** Headers that errors carry, by the field that holds the value. */
const HEADER_FIELDS = [
  ['allow', 'Allow'],
  ['challenge', 'WWW-Authenticate'],
  ['retryAfter', 'Retry-After'],
] as const;

/** The causes of status 503 are temporary, usually short. */
const RETRY_LATER: Reply['headers'] = [['Retry-After', '1']];

/**
 * Returns the reply for an error. A thrown value that is not a HedgerowError is a bug and is
 * answered with 500 without its text. Text that looks like a key is masked: a message may repeat
 * text that the client sent, and answers are written to the logs of clients. With `unprocessable`,
 * invalid input is answered with 422 instead of 400.
 */
export function errorReply(thrown: unknown, requestId: string, unprocessable = false): Reply {
  const error =
    thrown instanceof HedgerowError
      ? thrown
      : refusal('internal', `Something failed inside the server. Report it with request id ${requestId}.`);
  const status = unprocessable && error.status === 400 ? 422 : error.status;
  const body: Record<string, unknown> = {
    detail: detailOf(error),
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

/**
 * Hints at the routes that list the existing items after one was not found, by the field `listed`.
 * They are added here because messages from other folders do not name routes.
 */
const LISTS: Readonly<Record<string, string>> = {
  tables: 'GET /v1/tables lists them.',
  indexes: 'GET /v1/indexes lists them.',
  rules: 'GET /v1/rules lists them.',
};

/**
 * Returns the text about an error for clients: its message, the settings that it concerns and the
 * route that helps. Text that looks like a key is masked.
 */
export function detailOf(error: HedgerowError): string {
  const sentence = messageWithSettings(error);
  const route = LISTS[String(error.fields?.listed)];
  return maskPatterns(route === undefined ? sentence : `${sentence} ${route}`);
}

/**
 * The parts of a request that may contain an invalid value. Other places, named by the engine, are
 * fields of the body.
 */
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
