// Brings one request from its first line to its handler: checks route, method, guard and content
// type, reads the body, and waits where necessary.

import { HedgerowError, refusal } from '../errors.ts';
import { BodyCollector, bodyTooLarge } from './body.ts';
import { RequestCall } from './call.ts';
import { preflightHeaders } from './cors.ts';
import { Exchange } from './exchange.ts';
import type { Guard } from './guard.ts';
import {
  ACCEPT_ENCODING,
  CONTENT_ENCODING,
  CONTENT_LENGTH,
  CONTENT_TYPE,
  ORIGIN,
  PREFLIGHT_METHOD,
  TRANSFER_ENCODING,
  X_MAX_LAG_MS,
  X_MIN_LSN,
  X_REQUEST_ID,
} from './header-names.ts';
import { toLeader } from './held-writes.ts';
import { LONG_JSON_BYTES, parseLongJson } from './json-body.ts';
import { atLeader, checkLag, forward, forwardable, isForLeader, type LeaderPort, mayRedirect } from './leader.ts';
import { overloaded } from './load.ts';
import { JSON_TYPE, mediaType } from './media.ts';
import { minLsnOf, untilVisible, waitsForLsn } from './min-lsn.ts';
import { checkIdempotencyKey, type OnceOnly } from './once.ts';
import type { Parts } from './parts.ts';
import { requireEncoded } from './query-text.ts';
import { RepeatedHeaders } from './repeated-headers.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { Route } from './route.ts';
import { methodNotAllowed, type Resource, type Router, routeNotFound } from './router.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/**
 * A refused body is read to its end, so that the client can read the answer. If the body is more
 * than this many times the limit, the connection is closed instead.
 */
const DRAINED_TIMES_LIMIT = 4;

export interface DispatchOptions {
  parts: Parts;
  router: Router;
  guard: Guard;
  once: OnceOnly;
  maxBodyBytes: number;
  /** True if the transport verifies chunked framing. */
  checksChunks: boolean;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  /** Headers of the request being checked. */
  readonly #repeated = new RepeatedHeaders();

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Handles a request. Never throws: errors become answers. */
  handle(response: TransportResponse, request: TransportRequest, method: string): void {
    const { parts } = this.#options;
    const startMs = parts.now();
    parts.scheduler.requestCame();
    this.#repeated.begin(request);
    const declared = request.getHeader(CONTENT_LENGTH);
    const coding = request.getHeader(TRANSFER_ENCODING);
    const exchange = new Exchange(response, parts, startMs, request.getHeader(X_REQUEST_ID), method === 'HEAD');
    try {
      if (!this.#isFramed(declared, coding)) this.#refuseBody(exchange, framedBadly());
      else if (coding !== '' && !this.#options.checksChunks) this.#refuseBody(exchange, lengthRequired());
      else this.#pass(exchange, response, request, method, declared);
    } catch (error) {
      exchange.fail(error);
    }
  }

  /**
   * Returns true if every reader of the request, including a proxy, must find the same end of the
   * body: there is at most one length, or plain chunked coding without a length.
   */
  #isFramed(declared: string, coding: string): boolean {
    if (declared === '' && coding === '') return true;
    const { contentLengths: lengths, transferEncodings: codings } = this.#repeated;
    if (lengths > 1 || codings > 1 || (lengths === 1 && codings === 1)) return false;
    return codings === 0 || coding.trim().toLowerCase() === 'chunked';
  }

  /** Performs every check that precedes the body. */
  #pass(
    exchange: Exchange,
    response: TransportResponse,
    request: TransportRequest,
    method: string,
    declared: string,
  ): void {
    const { parts, router, guard } = this.#options;
    const path = request.getUrl();
    const match = router.find(path);
    const endpoint = match?.resource.endpoints.get(method);
    const isProbe = endpoint?.route.rateExempt === true;
    exchange.closing = parts.draining;
    exchange.acceptEncoding = request.getHeader(ACCEPT_ENCODING);
    if (parts.cors.isOn) exchange.cors = parts.cors.allow(request.getHeader(ORIGIN));
    if (!isProbe) {
      parts.load.arrive(exchange.startMs);
      if (parts.leader?.own !== undefined) awaitFresh(exchange, parts);
      guard.identify(exchange, request, this.#repeated);
    }
    if (match === undefined) throw routeNotFound(path);
    if (method === 'OPTIONS') {
      guard.refuseForeign(exchange, request, this.#repeated, false);
      exchange.routeNumber = parts.optionsRoute;
      const isPreflight = exchange.cors !== undefined && request.getHeader(PREFLIGHT_METHOD) !== '';
      exchange.answer(optionsReply(match.resource, isPreflight));
      return;
    }
    if (endpoint === undefined) throw methodNotAllowed(match.resource);
    const { route } = endpoint;
    exchange.route = route;
    exchange.routeNumber = endpoint.number;
    if (!isProbe) {
      guard.admit(exchange, request, this.#repeated, route);
      if (parts.load.isFull) {
        this.#putOff(exchange);
        return;
      }
      if (parts.leader !== undefined) this.#checkFollower(exchange, parts.leader, route, request, path);
    }
    const takesBody = route.bodyTypes.length > 0;
    const sentType = takesBody ? request.getHeader(CONTENT_TYPE) : '';
    if (takesBody && sentType === '' && guard.needsBodyType && hasBody(request, declared)) throw noType(route);
    const bodyType = takesBody ? requireType(route, sentType) : JSON_TYPE;
    if (takesBody) requirePlain(request.getHeader(CONTENT_ENCODING));
    const call = new RequestCall(exchange, route, match, request, path, bodyType);
    if (!isProbe) requireEncoded(call.query);
    if (route.idempotent) checkIdempotencyKey(call.idempotencyKey, this.#repeated.idempotencyKeys);
    const minLsn = waitsForLsn(route) ? minLsnOf(request.getHeader(X_MIN_LSN)) : 0;
    if (takesBody) this.#readBody(exchange, response, route, call, minLsn, declared);
    else this.#runAt(exchange, route, call, minLsn);
  }

  /**
   * While the service follows a leader: throws if the client wants a newer state, or if the route
   * is for the leader and requests are not passed on.
   */
  #checkFollower(exchange: Exchange, leader: LeaderPort, route: Route, request: TransportRequest, path: string): void {
    const isOneService = leader.own !== undefined;
    const isPassed = isForLeader(route, isOneService) || isStuck(leader, route);
    if (isPassed || mayRedirect(route)) {
      const query = request.getQuery() ?? '';
      exchange.target = query === '' ? path : `${path}?${query}`;
      if (leader.forwards) exchange.forwardable = forwardable(request, exchange, isOneService);
    }
    if (isPassed && exchange.forwardable === undefined) throw atLeader(leader, exchange.target);
    // Within one service, reads see what the leader has acknowledged.
    if (waitsForLsn(route) && !isOneService) checkLag(request.getHeader(X_MAX_LAG_MS), leader.lagMs);
    if (!isPassed || !isOneService) return;
    // The leader checks the key, and sees all writes.
    exchange.awaitedLsn = 0;
    exchange.unsure = undefined;
  }

  #readBody(
    exchange: Exchange,
    response: TransportResponse,
    route: Route,
    call: RequestCall,
    minLsn: number,
    declared: string,
  ): void {
    const { maxBodyBytes: limit, parts, checksChunks } = this.#options;
    const { load } = parts;
    const size = Number(declared);
    // Without a length there is no body. But a parser that does not check chunks also accepts a
    // header without a name, which hides all headers after it, including a length. So the
    // connection is closed after this answer, and what the parser took for the next request is not
    // run (as with chunks).
    const isUnmeasured = declared === '' && !checksChunks;
    if (size > limit) {
      exchange.closing = size > limit * DRAINED_TIMES_LIMIT;
      throw bodyTooLarge(limit);
    }
    if (load.isFullFor(size)) throw this.#refuse();
    const collector = new BodyCollector(limit, size);
    let open = true;
    exchange.outlive();
    exchange.closing ||= isUnmeasured;
    response.onData((chunk, isLast) => {
      if (!open) return;
      if (!collector.add(chunk)) {
        open = false;
        exchange.fail(bodyTooLarge(limit));
        return;
      }
      exchange.hold(collector.capacity);
      if (isLast) {
        open = false;
        if (collector.isLong) {
          this.#joinAndRun(exchange, route, call, minLsn, collector);
          return;
        }
        call.body = collector.take();
        if (isUnmeasured) setImmediate(() => !exchange.gone && this.#runAt(exchange, route, call, minLsn));
        else this.#runAt(exchange, route, call, minLsn);
      } else if (load.isFullFor(0)) {
        open = false;
        collector.drop();
        exchange.fail(this.#refuse());
      }
    });
  }

  /** Joins a long body in steps, then runs the handler. */
  #joinAndRun(exchange: Exchange, route: Route, call: RequestCall, minLsn: number, collector: BodyCollector): void {
    this.#options.parts.scheduler
      .run('body', () => !exchange.gone && collector.join())
      .then(() => {
        if (exchange.gone) return;
        call.body = collector.take();
        this.#runAt(exchange, route, call, minLsn);
      })
      .catch((error) => exchange.fail(error));
  }

  /**
   * Refuses a request after this turn of the event loop. If it were refused at once, a client could
   * send its next request within the same turn, so that the turn would never end. If a client sends
   * many requests at once, the transport closes its connection.
   */
  #putOff(exchange: Exchange): void {
    const { load } = this.#options.parts;
    exchange.outlive();
    load.refused += 1;
    setImmediate(() => {
      load.refused -= 1;
      exchange.fail(this.#refuse());
    });
  }

  /**
   * Refuses a request whose body has no certain end, so that it is unknown where the next request
   * begins. The answer is sent after this turn of the event loop, and closes the connection. The
   * parser may find "another request" before that, which may be bytes of the body. The transport
   * then closes the connection, because this request is still unanswered.
   */
  #refuseBody(exchange: Exchange, error: HedgerowError): void {
    exchange.closing = true;
    exchange.outlive();
    setImmediate(() => {
      if (!exchange.gone) exchange.fail(error);
    });
  }

  #refuse() {
    this.#options.parts.observer.refused('overloaded');
    return overloaded();
  }

  /** Runs the handler as soon as reads see `minLsn`, and what the client may know of. */
  #runAt(exchange: Exchange, route: Route, call: RequestCall, minLsn: number): void {
    const lsn = Math.max(exchange.awaitedLsn, minLsn);
    if (lsn === 0 || lsn <= call.database.lastLsn) {
      this.#runSure(exchange, route, call);
      return;
    }
    exchange.outlive();
    untilVisible(call, lsn).then(
      () => {
        if (!exchange.gone) this.#runSure(exchange, route, call);
      },
      (error) => exchange.fail(error),
    );
  }

  /** Runs the handler, after the check of a key that could not be made before. */
  #runSure(exchange: Exchange, route: Route, call: RequestCall): void {
    if (exchange.unsure !== undefined) {
      try {
        call.caller = this.#options.guard.confirm(exchange, exchange.unsure, route);
      } catch (error) {
        exchange.fail(error);
        return;
      }
    }
    this.#run(exchange, route, call);
  }

  /**
   * Runs the handler immediately, unless other handlers have used up their time in this turn of the
   * event loop.
   */
  #run(exchange: Exchange, route: Route, call: RequestCall): void {
    const { load, scheduler, now } = this.#options.parts;
    if (route.rateExempt || !load.isLongTurn(now())) {
      this.#parseAndRun(exchange, route, call);
      return;
    }
    exchange.outlive();
    scheduler.add('request', () => {
      try {
        if (!exchange.gone) this.#parseAndRun(exchange, route, call);
      } catch (error) {
        // Nothing else would catch the error, and the process would exit.
        exchange.fail(error);
      }
      return false;
    });
  }

  #parseAndRun(exchange: Exchange, route: Route, call: RequestCall): void {
    const { length } = call.body;
    if (length <= LONG_JSON_BYTES || call.bodyType !== JSON_TYPE) {
      this.#runParsed(exchange, route, call);
      return;
    }
    if (!exchange.takeParsed(length)) {
      exchange.fail(this.#refuse());
      return;
    }
    parseLongJson(call.body, this.#options.parts.scheduler, () => exchange.gone)
      .then((parsed) => {
        call.parsed = parsed;
        if (!exchange.gone) this.#runParsed(exchange, route, call);
      })
      .catch((error) => exchange.fail(error));
  }

  #runParsed(exchange: Exchange, route: Route, call: RequestCall): void {
    const { leader } = this.#options.parts;
    let outcome: Reply | Promise<Reply>;
    try {
      if (leader !== undefined) outcome = runAtFollower(exchange, leader, route, call, this.#options.once);
      else outcome = call.idempotencyKey === '' ? route.handler(call) : this.#options.once.run(route, call);
    } catch (error) {
      exchange.fail(error);
      return;
    }
    if (outcome instanceof Promise) {
      exchange.outlive();
      outcome.then(
        (reply) => exchange.answer(reply),
        (error) => exchange.fail(error),
      );
    } else {
      exchange.answer(outcome);
    }
  }
}

/**
 * Runs the handler, or passes the request on to the leader if only the leader can answer it. Some
 * handlers find that out when they run, such as that of a statement that writes. An answer that the
 * handler has at once is returned at once, because it may be in the shared answer space.
 */
function runAtFollower(
  { target, forwardable }: Exchange,
  leader: LeaderPort,
  route: Route,
  call: RequestCall,
  once: OnceOnly,
): Reply | Promise<Reply> {
  const run = () => (call.idempotencyKey === '' ? route.handler(call) : once.run(route, call));
  const { election } = leader;
  const pass = () =>
    election === undefined
      ? forward({ url: leader.url!, ending: leader.ending, own: leader.own }, target, forwardable!, route.method, call)
      : toLeader(leader, election, { target, forwardable: forwardable!, method: route.method, call, here: run });
  if (forwardable !== undefined && (isForLeader(route, leader.own !== undefined) || isStuck(leader, route)))
    return pass();
  const failed = (error: unknown): Promise<Reply> => {
    if (forwardable !== undefined && error instanceof HedgerowError && error.code === 'not_leader') return pass();
    throw error;
  };
  // A follower cannot keep answers; the leader's are known to it.
  const keeps = call.idempotencyKey !== '' && route.isLocal !== true;
  try {
    const outcome = keeps ? once.run(route, call) : route.handler(call);
    return outcome instanceof Promise ? outcome.catch(failed) : outcome;
  } catch (error) {
    return failed(error);
  }
}

/** In a worker that cannot follow: returns true for routes that the leader answers meanwhile. */
function isStuck({ own }: LeaderPort, route: Route): boolean {
  return own !== undefined && route.database && route.events !== true && own.isStuck();
}

/** In a worker: notes what the client may know of, if it is not visible here yet. */
function awaitFresh(exchange: Exchange, { leader, database }: Parts): void {
  if (database === undefined) return;
  const lsn = leader!.own!.freshLsn();
  if (lsn > database.lastLsn) exchange.awaitedLsn = lsn;
}

function optionsReply({ allow }: Resource, isPreflight: boolean): Reply {
  const reply = jsonReply(200, { allow: allow.split(', ') });
  const headers: (readonly [string, string])[] = [['Allow', allow]];
  if (isPreflight) headers.push(...preflightHeaders(allow));
  return { ...reply, headers };
}

function hasBody(request: TransportRequest, declared: string): boolean {
  return Number(declared) > 0 || request.getHeader(TRANSFER_ENCODING) !== '';
}

function noType(route: Route): HedgerowError {
  return refusal(
    'unsupported_media_type',
    `Where no key is needed, a body must name its type. Set the header Content-Type to ${route.bodyTypes.join(' or ')}.`,
  );
}

function framedBadly(): HedgerowError {
  return refusal(
    'invalid_framing',
    'It is not clear where the body ends. Send one Content-Length, or one Transfer-Encoding, which must be chunked, and not both.',
  );
}

function lengthRequired(): HedgerowError {
  return refusal(
    'length_required',
    'Bodies with Transfer-Encoding: chunked are not taken here. Send the body whole, with Content-Length, or serve with HEDGEROW_TRANSPORT=node.',
  );
}

/** Returns the content type of the body. Throws `unsupported_media_type`. */
function requireType(route: Route, header: string): string {
  const type = mediaType(header);
  if (route.bodyTypes.includes(type)) return type;
  const allowed = route.bodyTypes.join(' or ');
  throw refusal(
    'unsupported_media_type',
    `This route takes ${allowed}, not ${JSON.stringify(type.slice(0, 100))}. Set the header Content-Type.`,
  );
}

/**
 * Bodies are not decompressed (RFC 9110, 8.4): a Content-Encoding other than identity is refused.
 * Throws `unsupported_media_type`.
 */
function requirePlain(coding: string): void {
  if (coding === '' || coding.toLowerCase() === 'identity') return;
  throw refusal(
    'unsupported_media_type',
    `Bodies are taken as they are, not in the coding ${JSON.stringify(coding.slice(0, 100))}. Send the body plain, without the header Content-Encoding.`,
  );
}
