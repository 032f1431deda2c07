// Decides which pages of other origins may read answers, and makes the headers that inform browsers
// (Fetch standard, CORS protocol).

import { bytesOf } from './byte-text.ts';

/** The bytes of `allow` are written as the value of this header, followed by further headers. */
export const CORS_NAME = bytesOf('Access-Control-Allow-Origin');

const EXPOSED =
  'ETag, Idempotent-Replayed, Retry-After, WWW-Authenticate, X-Hedgerow-LSN, X-Next-Cursor, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Max-Lag-Ms, X-Min-LSN, X-Request-Id, X-Session-Id';
/** Seconds for which a browser may cache the answer to a preflight request. */
const MAX_AGE = 600;

export class Cors {
  /** False if no origin is listed; then `Origin` headers are ignored. */
  readonly isOn: boolean;
  /** Value of `Vary`: the request headers on which answers for the same URL depend. */
  readonly vary: string;
  readonly #byOrigin: ReadonlyMap<string, Uint8Array>;
  /** Used for every origin if `*` is listed. */
  readonly #any: Uint8Array | undefined;

  constructor(origins: readonly string[]) {
    this.isOn = origins.length > 0;
    this.vary = this.isOn ? 'Accept, Accept-Encoding, Origin' : 'Accept, Accept-Encoding';
    this.#any = origins.includes('*') ? valueFor('*') : undefined;
    this.#byOrigin = new Map(origins.map((origin) => [origin, valueFor(origin)]));
  }

  /** True if `*` is listed. */
  get allowsAll(): boolean {
    return this.#any !== undefined;
  }

  /**
   * Returns the headers for answers to pages of `origin`; undefined if the origin is not listed.
   */
  allow(origin: string): Uint8Array | undefined {
    if (origin === '') return undefined;
    return this.#any ?? this.#byOrigin.get(origin);
  }
}

/** Returns the headers of the answer to a preflight request. */
export function preflightHeaders(allow: string): (readonly [string, string])[] {
  return [
    ['Access-Control-Allow-Methods', allow],
    ['Access-Control-Allow-Headers', REQUEST_HEADERS],
    ['Access-Control-Max-Age', String(MAX_AGE)],
  ];
}

function valueFor(origin: string): Uint8Array {
  return bytesOf(`${origin}\r\nAccess-Control-Expose-Headers: ${EXPOSED}`);
}
