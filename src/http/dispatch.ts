// Takes one request from its first line to the handler: route, method, state of the service, content type, body.

import { HedgerowError } from '../errors.ts';
import { BodyCollector, bodyTooLarge, EMPTY_BODY } from './body.ts';
import { Exchange } from './exchange.ts';
import { mediaType } from './media.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { Call, Route, Services } from './route.ts';
import { type Match, type Resource, type Router, routeOf } from './router.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** A refused body is read to its end, so that the client gets to read the answer; one many times over the limit is cut off instead. */
const DRAINED_TIMES_LIMIT = 4;

export interface DispatchOptions {
  services: Services;
  router: Router;
  maxBodyBytes: number;
}

export class Dispatcher {
  /** Requests whose answer is not out yet. */
  running = 0;
  readonly #options: DispatchOptions;
  #idle: (() => void) | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Never throws: what goes wrong becomes an answer. */
  handle(response: TransportResponse, request: TransportRequest, method: string): void {
    const { services, router } = this.#options;
    const declared = request.getHeader('content-length');
    if (declared !== '' && hasTwoLengths(request)) {
      // Where the body ends is in doubt, and so is where the next request begins: nothing on this connection can be trusted.
      response.close();
      return;
    }
    const sentId = request.getHeader('x-request-id');
    const exchange = new Exchange(response, services, sentId, method === 'HEAD');
    try {
      const match = router.find(request.getUrl());
      if (method === 'OPTIONS') {
        exchange.answer(optionsReply(match.resource));
        return;
      }
      const route = routeOf(match.resource, method);
      exchange.data = route.data;
      requireService(services, route, exchange);
      if (route.bodyTypes.length > 0) this.#readBody(exchange, response, request, route, match, declared);
      else this.#run(exchange, route, callOf(services, route, match, request, exchange, ''));
    } catch (error) {
      exchange.fail(error);
    }
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      this.#checkIdle();
    });
  }

  #run(exchange: Exchange, route: Route, call: Call): void {
    let outcome: Reply | Promise<Reply>;
    try {
      outcome = route.handler(call);
    } catch (error) {
      exchange.fail(error);
      return;
    }
    if (outcome instanceof Promise) {
      this.#outlive(exchange);
      outcome.then(
        (reply) => exchange.answer(reply),
        (error) => exchange.fail(error),
      );
    } else {
      if (outcome.source !== undefined) this.#outlive(exchange);
      exchange.answer(outcome);
    }
  }

  #readBody(
    exchange: Exchange,
    response: TransportResponse,
    request: TransportRequest,
    route: Route,
    match: Match,
    declared: string,
  ): void {
    const limit = this.#options.maxBodyBytes;
    const bodyType = mediaType(request.getHeader('content-type'));
    if (!route.bodyTypes.includes(bodyType)) throw unsupportedType(bodyType, route);
    const size = Number(declared);
    if (size > limit) {
      exchange.closing = size > limit * DRAINED_TIMES_LIMIT;
      throw bodyTooLarge(limit);
    }
    const call = callOf(this.#options.services, route, match, request, exchange, bodyType);
    const collector = new BodyCollector(limit);
    let open = true;
    this.#outlive(exchange);
    response.onData((chunk, isLast) => {
      if (!open) return;
      if (!collector.add(chunk)) {
        open = false;
        exchange.fail(bodyTooLarge(limit));
      } else if (isLast) {
        open = false;
        call.body = collector.take();
        this.#run(exchange, route, call);
      }
    });
  }

  /** The exchange goes on after the request callback has returned. */
  #outlive(exchange: Exchange): void {
    if (exchange.isPending) return;
    this.running += 1;
    exchange.outlive(this.#finished);
  }

  readonly #finished = (): void => {
    this.running -= 1;
    this.#checkIdle();
  };

  #checkIdle(): void {
    if (this.running > 0 || this.#idle === undefined) return;
    this.#idle();
    this.#idle = undefined;
  }
}

type OpenCall = { -readonly [K in keyof Call]: Call[K] };

function callOf(
  services: Services,
  route: Route,
  match: Match,
  request: TransportRequest,
  exchange: Exchange,
  bodyType: string,
): OpenCall {
  return {
    services,
    database: services.database as Call['database'],
    parameters: match.parameters,
    query: request.getQuery() ?? '',
    accept: route.negotiates ? request.getHeader('accept') : '',
    bodyType,
    body: EMPTY_BODY,
    client: exchange,
  };
}

function requireService(services: Services, route: Route, exchange: Exchange): void {
  if (services.draining) exchange.closing = true;
  if (!route.database) return;
  if (services.draining) throw new HedgerowError('draining', 'The server is shutting down.');
  if (services.database === undefined) {
    throw new HedgerowError('starting', 'The database is still being opened. Try again shortly.');
  }
}

function optionsReply(resource: Resource): Reply {
  const reply = jsonReply(200, { allow: resource.allow.split(', ') });
  return { ...reply, headers: [['Allow', resource.allow]] };
}

function unsupportedType(type: string, route: Route): HedgerowError {
  const allowed = route.bodyTypes.join(' or ');
  return new HedgerowError(
    'unsupported_media_type',
    `This route takes ${allowed}, not ${JSON.stringify(type.slice(0, 100))}.`,
  );
}

/** The transport believes the first Content-Length; a proxy in front may believe the last. */
function hasTwoLengths(request: TransportRequest): boolean {
  let count = 0;
  request.forEach((name) => {
    if (name === 'content-length') count += 1;
  });
  return count > 1;
}
