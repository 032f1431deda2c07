// Takes one request from its first line to the handler: route, method, guard, content type, body, waits.

import { refusal } from '../errors.ts';
import { BodyCollector, bodyTooLarge } from './body.ts';
import { RequestCall } from './call.ts';
import { preflightHeaders } from './cors.ts';
import { Exchange } from './exchange.ts';
import type { Guard } from './guard.ts';
import {
  ACCEPT_ENCODING,
  CONTENT_LENGTH,
  CONTENT_TYPE,
  ORIGIN,
  PREFLIGHT_METHOD,
  TRANSFER_ENCODING,
  X_MIN_LSN,
  X_REQUEST_ID,
} from './header-names.ts';
import { overloaded } from './load.ts';
import { JSON_TYPE, mediaType } from './media.ts';
import { minLsnOf, untilVisible, waitsForLsn } from './min-lsn.ts';
import { checkIdempotencyKey, type OnceOnly } from './once.ts';
import type { Parts } from './parts.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { Route } from './route.ts';
import { methodNotAllowed, type Resource, type Router, routeNotFound } from './router.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** A refused body is read to its end, so that the client gets to read the answer; one many times over the limit is cut off instead. */
const DRAINED_TIMES_LIMIT = 4;

export interface DispatchOptions {
  parts: Parts;
  router: Router;
  guard: Guard;
  once: OnceOnly;
  maxBodyBytes: number;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  /** Of the request that is being looked at. */
  readonly #headers = new HeaderCounts();

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Never throws: what goes wrong becomes an answer. */
  handle(response: TransportResponse, request: TransportRequest, method: string): void {
    const { parts } = this.#options;
    const startMs = parts.now();
    const declared = request.getHeader(CONTENT_LENGTH);
    if (!this.#isFramed(request, declared)) {
      // Where the body ends is in doubt, and so is where the next request begins: nothing on this connection can be trusted.
      response.close();
      return;
    }
    const exchange = new Exchange(response, parts, startMs, request.getHeader(X_REQUEST_ID), method === 'HEAD');
    try {
      this.#pass(exchange, response, request, method, declared);
    } catch (error) {
      exchange.fail(error);
    }
  }

  /** Whether everybody who reads the request, a proxy too, must see the same end of its body: one length, or plain chunks. */
  #isFramed(request: TransportRequest, declared: string): boolean {
    const coding = request.getHeader(TRANSFER_ENCODING);
    if (declared === '' && coding === '') return true;
    this.#headers.count(request);
    if (this.#headers.lengths > 1 || this.#headers.codings > 1) return false;
    return coding === '' || coding.trim().toLowerCase() === 'chunked';
  }

  /** Takes the request past every check that comes before its body. */
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
      guard.identify(exchange, request);
    }
    if (match === undefined) throw routeNotFound(path);
    if (method === 'OPTIONS') {
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
      guard.admit(exchange, route);
      if (parts.load.isFull) {
        this.#putOff(exchange);
        return;
      }
    }
    const takesBody = route.bodyTypes.length > 0;
    const bodyType = takesBody ? requireType(route, request.getHeader(CONTENT_TYPE)) : JSON_TYPE;
    const call = new RequestCall(exchange, route, match, request, path, bodyType);
    if (route.idempotent) {
      if (declared === '') this.#headers.count(request);
      checkIdempotencyKey(call.idempotencyKey, this.#headers.idempotencyKeys);
    }
    const minLsn = waitsForLsn(route) ? minLsnOf(request.getHeader(X_MIN_LSN)) : 0;
    if (takesBody) this.#readBody(exchange, response, route, call, minLsn, Number(declared));
    else this.#runAt(exchange, route, call, minLsn);
  }

  #readBody(
    exchange: Exchange,
    response: TransportResponse,
    route: Route,
    call: RequestCall,
    minLsn: number,
    size: number,
  ): void {
    const { maxBodyBytes: limit, parts } = this.#options;
    const { load } = parts;
    if (size > limit) {
      exchange.closing = size > limit * DRAINED_TIMES_LIMIT;
      throw bodyTooLarge(limit);
    }
    if (load.isFullFor(size)) throw this.#refuse();
    const collector = new BodyCollector(limit);
    let open = true;
    exchange.outlive();
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
        call.body = collector.take();
        this.#runAt(exchange, route, call, minLsn);
      } else if (load.isFullFor(0)) {
        open = false;
        collector.drop();
        exchange.fail(this.#refuse());
      }
    });
  }

  /**
   * Refuses a request after this turn of the event loop. So a client cannot ask again in the same turn, which would then not end; and of one that has sent
   * many requests at once the transport ends the connection.
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

  #refuse() {
    this.#options.parts.observer.refused('overloaded');
    return overloaded();
  }

  /** Runs the handler when reads see `minLsn`. */
  #runAt(exchange: Exchange, route: Route, call: RequestCall, minLsn: number): void {
    if (minLsn === 0 || minLsn <= call.database.lastLsn) {
      this.#run(exchange, route, call);
      return;
    }
    exchange.outlive();
    untilVisible(call, minLsn).then(
      () => {
        if (!exchange.gone) this.#run(exchange, route, call);
      },
      (error) => exchange.fail(error),
    );
  }

  #run(exchange: Exchange, route: Route, call: RequestCall): void {
    let outcome: Reply | Promise<Reply>;
    try {
      outcome = call.idempotencyKey === '' ? route.handler(call) : this.#options.once.run(route, call);
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

function optionsReply({ allow }: Resource, isPreflight: boolean): Reply {
  const reply = jsonReply(200, { allow: allow.split(', ') });
  const headers: (readonly [string, string])[] = [['Allow', allow]];
  if (isPreflight) headers.push(...preflightHeaders(allow));
  return { ...reply, headers };
}

/** The type of the body. Throws `unsupported_media_type`. */
function requireType(route: Route, header: string): string {
  const type = mediaType(header);
  if (route.bodyTypes.includes(type)) return type;
  const allowed = route.bodyTypes.join(' or ');
  throw refusal(
    'unsupported_media_type',
    `This route takes ${allowed}, not ${JSON.stringify(type.slice(0, 100))}. Set the header Content-Type.`,
  );
}

/** How often a request has the headers that must not stand in it twice: of two the transport shows the first, a proxy may believe the last. */
class HeaderCounts {
  lengths = 0;
  codings = 0;
  /** Empty ones count too. */
  idempotencyKeys = 0;

  count(request: TransportRequest): void {
    this.lengths = 0;
    this.codings = 0;
    this.idempotencyKeys = 0;
    request.forEach(this.#add);
  }

  readonly #add = (name: string): void => {
    if (name === 'content-length') this.lengths += 1;
    else if (name === 'transfer-encoding') this.codings += 1;
    else if (name === 'idempotency-key') this.idempotencyKeys += 1;
  };
}
