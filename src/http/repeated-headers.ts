// Counts those headers that a request must not repeat. Of two headers with the same name, the
// transport returns the first, but a proxy in front of the service may have used the last.

import type { TransportRequest } from './transport.ts';

/**
 * The counts for one request at a time. Its headers are scanned once, at the first access to a
 * count.
 */
export class RepeatedHeaders {
  #request: TransportRequest | undefined;
  #lengths = 0;
  #codings = 0;
  #idempotencyKeys = 0;
  #apiKey: string | undefined;
  #authorization: string | undefined;
  #hasRivalKeys = false;
  #hosts = 0;
  #origins = 0;
  #sites = 0;

  /** Call this when another request begins. */
  begin(request: TransportRequest): void {
    this.#request = request;
  }

  get contentLengths(): number {
    this.#scan();
    return this.#lengths;
  }

  get transferEncodings(): number {
    this.#scan();
    return this.#codings;
  }

  /** The number of Idempotency-Key headers; empty ones count too. */
  get idempotencyKeys(): number {
    this.#scan();
    return this.#idempotencyKeys;
  }

  /** True if a header for keys is repeated with another value. */
  get hasRivalKeys(): boolean {
    this.#scan();
    return this.#hasRivalKeys;
  }

  /** True if a header that names the target or the origin of the request is repeated. */
  get hasRivalOrigins(): boolean {
    this.#scan();
    return this.#hosts > 1 || this.#origins > 1 || this.#sites > 1;
  }

  #scan(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#lengths = 0;
    this.#codings = 0;
    this.#idempotencyKeys = 0;
    this.#apiKey = undefined;
    this.#authorization = undefined;
    this.#hasRivalKeys = false;
    this.#hosts = 0;
    this.#origins = 0;
    this.#sites = 0;
    request.forEach(this.#add);
  }

  /** Created once: a closure for each request would cost about as much as the scan. */
  readonly #add = (name: string, value: string): void => {
    switch (name) {
      case 'content-length':
        this.#lengths += 1;
        break;
      case 'transfer-encoding':
        this.#codings += 1;
        break;
      case 'idempotency-key':
        this.#idempotencyKeys += 1;
        break;
      case 'x-api-key':
        this.#hasRivalKeys ||= this.#apiKey !== undefined && this.#apiKey !== value;
        this.#apiKey ??= value;
        break;
      case 'authorization':
        this.#hasRivalKeys ||= this.#authorization !== undefined && this.#authorization !== value;
        this.#authorization ??= value;
        break;
      case 'host':
        this.#hosts += 1;
        break;
      case 'origin':
        this.#origins += 1;
        break;
      case 'sec-fetch-site':
        this.#sites += 1;
        break;
    }
  };
}
