// Decides whether a request may proceed. Checks in this order: state of the service, rate limit,
// host and origin (only if no key is needed), key, role. Route and method are checked before that;
// load, content type and body after it.

import { EVERYONE, includesRole, NOBODY, type Principal } from '../access/principal.ts';
import type { RateLimit } from '../access/rate-limit.ts';
import { type HedgerowError, refusal } from '../errors.ts';
import { addressId, addressText } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import type { ForeignRequests } from './foreign-requests.ts';
import { AUTHORIZATION, X_API_KEY } from './header-names.ts';
import type { Parts } from './parts.ts';
import type { RepeatedHeaders } from './repeated-headers.ts';
import type { Route } from './route.ts';
import type { TransportRequest } from './transport.ts';

const BEARER_LENGTH = 'Bearer '.length;

/** The findings of `identify`. */
interface Passage {
  /** True if a key was sent. */
  hasKey: boolean;
  /** True if two different keys were sent. */
  hasRivals: boolean;
  /** True if the caller is over the rate limit. */
  isLimited: boolean;
}

/** A key that a worker has read before it saw all writes of which its client may know. */
export interface UnsureKey extends Readonly<Passage> {
  /** Empty if there is none. */
  readonly key: string;
}

export class Guard {
  readonly #parts: Parts;
  readonly #limit: RateLimit;
  /** Undefined if keys are needed, since pages of other origins have no key. */
  readonly #foreign: ForeignRequests | undefined;
  /** Result of the last `identify`; one value suffices because `admit` follows immediately. */
  readonly #passage: Passage = { hasKey: false, hasRivals: false, isLimited: false };

  constructor(parts: Parts, limit: RateLimit, foreign?: ForeignRequests) {
    this.#parts = parts;
    this.#limit = limit;
    this.#foreign = foreign;
  }

  /**
   * True if a body must have a content type. Without keys, a page of another origin could send a
   * body without a content type, for which browsers make no preflight request.
   */
  get needsBodyType(): boolean {
    return this.#foreign !== undefined;
  }

  /**
   * Checks the key. Counts the request for the key or, without a valid key, for the address.
   * Refuses nothing yet.
   */
  identify(exchange: Exchange, request: TransportRequest, repeated: RepeatedHeaders): void {
    const { authDisabled, keys, servesWorkers } = this.#parts;
    const passage = this.#passage;
    passage.hasKey = false;
    passage.hasRivals = false;
    if (authDisabled || (servesWorkers && request.isOwn === true)) {
      exchange.caller = EVERYONE;
    } else {
      const key = keyOf(request);
      if (key !== '') {
        passage.hasKey = true;
        passage.hasRivals = repeated.hasRivalKeys;
        if (!passage.hasRivals) exchange.caller = keys?.authenticate(key) ?? NOBODY;
      }
    }
    this.#count(exchange);
  }

  #count(exchange: Exchange): void {
    const limit = this.#limit;
    const epochMs = this.#parts.epochMs();
    const { startMs } = exchange;
    this.#passage.isLimited = false;
    if (limit.perMinute === 0) {
      exchange.remaining = 0;
      exchange.resetSeconds = Math.ceil(epochMs / 1000);
      return;
    }
    const { keyId } = exchange.caller;
    const passes =
      keyId === null
        ? limit.takeByAddress(addressId(exchange.remoteAddress), startMs)
        : limit.takeByKey(keyId, startMs);
    this.#passage.isLimited = !passes;
    exchange.remaining = limit.remaining;
    exchange.resetSeconds = Math.ceil((epochMs + limit.resetMs) / 1000);
  }

  /** Throws if the request must not proceed. Call immediately after `identify`. */
  admit(exchange: Exchange, request: TransportRequest, repeated: RepeatedHeaders, route: Route): void {
    const { observer } = this.#parts;
    this.#requireState(route);
    if (this.#passage.isLimited) {
      observer.refused('rate_limited');
      throw tooMany(this.#limit.perMinute, this.#limit.retryMs);
    }
    this.refuseForeign(exchange, request, repeated, route.isPage === true);
    if (route.role === 'none') return;
    if (exchange.awaitedLsn > 0) exchange.unsure = { ...this.#passage, key: keyOf(request) };
    else this.#requireRole(exchange, route);
  }

  /**
   * Checks a key once this process sees all writes of which its client may know, such as the one
   * that has made or revoked the key. Returns the caller; throws if the role is too low.
   */
  confirm(exchange: Exchange, { key, ...passage }: UnsureKey, route: Route): Principal {
    const { authDisabled, keys } = this.#parts;
    exchange.unsure = undefined;
    Object.assign(this.#passage, passage);
    if (!authDisabled) exchange.caller = (passage.hasRivals ? undefined : keys?.authenticate(key)) ?? NOBODY;
    this.#requireRole(exchange, route);
    return exchange.caller;
  }

  /**
   * Throws `foreign_host` or `foreign_origin` if no key is needed and a page of another origin may
   * have sent the request.
   */
  refuseForeign(exchange: Exchange, request: TransportRequest, repeated: RepeatedHeaders, isPage: boolean): void {
    if (this.#foreign === undefined) return;
    try {
      this.#foreign.refuse(request, repeated, isPage);
    } catch (error) {
      this.#parts.observer.refused('forbidden');
      this.#tellRefused(exchange, 'auth.denied', (error as HedgerowError).status);
      throw error;
    }
  }

  #requireState(route: Route): void {
    const { draining, database, keys, authDisabled } = this.#parts;
    if (draining && route.database) throw refusal('draining', 'The server is shutting down.');
    const isReady = database !== undefined && (authDisabled || keys !== undefined);
    if (!isReady && (route.database || (route.role !== 'none' && !authDisabled))) {
      throw refusal('starting', 'The database is still being opened. Try again shortly.');
    }
  }

  #requireRole(exchange: Exchange, route: Route): void {
    const { observer } = this.#parts;
    const { caller } = exchange;
    if (includesRole(caller.role, route.role)) return;
    const isUnknown = caller.role === 'none';
    const error = isUnknown ? unauthorized(this.#passage) : forbidden(route, caller.role);
    observer.refused(isUnknown ? 'unauthorized' : 'forbidden');
    this.#tellRefused(exchange, isUnknown ? 'auth.failed' : 'auth.denied', error.status);
    throw error;
  }

  #tellRefused(exchange: Exchange, event: 'auth.failed' | 'auth.denied', status: number): void {
    const { caller, requestId } = exchange;
    this.#parts.observer.audit({
      event,
      keyId: caller.keyId,
      remoteIp: addressText(exchange.remoteAddress),
      role: caller.role,
      status,
      requestId,
    });
  }
}

/** Returns the key of a request, empty if there is none; `X-API-Key` takes precedence. */
function keyOf(request: TransportRequest): string {
  const own = request.getHeader(X_API_KEY);
  if (own !== '') return own;
  const authorization = request.getHeader(AUTHORIZATION);
  return isBearer(authorization) ? authorization.slice(BEARER_LENGTH).trim() : '';
}

/** Returns true if a header begins with `Bearer `, ignoring case. */
function isBearer(header: string): boolean {
  if (header.startsWith('Bearer ')) return true;
  return header.slice(0, BEARER_LENGTH).toLowerCase() === 'bearer ';
}

function tooMany(perMinute: number, retryMs: number): HedgerowError {
  const seconds = Math.max(1, Math.ceil(retryMs / 1000));
  return refusal('rate_limited', `More than ${perMinute} requests a minute. Try again in ${seconds} s.`, {
    fields: { retryAfter: seconds },
  });
}

function unauthorized({ hasKey, hasRivals }: Passage): HedgerowError {
  const what = hasRivals
    ? 'Two different API keys were sent: send X-API-Key once, and Authorization once.'
    : 'This API key is unknown, revoked or expired.';
  return hasKey
    ? refusal('unauthorized', what, {
        fields: { challenge: 'Bearer realm="hedgerow", error="invalid_token"' },
      })
    : refusal('unauthorized', 'This route needs an API key: send it in the header X-API-Key, or as a bearer token.', {
        fields: { challenge: 'Bearer realm="hedgerow"' },
      });
}

function forbidden(route: Route, role: string): HedgerowError {
  return refusal('forbidden', `This route needs the role ${route.role}; the key has the role ${role}.`);
}
