// One request and its answer on the transport: writes one reply, whole or in chunks, unless the
// client has disconnected.

import { NOBODY, type Principal } from '../access/principal.ts';
import { messageWithSettings } from '../config/setting-names.ts';
import { type ErrorCode, HedgerowError, refusal } from '../errors.ts';
import type { AuditEvent } from '../observe/observer.ts';
import { ChunkStream } from './answer/chunk-stream.ts';
import { acceptsGzip, compress, compressAtOnce, isCompressible, PLAIN_BYTES } from './answer/compression.ts';
import { GzipSource } from './answer/gzip-source.ts';
import { type HeadFacts, writeHead } from './answer-head.ts';
import { bytesOf } from './byte-text.ts';
import { addressText } from './client-address.ts';
import { errorReply } from './error-reply.ts';
import type { UnsureKey } from './guard.ts';
import { atLeader, type Forwardable } from './leader.ts';
import { overloaded } from './load.ts';
import type { Parts } from './parts.ts';
import { type CutReason, ReaderWatch } from './reader-watch.ts';
import type { ChunkSource, Reply } from './reply.ts';
import { isSaneId } from './request-id.ts';
import type { Role, Route } from './route.ts';
import type { TransportResponse } from './transport.ts';

/** Status recorded for requests whose client disconnected before the answer was sent. */
const CLIENT_GONE = 499;

/** Smaller answers are mostly sent without checking whether the client reads. */
const UNTRIED_BYTES = 8 * 1024;
/** How long some answers to HEAD are delayed when there are very many. */
const HEAD_WAIT_MS = 1000;

const CONNECTION_NAME = bytesOf('Connection');
const CLOSE = bytesOf('close');

/** Errors with status 500 or above that report a state, not a fault: they are not logged. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'starting',
  'draining',
  'overloaded',
  'no_keys',
  'leader_unavailable',
  'lsn_timeout',
  'too_far_behind',
  'timeout',
]);

// An exchange is created for every request, so it has plain fields only: `#private` methods and
// closures would be set up for each one.
export class Exchange implements HeadFacts {
  readonly services: Parts;
  /** On the clock of `services.now`. */
  readonly startMs: number;
  /** True if the client has closed its connection: the transport must not be used any more. */
  gone: boolean;
  /** The route, once it is known. */
  route: Route | undefined;
  /** The route's number for the observer. */
  routeNumber: number;
  /** True if the connection is closed after this answer. */
  closing: boolean;
  caller: Principal;
  remaining: number;
  resetSeconds: number;
  /** Accept-Encoding header. */
  acceptEncoding: string;
  cors: Uint8Array | undefined;
  /** While the service follows another one: the path of the request, with the query. */
  target: string;
  /** Set if the request can be passed on to the leader. */
  forwardable: Forwardable | undefined;
  /** In a worker: an LSN of which the client may know, and for which it must wait; else 0. */
  awaitedLsn: number;
  /** Set if the key must be checked again, once `awaitedLsn` is visible. */
  unsure: UnsureKey | undefined;
  /** Called when the client disconnects before its answer. */
  whenGone: (() => void) | undefined;
  readonly sentId: string;
  readonly requestNumber: number;
  private readonly transport: TransportResponse;
  private readonly isHead: boolean;
  private address: ArrayBuffer | undefined;
  /** True if the exchange has outlived its request callback and is not finished. */
  private pending: boolean;
  private stream: ChunkStream | undefined;
  /** Set while the client reads too slowly for the whole answer. */
  private watch: ReaderWatch | undefined;
  /** Bytes held by this exchange; they are released at its end. */
  private heldBytes: number;
  private parsedBytes: number;

  constructor(transport: TransportResponse, services: Parts, startMs: number, sentId: string, isHead: boolean) {
    this.services = services;
    this.startMs = startMs;
    this.gone = false;
    this.route = undefined;
    this.routeNumber = services.unmatchedRoute;
    this.closing = false;
    this.caller = NOBODY;
    this.remaining = -1;
    this.resetSeconds = 0;
    this.acceptEncoding = '';
    this.cors = undefined;
    this.target = '';
    this.forwardable = undefined;
    this.awaitedLsn = 0;
    this.unsure = undefined;
    this.whenGone = undefined;
    this.transport = transport;
    this.sentId = isSaneId(sentId) ? sentId : '';
    this.requestNumber = services.ids.nextNumber();
    this.isHead = isHead;
    this.address = undefined;
    this.pending = false;
    this.stream = undefined;
    this.watch = undefined;
    this.heldBytes = 0;
    this.parsedBytes = 0;
  }

  get requestId(): string {
    return this.sentId === '' ? this.services.ids.textOf(this.requestNumber) : this.sentId;
  }

  /**
   * Client address, 4 or 16 bytes; empty if unknown. The first access must happen before the answer
   * is sent or the client disconnects.
   */
  get remoteAddress(): ArrayBuffer {
    this.address ??= this.transport.getRemoteAddress();
    return this.address;
  }

  /**
   * Keeps the exchange alive after the request callback. Must be called before the callback returns
   * without an answer.
   */
  outlive(): void {
    if (this.pending) return;
    this.pending = true;
    this.services.load.begin();
    if (this.route?.audit !== undefined) this.address ??= this.transport.getRemoteAddress();
    this.transport.onAborted(() => {
      this.gone = true;
      this.whenGone?.();
      this.stream?.stop();
      if (this.pending) this.over(CLIENT_GONE);
    });
  }

  /** Sets the number of bytes held by this exchange. */
  hold(bytes: number): void {
    this.services.load.heldBytes += bytes - this.heldBytes;
    this.heldBytes = bytes;
  }

  /** Reserves memory for the parsed value of a long body; false if there is not enough. */
  takeParsed(bytes: number): boolean {
    if (!this.services.load.takeParsed(bytes)) return false;
    this.parsedBytes = bytes;
    return true;
  }

  fail(thrown: unknown): void {
    if (!(thrown instanceof HedgerowError) || (thrown.status >= 500 && !EXPECTED.has(thrown.code))) this.log(thrown);
    const { leader } = this.services;
    const isLed = leader !== undefined && thrown instanceof HedgerowError && thrown.code === 'not_leader';
    const error = isLed ? atLeader(leader, this.target) : thrown;
    this.answer(errorReply(error, this.requestId, this.route?.unprocessable === true));
  }

  answer(reply: Reply): void {
    if (this.gone) {
      reply.source?.close();
      this.audit(reply);
    } else if (reply.source === undefined) {
      if (this.acceptEncoding === '' || !this.shrinks(reply)) this.finish(reply, reply.body, false);
      else if (reply.packed !== undefined) this.finish(reply, reply.packed, true);
      else this.finishCompressed(reply);
    } else if (this.isHead) {
      reply.source.close();
      // Nothing was read to its end, so there are no facts to report.
      const shrinks = reply.source.follows !== true && this.shrinksStream(reply);
      this.finish({ ...reply, facts: undefined }, '', shrinks);
    } else if (this.isFullFor(reply.source)) {
      reply.source.close();
      this.services.observer.refused('overloaded');
      this.fail(overloaded());
    } else {
      this.startStream(reply, reply.source);
    }
  }

  private isFullFor({ follows }: ChunkSource): boolean {
    const { load } = this.services;
    return follows === true ? load.isFullOfFollowers : load.isFullOfStreams;
  }

  /** Returns true if the body is worth compressing and the client accepts it compressed. */
  private shrinks({ status, body, contentType, headers }: Reply): boolean {
    const size = body.length > PLAIN_BYTES || typeof body !== 'string' ? body.length : Buffer.byteLength(body);
    if (size <= PLAIN_BYTES || status === 304 || !isCompressible(contentType)) return false;
    if (headers?.some(([name]) => name === 'Content-Encoding')) return false;
    return acceptsGzip(this.acceptEncoding);
  }

  /** The same as `shrinks`, for an answer whose size is not known. */
  private shrinksStream({ contentType }: Reply): boolean {
    const { load } = this.services;
    return !load.isFullOfGzip && isCompressible(contentType) && acceptsGzip(this.acceptEncoding);
  }

  private finishCompressed(reply: Reply): void {
    const bytes = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
    const small = compressAtOnce(bytes);
    if (small !== undefined) {
      this.finish(reply, small, true);
      return;
    }
    this.outlive();
    // The answer may be in the shared space, which the next answer overwrites.
    const own = typeof reply.body === 'string' ? bytes : Buffer.from(bytes);
    compress(own).then(
      (compressed) => {
        if (this.gone) this.audit(reply);
        else this.finish(reply, compressed, true);
      },
      (error) => this.fail(error),
    );
  }

  private finish(reply: Reply, body: string | Uint8Array, compressed: boolean): void {
    if (this.isHead && this.isPutOff(reply)) {
      this.outlive();
      setTimeout(() => {
        if (!this.gone) this.finish(reply, body, compressed);
      }, HEAD_WAIT_MS).unref();
      return;
    }
    let isOut = false;
    if (this.pending) {
      this.transport.cork(() => {
        isOut = this.writeWhole(reply, body, compressed);
      });
    } else {
      if (this.route?.audit !== undefined) this.address ??= this.transport.getRemoteAddress();
      isOut = this.writeWhole(reply, body, compressed);
    }
    if (isOut) this.done(reply);
    else this.finishLater(reply, body);
  }

  /**
   * Returns true if an answer to HEAD is to be delayed. It cannot be detected whether a client
   * reads such answers, so if there are very many, some are delayed. A client that sends another
   * request in the meantime loses its connection, as with `tryEnd`.
   */
  private isPutOff({ status, source }: Reply): boolean {
    if (this.pending || status === 304 || source !== undefined) return false;
    return this.services.load.isHeadFlood() && this.services.sample.next();
  }

  /** Sends the answer. Returns false if the client must read before the rest can be sent. */
  private writeWhole(reply: Reply, body: string | Uint8Array, compressed: boolean): boolean {
    const { transport } = this;
    writeHead(transport, this, reply, compressed);
    if (this.isHead || reply.status === 304) {
      this.writeNoBody(reply, body);
      return true;
    }
    // If `end` cannot send everything, the transport buffers the rest, without a limit if a client
    // keeps sending requests and reads nothing. `tryEnd` buffers nothing but costs 0.5 us more, so
    // it is used for large answers and for a sample of the others.
    if (this.closing || (body.length < UNTRIED_BYTES && !this.services.sample.next())) {
      transport.end(body, this.closing);
      return true;
    }
    return transport.tryEnd(body, Buffer.byteLength(body))[1];
  }

  private writeNoBody(reply: Reply, body: string | Uint8Array): void {
    const { transport } = this;
    const isHeadOfBody = reply.status !== 304 && reply.source === undefined;
    // With a body the transport writes this header itself.
    if (this.closing) transport.writeHeader(CONNECTION_NAME, CLOSE);
    if (reply.source !== undefined) transport.writeHeader('Transfer-Encoding', 'chunked');
    // Some transports know that HEAD has no body, and finish here.
    else if (isHeadOfBody && transport.tryEnd('', Buffer.byteLength(body))[1]) return;
    transport.endWithoutBody();
  }

  /** Sends the rest at the client's pace. */
  private finishLater(reply: Reply, body: string | Uint8Array): void {
    const { transport } = this;
    const start = transport.getWriteOffset();
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    // The answer's memory may be shared.
    const rest = Buffer.from(bytes.subarray(start));
    this.outlive();
    this.hold(rest.length);
    const watch = new ReaderWatch(this.services.readerLimits, false, (reason) => this.cut(reason));
    this.watch = watch;
    this.services.load.stalled += 1;
    watch.waits();
    transport.onWritable((offset) => {
      const [, isOut] = transport.tryEnd(rest.subarray(offset - start), bytes.length);
      if (isOut) this.done(reply);
      else watch.waits();
      return isOut;
    });
  }

  private done(reply: Reply): void {
    const { services } = this;
    const durationUs = (services.now() - this.startMs) * 1000;
    const query = reply.facts?.query;
    if (query !== undefined) services.observer.queryDone(query, durationUs, this.requestId);
    this.audit(reply);
    this.over(reply.status, durationUs);
  }

  private startStream(reply: Reply, source: ChunkSource): void {
    this.outlive();
    const { load, now } = this.services;
    const follows = source.follows === true;
    const compressed = !follows && this.shrinksStream(reply);
    const sent = compressed ? new GzipSource(source, now) : source;
    if (follows) load.followers += 1;
    else load.streams += 1;
    if (compressed) load.gzipStreams += 1;
    this.stream = new ChunkStream({
      transport: this.transport,
      source: {
        work: source.work,
        next: () => sent.next(),
        wait: (resume) => sent.wait?.(resume) === true,
        close: () => {
          if (follows) load.followers -= 1;
          else load.streams -= 1;
          if (compressed) load.gzipStreams -= 1;
          sent.close();
        },
      },
      scheduler: this.services.scheduler,
      limits: follows ? { ...this.services.readerLimits, streamMs: 0 } : this.services.readerLimits,
      ended: () => {
        this.done(reply);
      },
      failed: (error) => {
        this.log(error);
        this.over(500);
      },
      cut: (reason) => this.cut(reason),
    });
    this.transport.cork(() => writeHead(this.transport, this, reply, compressed));
    this.stream.start();
  }

  /** Closes the connection; the transport then reports that the client has disconnected. */
  private cut(reason: CutReason): void {
    if (this.gone) return;
    this.services.log.info('answer cut', { request_id: this.requestId, reason });
    this.transport.close();
  }

  /**
   * Records the change in the audit log, even if the client disconnected before the answer. Of an
   * answer that was sent in part, nothing is recorded.
   */
  private audit({ status, facts }: Reply): void {
    const detail = facts?.audit;
    if (status >= 400 || facts?.replayed === true || this.route?.audit === undefined || detail === 'none') return;
    this.tell(detail?.event ?? this.route.audit, status, detail?.table, detail?.statement);
  }

  /** Written as one literal: spreading parts of it would cost 2 us for each insert. */
  private tell(event: AuditEvent, status: number, table: string | undefined, statement: string | undefined): void {
    this.services.observer.audit({
      event,
      keyId: this.caller.keyId,
      remoteIp: this.address === undefined ? 'unknown' : addressText(this.address),
      role: this.caller.role,
      status,
      requestId: this.requestId,
      table,
      statement,
    });
  }

  /** Returns the error for a caller whose role is too low for what the body asks for. */
  deny(needed: Role): HedgerowError {
    const error = refusal('forbidden', `This needs the role ${needed}; the key has the role ${this.caller.role}.`);
    this.services.observer.refused('forbidden');
    this.tell('auth.denied', error.status, undefined, undefined);
    return error;
  }

  /** Called once: when the answer was sent, or when the client has disconnected. */
  private over(status: number, durationUs: number = (this.services.now() - this.startMs) * 1000): void {
    const { observer, load } = this.services;
    observer.requestDone(this.routeNumber, status, durationUs);
    if (!this.pending) return;
    this.pending = false;
    this.hold(0);
    load.parsedBytes -= this.parsedBytes;
    if (this.watch !== undefined) {
      this.watch.stop();
      load.stalled -= 1;
    }
    load.end();
  }

  private log(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.services.log.error('request failed', {
      request_id: this.requestId,
      error: thrown instanceof HedgerowError ? messageWithSettings(thrown) : error.message,
      stack: thrown instanceof HedgerowError ? undefined : error.stack,
    });
  }
}
