// Refuses connections on which a PROXY protocol preamble claims another client's address.
//
// uWebSockets.js reads such a preamble before any request and reports it only through a call that
// allocates an ArrayBuffer, which takes about 5 % of the time of a small request. The client
// address is that of the socket in any case, so nothing depends on the claim. Proxies send the
// preamble first on a connection. Therefore requests are checked after a connection has opened, and
// one request in 16 at any other time.

import type { Sample } from './sample.ts';

/**
 * Number of requests that are checked after each opening of a connection. They may belong to other
 * connections, since connections cannot be told apart.
 */
const LOOKS = 64;
/** Upper bound, however many connections open at once. */
const MOST_LOOKS = 65_536;

export interface Relayed {
  /** The claimed address; empty without a preamble, or if it contains no address. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

export class PreambleWatch {
  readonly #sample: Sample;
  #looks = 0;

  constructor(sample: Sample) {
    this.#sample = sample;
  }

  opened(): void {
    this.#looks = Math.min(this.#looks + LOOKS, MOST_LOOKS);
  }

  /** Returns true if a preamble with an address preceded the request. */
  refuses(response: Relayed): boolean {
    if (this.#looks > 0) this.#looks -= 1;
    else if (!this.#sample.next()) return false;
    return response.getProxiedRemoteAddress().byteLength > 0;
  }
}
