// One request as its handler sees it.

import type { Principal } from '../access/principal.ts';
import type { HedgerowError } from '../errors.ts';
import { EMPTY_BODY } from './body.ts';
import type { DatabasePort } from './database-port.ts';
import type { EntityTag } from './entity-tag.ts';
import type { Exchange } from './exchange.ts';
import { ACCEPT, IDEMPOTENCY_KEY, IF_NONE_MATCH, LAST_EVENT_ID, X_SESSION_ID } from './header-names.ts';
import type { Once } from './once.ts';
import type { Call, Carried, Role, Route, Services } from './route.ts';
import { decodedParameters, type Match } from './router.ts';
import type { TransportRequest } from './transport.ts';

// A call is created for every request. It has plain fields only, which are faster than `#private`
// ones.
export class RequestCall implements Call {
  readonly services: Services<Carried>;
  readonly database: DatabasePort;
  readonly parameters: readonly string[];
  /** The path as received, without the query. */
  readonly path: string;
  readonly query: string;
  readonly accept: string;
  readonly lastEventId: string;
  readonly bodyType: string;
  body: Buffer;
  parsed: { readonly value: unknown } | undefined;
  readonly client: Exchange;
  caller: Principal;
  readonly deadlineMs: number;
  readonly sessionId: string;
  once: Once | undefined;
  /** Idempotency-Key header; empty if absent, or if the route ignores it. */
  readonly idempotencyKey: string;
  private readonly ifNoneMatch: string;

  constructor(
    exchange: Exchange,
    route: Route,
    match: Match,
    request: TransportRequest,
    path: string,
    bodyType: string,
  ) {
    const { services } = exchange;
    this.services = services;
    // Routes with `database: false` may run without a database, and do not use it.
    this.database = services.database as DatabasePort;
    this.parameters = decodedParameters(match.parameters);
    this.path = path;
    this.query = request.getQuery() ?? '';
    this.accept = route.negotiates || route.events === true ? request.getHeader(ACCEPT) : '';
    this.lastEventId = route.events === true ? request.getHeader(LAST_EVENT_ID) : '';
    this.bodyType = bodyType;
    this.body = EMPTY_BODY;
    this.parsed = undefined;
    this.client = exchange;
    this.caller = exchange.caller;
    const { queryTimeoutMs } = services;
    this.deadlineMs = queryTimeoutMs === 0 ? Number.POSITIVE_INFINITY : exchange.startMs + queryTimeoutMs;
    this.sessionId = route.sessions === true ? request.getHeader(X_SESSION_ID) : '';
    this.once = undefined;
    this.idempotencyKey = route.idempotent ? request.getHeader(IDEMPOTENCY_KEY) : '';
    this.ifNoneMatch = route.tagged ? request.getHeader(IF_NONE_MATCH) : '';
  }

  get requestId(): string {
    return this.client.requestId;
  }

  deny(needed: Role): HedgerowError {
    return this.client.deny(needed);
  }

  holds(tag: EntityTag | undefined): tag is EntityTag {
    if (this.ifNoneMatch === '' || tag === undefined) return false;
    return this.services.tags.matches(this.ifNoneMatch, tag);
  }
}
