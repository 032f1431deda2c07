// The reply of a handler: a plain value with status, headers and body (or a source of chunks).

import type { AuditEvent, QueryFacts } from '../observe/observer.ts';
import type { WorkKind } from '../schedule/scheduler.ts';
import type { EntityTag } from './entity-tag.ts';
import { JSON_TYPE } from './media.ts';

/** The chunks of an answer that is too large to be held at once. */
export interface ChunkSource {
  /** The kind of work that `next` does, for the scheduler's figures. */
  readonly work?: WorkKind | undefined;
  /** Returns the next bytes, or null at the end. Takes a few ms at most. */
  next(): Uint8Array | null;
  /**
   * Called after an empty chunk. Returns true if `resume` will be called once there are more bytes.
   * If it returns false, or if there is no `wait`, `next` can be called again immediately.
   */
  wait?(resume: () => void): boolean;
  /**
   * True for an answer that waits for what comes next: it is neither compressed, because each piece
   * is sent at once, nor limited in time.
   */
  readonly follows?: boolean;
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
  /**
   * Further headers. Characters of their values that are not printable ASCII are sent as spaces.
   */
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
