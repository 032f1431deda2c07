// Which pages of other origins may read answers, and the headers that tell their browsers so (Fetch standard, CORS protocol).

import { bytesOf } from './byte-text.ts';

/** Name of the header that the bytes of `allow` are written as the value of. */
export const CORS_NAME = bytesOf('Access-Control-Allow-Origin');

const EXPOSED =
  'ETag, Idempotent-Replayed, Retry-After, WWW-Authenticate, X-Hedgerow-LSN, X-Next-Cursor, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Min-LSN, X-Request-Id, X-Session-Id';
/** Seconds a browser may keep the answer to its preflight request. */
const MAX_AGE = 600;

export class Cors {
  /** False: no origin is listed, and no header of requests is looked at. */
  readonly isOn: boolean;
  /** Value of `Vary`: what answers to one and the same URL depend on. */
  readonly vary: string;
  readonly #byOrigin: ReadonlyMap<string, Uint8Array>;
  /** For every origin, when `*` is listed. */
  readonly #any: Uint8Array | undefined;

  constructor(origins: readonly string[]) {
    this.isOn = origins.length > 0;
    this.vary = this.isOn ? 'Accept, Accept-Encoding, Origin' : 'Accept, Accept-Encoding';
    this.#any = origins.includes('*') ? valueFor('*') : undefined;
    this.#byOrigin = new Map(origins.map((origin) => [origin, valueFor(origin)]));
  }

  /** `*` is listed. */
  get allowsAll(): boolean {
    return this.#any !== undefined;
  }

  /** Headers for answers to pages of `origin`; undefined: not listed. */
  allow(origin: string): Uint8Array | undefined {
    if (origin === '') return undefined;
    return this.#any ?? this.#byOrigin.get(origin);
  }
}

/** Headers of the answer to a preflight request. */
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
